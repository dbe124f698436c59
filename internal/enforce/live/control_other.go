//go:build !linux

package live

import "errors"

var errLinux = errors.New("grants while a tool runs are for Linux")

// Runs fails: no run has a control socket here.
func Runs(string) ([]string, error) { return nil, errLinux }

// Talk fails, as Runs does.
func Talk(string, Request) (*Reply, error) { return nil, errLinux }
