package reap

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Reasons for which waitid(2) returns while a child goes on (si_code of SIGCHLD in sigaction(2)).
const (
	trapped = 4 // CLD_TRAPPED
	stopped = 5 // CLD_STOPPED
)

// Await waits until a child of this process has ended, and leaves its status to be taken. A child that has its parent
// trace it (PTRACE_TRACEME in ptrace(2)) stops at each signal, and the kernel tells everyone who waits for its end of
// that. Nothing follows from such a stop, as from the stops of supervised tools: the child stays as it is until it is
// killed. See decision D229.
func Await(pid int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == unix.EINTR:
		case err == nil && (info.Code == trapped || info.Code == stopped):
			_ = unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOHANG, nil)
		default:
			return
		}
	}
}

// Threads takes the ends of the threads of a killed child that have this process trace them, until the child has
// ended: before that it cannot end.
func Threads(pid int, ended <-chan struct{}) {
	const pause = 10 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task") // none of a child that has ended
		for _, t := range threads {
			if tid, err := strconv.Atoi(t.Name()); err == nil && tid != pid {
				_ = unix.Waitid(unix.P_PID, tid, nil, unix.WEXITED|unix.WNOHANG|unix.WALL, nil)
			}
		}
	}
}
