//go:build unix

package start

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openFile opens a regular file as os.OpenFile does, without the poller that package os
// sets up for the first file that could be a pipe: a start opens three.
func openFile(path string, flags int, mode uint32) (*os.File, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, mode)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case unix.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
