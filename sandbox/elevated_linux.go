package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// atSecure is the entry of the auxiliary vector by which the kernel says that a program has other rights
// than the process that has executed it (AT_SECURE, getauxval(3)).
const atSecure = 23

// elevated reports whether the caller of this program, who chooses all of its arguments, may have fewer
// rights than it. See decision D229.
func elevated() bool {
	auxv, err := unix.Auxv()
	return err != nil || !slices.Contains(auxv, [2]uintptr{atSecure, 0})
}
