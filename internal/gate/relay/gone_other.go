//go:build !linux

package relay

import "io"

// gone is not known: a client that has gone is seen when its last line was read.
func gone(io.Reader) bool { return false }
