//go:build unix

package lock

import (
	"os"

	"golang.org/x/sys/unix"
)

// Try locks a file until it is closed or this process ends, however that is, or reports that another
// process has the lock.
func Try(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
