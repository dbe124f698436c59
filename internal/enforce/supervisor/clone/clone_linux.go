package clone

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Task is the work of a clone. Its owner must not move it and must keep it alive until the
// clone has executed a program or ended.
type Task struct {
	// Run takes over in the clone with Arg and must not return. There is no Go runtime around
	// it: it and everything that it calls must be go:nosplit and go:norace, must not allocate,
	// and may reach only data that its owner keeps alive.
	Run func(unsafe.Pointer)
	Arg unsafe.Pointer
	// Flags are the flags of clone(2), with the signal that tells this process of the end.
	Flags uintptr
	// PIDFD, if not nil, receives a descriptor of the clone (CLONE_PIDFD, Linux 5.2).
	PIDFD *int32
	// Mask is the signal mask of this thread outside of Start. The clone starts with every
	// signal blocked: a handler of the Go runtime must not run in it.
	Mask [8]byte
	all  [8]byte

	// stack has more room than a chain of go:nosplit calls can use, which the linker bounds by
	// 800 bytes.
	stack [4096]byte
}

// Start starts the clone and returns its number.
//
//go:norace
//go:noinline
func (t *Task) Start() (int, syscall.Errno) {
	for i := range t.all {
		t.all[i] = 0xff
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK,
		uintptr(unsafe.Pointer(&t.all)), uintptr(unsafe.Pointer(&t.Mask)), 8, 0, 0)
	if t.PIDFD != nil {
		t.Flags |= unix.CLONE_PIDFD
	}
	pid, e := t.start()
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&t.Mask)), 0, 8, 0, 0)
	return int(pid), e
}
