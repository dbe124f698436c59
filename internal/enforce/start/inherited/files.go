//go:build unix

// Package inherited remembers values that this process was started with and that the Go runtime
// changes: package syscall raises the soft limit of open files when it is initialised, for this
// process, and not for the programs that it executes.
package inherited

import (
	"syscall"

	"github.com/accessc/accessc/internal/process/once"
)

// Files is the limit of open files at the start of the process. It is for processes that are
// accessc's own: while it is read the first time, the limit is the lower one.
func Files() syscall.Rlimit { return limit.Get(files) }

var limit once.Value[syscall.Rlimit]

// files reads the limit between the two changes that Exec makes: it puts the limit back that the
// process was started with, and then executes nothing, since no file has an empty name
// (execve(2), ENOENT).
func files() syscall.Rlimit {
	var raised, l syscall.Rlimit
	// Neither can fail for the process itself (getrlimit(2)).
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &raised)
	_ = syscall.Exec("", []string{""}, nil)
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised)
	return l
}
