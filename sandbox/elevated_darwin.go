package sandbox

import "golang.org/x/sys/unix"

// elevated reports whether the caller of this program, who chooses all of its arguments, may have fewer
// rights than it (issetugid(2)). See decision D229.
func elevated() bool { return unix.Issetugid() }
