//go:build !linux

package kerneltest

import (
	"errors"
	"io"
)

var errSystem = errors.New("the kernel is asked on Linux only")

// Load refuses.
func Load(string) error { return errSystem }

// Try refuses.
func Try(string, io.Writer) error { return errSystem }
