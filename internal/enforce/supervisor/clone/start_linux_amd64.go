//go:build !race

package clone

import (
	"syscall"
	"unsafe"
)

// Shares is true where clones share memory if asked to (CLONE_VM).
const Shares = true

//go:nosplit
func (t *Task) start() (uintptr, syscall.Errno) {
	const alignment = 16
	top := uintptr(unsafe.Pointer(&t.stack)) + unsafe.Sizeof(t.stack)
	r := clone(t.Flags, top&^(alignment-1), t, t.PIDFD)
	if e := -r; e < 4096 { // the last page of numbers are errors
		return 0, syscall.Errno(e)
	}
	return r, 0
}

// clone calls clone(2), and enter in the clone.
// See decision D227.
func clone(flags, stack uintptr, t *Task, pidfd *int32) uintptr

// enter is where the clone begins.
//
//lint:ignore U1000 the assembly calls it
//go:nosplit
func enter(t *Task) { t.Run(t.Arg) }
