//go:build linux

// The command opens opens and closes a file many times and prints the median time of one open
// and close, in nanoseconds.
//
//	opens FILE TIMES
package main

import (
	"os"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	times, err := strconv.Atoi(os.Args[2])
	check(err)
	path, err := unix.BytePtrFromString(os.Args[1])
	check(err)
	at, took := unix.AT_FDCWD, make([]time.Duration, times)
	for i := range took {
		start := time.Now()
		// Raw, since the scheduler takes long calls for blocked ones.
		fd, _, e := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(path)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
		if e != 0 {
			check(e)
		}
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
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
