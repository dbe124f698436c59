package seccomp

import (
	"slices"
	"strings"
)

//go:generate go run sysno_gen.go

// numbered is a system call and its number on this architecture.
type numbered struct {
	name string
	nr   uint32
}

// number returns the number of a system call, and false where this architecture has no
// call of that name.
func number(name string) (uint32, bool) {
	by := func(n numbered, name string) int { return strings.Compare(n.name, name) }
	i, ok := slices.BinarySearchFunc(sysno[:], name, by)
	if !ok {
		return 0, false
	}
	return sysno[i].nr, true
}

// CallNames returns the names of the system calls by number.
func CallNames() map[uint32]string {
	out := make(map[uint32]string, len(sysno))
	for _, n := range sysno {
		out[n.nr] = n.name
	}
	return out
}

// isAllowed reports whether a number is in the closed list of calls (landlock.Allowed).
func isAllowed(nr uint32) bool {
	return nr/64 < uint32(len(allowed)) && allowed[nr/64]>>(nr%64)&1 != 0
}
