//go:build linux && (!amd64 || race)

package clone

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Shares is true where clones share memory if asked to (CLONE_VM).
const Shares = false

// start copies the memory, which needs no stack of its own.
//
//go:norace
//go:noinline
func (t *Task) start() (uintptr, syscall.Errno) {
	pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, t.Flags&^unix.CLONE_VM, 0,
		uintptr(unsafe.Pointer(t.PIDFD)), 0, 0, 0)
	if e == 0 && pid == 0 {
		t.Run(t.Arg)
	}
	return pid, e
}
