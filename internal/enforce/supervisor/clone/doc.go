// Package clone starts processes without copying memory: they share this process's memory until
// they execute a program or end, on a stack of their own.
//
// A copy of a Go process costs the copying of its page tables, a fault for every page that
// either writes to afterwards, and the teardown of all that when this process executes a
// program itself. A process that shares the memory costs none of it. It needs a few
// instructions of assembly, which only amd64 has: elsewhere every clone is a copy. It is under
// the race detector, too, which has every call from assembly reported.
package clone
