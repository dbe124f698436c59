//go:build linux

// The command opens opens and closes a file many times and prints the median of what one
// time takes, in nanoseconds.
//
//	opens FILE TIMES
package main

import (
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	times, err := strconv.Atoi(os.Args[2])
	check(err)
	took := make([]time.Duration, times)
	for i := range took {
		start := time.Now()
		fd, err := unix.Open(os.Args[1], unix.O_RDONLY|unix.O_CLOEXEC, 0)
		check(err)
		check(unix.Close(fd))
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	_, _ = os.Stdout.WriteString(strconv.FormatInt(int64(took[times/2]), 10) + "\n")
}

func check(err error) {
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
}
