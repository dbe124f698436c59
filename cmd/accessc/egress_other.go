//go:build !linux && !darwin

package main

import "errors"

// serveEgress is the egress proxy of one run.
func serveEgress() error { return errors.New("there is no egress proxy on this system") }
