package direct

import "runtime"

// Spare has the runtime do less in a start. It keeps no profile of allocations, and makes the stack of the caller as
// large as a start needs it, in one step: it would copy it at each doubling until then, and touch all of the memory
// from which it takes stacks of each size.
// See decision D104.
//
//go:noinline
func Spare() {
	runtime.MemProfileRate = 0
	deep(&[40 << 10]byte{})
}

//go:noinline
func deep(*[40 << 10]byte) {}
