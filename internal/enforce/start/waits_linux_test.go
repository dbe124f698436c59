package start_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/test/await"
)

// endOf returns a channel that is closed when a process has ended, which need not be a child.
func endOf(t *testing.T, pid int) <-chan struct{} {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer unix.Close(fd)
		for {
			if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); n > 0 || err != unix.EINTR {
				return
			}
		}
	}()
	return over
}

// appears waits for a file.
func appears(t *testing.T, file string) {
	t.Helper()
	await.Until(t, file+" is there", func() bool { _, err := os.Lstat(file); return err == nil })
}

// hasOwnSweeper reports whether the sweeper of a supervisor has taken a copy of its memory: the copy is a child of the
// supervisor as well, in the session of the sweeper before it.
func hasOwnSweeper(supervisor int) bool {
	session, err := unix.Getsid(supervisor)
	if err != nil {
		return false
	}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		data, _ := os.ReadFile(file)
		// Behind the name, which is in brackets: state, parent, group, session (proc_pid_stat(5)).
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 4 || fields[1] != strconv.Itoa(supervisor) {
			continue
		}
		pid := filepath.Base(filepath.Dir(file))
		if fields[3] != pid && fields[3] != strconv.Itoa(session) {
			return true
		}
	}
	return false
}
