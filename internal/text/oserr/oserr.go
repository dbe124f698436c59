// Package oserr shortens errors about files for messages that name the file already.
package oserr

import (
	"errors"
	"io/fs"
	"os"
)

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
