package start

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/supervisor/clone"
)

// sweeper holds everything that the clone needs, since it cannot allocate.
type sweeper struct {
	pidfd uintptr
	// home holds the private home while the tool runs, -1 for none: the tool does not have this
	// descriptor.
	home       int
	supervised bool
	// first is how long to wait before the copy is made. limited is true where the run is over when wall is, after
	// that.
	first      unix.Timespec
	limited    bool
	wall       unix.Timespec
	file       *byte
	argv, envv **byte
	context    *byte
	dir        *byte
	group      *byte
	poll       unix.PollFd
	moment     unix.Timespec
	task       clone.Task
}

// clone starts the sweeper. It shares the memory of this process, since a copy takes a sixth of
// a start. A process that becomes the tool leaves its memory to the sweeper.
func (s *sweeper) clone() syscall.Errno {
	s.task.Run, s.task.Arg, s.task.Flags = sweep, unsafe.Pointer(s), unix.CLONE_VM
	_, e := s.task.Start()
	return e
}

//go:norace
//go:nosplit
func sweep(s unsafe.Pointer) { (*sweeper)(s).wait() }

// wait runs in the clone and does not return.
//
//go:norace
//go:noinline
//go:nosplit
func (s *sweeper) wait() {
	syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
	syscall.RawSyscall(unix.SYS_DUP3, s.pidfd, 0, 0)
	first := uintptr(1)
	if s.home >= 0 {
		syscall.RawSyscall(unix.SYS_DUP3, uintptr(s.home), 1, 0)
		first = 2
	}
	syscall.RawSyscall(unix.SYS_CLOSE_RANGE, first, ^uintptr(0), 0)
	s.poll = unix.PollFd{Fd: 0, Events: unix.POLLIN}
	if s.supervised && s.passed(&s.first) {
		s.part()
	}
	if s.limited && s.passed(&s.wall) {
		s.wake()
	}
	for !s.ended(nil) {
	}
	var busy syscall.Errno
	if !s.supervised {
		remove(s.context, 0)
		if s.group != nil {
			busy = remove(s.group, unix.AT_REMOVEDIR)
		}
	}
	if s.over() && busy == 0 {
		exit(0)
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&s.task.Mask)), 0, 8, 0, 0)
	syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(s.file)), uintptr(unsafe.Pointer(s.argv)), uintptr(unsafe.Pointer(s.envv)))
	exit(1)
}

// over reports whether nothing is left of the run. A supervisor removes the directory last; the tool of one that was
// killed may have emptied it, and has left processes.
//
//go:norace
//go:nosplit
func (s *sweeper) over() bool {
	if s.supervised {
		at := unix.AT_FDCWD
		_, _, e := syscall.RawSyscall(unix.SYS_FACCESSAT, uintptr(at), uintptr(unsafe.Pointer(s.dir)), 0)
		return e == unix.ENOENT
	}
	e := remove(s.dir, unix.AT_REMOVEDIR)
	return e == 0 || e == unix.ENOENT
}

// waits sets the times to wait for: together they are the rest of the time that the run may take.
func (s *sweeper) waits(limited bool, wall time.Duration) {
	first := time.Second
	if s.limited = limited; limited {
		wall = max(wall, 1)
		first = min(first, wall)
		s.wall = unix.NsecToTimespec(int64(wall - first))
	}
	s.first = unix.NsecToTimespec(int64(first))
}

// passed waits until a time is over, and reports whether the process is there still.
//
//go:norace
//go:nosplit
func (s *sweeper) passed(most *unix.Timespec) bool {
	for !s.ended(most) {
		// ppoll(2) writes back the time that is left, zero when the time is over.
		if most.Sec == 0 && most.Nsec == 0 {
			return true
		}
	}
	return false
}

// The supervisor is woken so often, at intervals of so many nanoseconds, before it is killed.
const (
	wakes    = 20
	interval = 50_000_000
)

// wake has a supervisor end its tool that the tool has stopped with itself: the time is over by the supervisor's own
// clock, which goes on while it is stopped. One that a further stop keeps from that is killed.
// See decision D63.
//
//go:norace
//go:nosplit
func (s *sweeper) wake() {
	for range wakes {
		syscall.RawSyscall6(unix.SYS_PIDFD_SEND_SIGNAL, 0, uintptr(unix.SIGCONT), 0, 0, 0, 0)
		if s.moment = (unix.Timespec{Nsec: interval}); !s.passed(&s.moment) {
			return
		}
	}
	syscall.RawSyscall6(unix.SYS_PIDFD_SEND_SIGNAL, 0, uintptr(unix.SIGKILL), 0, 0, 0, 0)
}

// ended waits until the process is gone or, if most is not nil, that time is over.
//
//go:norace
//go:nosplit
func (s *sweeper) ended(most *unix.Timespec) bool {
	n, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&s.poll)), 1, uintptr(unsafe.Pointer(most)), 0, 0, 0)
	return e != unix.EINTR && n != 0
}

// part leaves the wait to a copy that has its memory to itself, which is cheap once the tool
// has started. When memory is short the kernel kills all processes that share some
// (__oom_kill_process() in mm/oom_kill.c), and the sweeper must survive a supervisor that the
// kernel kills. Like this process the copy is a child of the supervisor and has no exit signal.
// Within another tool's sandbox the filter refuses that, and the sweeper stays as it is.
//
//go:norace
//go:nosplit
func (s *sweeper) part() {
	if pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT, 0, 0, 0, 0, 0); e == 0 && pid != 0 {
		exit(0)
	}
}

//go:norace
//go:nosplit
func remove(path *byte, flags uintptr) syscall.Errno {
	at := unix.AT_FDCWD
	_, _, e := syscall.RawSyscall(unix.SYS_UNLINKAT, uintptr(at), uintptr(unsafe.Pointer(path)), flags)
	return e
}

//go:norace
//go:nosplit
func exit(code uintptr) {
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, code, 0, 0)
	}
}
