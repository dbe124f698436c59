//go:build unix

// Package inherited remembers values that this process was started with and that the Go runtime
// changes. Package os raises the soft limit of open files when it is initialised; this package
// imports nothing of it, and its path sorts before it, so that it is initialised first (the Go
// specification, "Package initialization", as the linker orders packages).
package inherited

import "syscall"

// Files is the limit of open files at the start of the process.
var Files = files()

func files() syscall.Rlimit {
	var l syscall.Rlimit
	// It cannot fail for the process itself (getrlimit(2)).
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return l
}
