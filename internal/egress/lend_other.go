//go:build !linux

package egress

import (
	"net"
	"time"
)

// ended reports whether the other end of a connection sends nothing any more. Nothing is asked here.
func ended(net.Conn) bool { return false }

// unsent is the number of bytes that the other end of a connection has not taken. Nothing is asked here.
func unsent(net.Conn) int { return 0 }

// distance is how far the other end of a connection is. Nothing is asked here.
func distance(net.Conn) (lost, trip time.Duration, ok bool) { return 0, 0, false }
