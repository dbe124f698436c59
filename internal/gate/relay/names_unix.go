//go:build unix

package relay

import (
	"os"
	"syscall"
)

// openFlags open no symlink, and do not wait for the reader of a named pipe that took a file's place.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// names is how many names an open file has.
func names(f *os.File) (uint64, error) {
	var st syscall.Stat_t
	err := syscall.Fstat(int(f.Fd()), &st)
	return uint64(st.Nlink), err
}
