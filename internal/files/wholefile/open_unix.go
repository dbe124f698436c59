//go:build unix

package wholefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

var errNotRegular = errors.New("is no regular file")

// Open opens a regular file for reading. A FIFO that somebody puts in its place meanwhile is refused, not waited for.
// It does without the poller that package os sets up for files.
// See decision D220.
func Open(path string) (*os.File, error) {
	fd, err := -1, error(unix.EINTR)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
