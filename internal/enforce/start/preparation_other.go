//go:build !windows

package start

import "errors"

// Prepare is for Windows alone.
func Prepare() ([]string, error) { return nil, errors.ErrUnsupported }
