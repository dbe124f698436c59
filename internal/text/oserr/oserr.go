// Package oserr shortens errors about files for messages that name the file already.
package oserr

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Absent reports whether an error says that nothing is at a path: no name, or none as something on the way is no
// directory (ENOTDIR of path_resolution(7)).
func Absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// NoLink reports whether an error says that no symbolic link is at a path (readlink(2), EINVAL and ENOENT).
func NoLink(err error) bool { return errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrNotExist) }

// Reason drops the operation and the paths from an error.
func Reason(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	default:
		return err
	}
}
