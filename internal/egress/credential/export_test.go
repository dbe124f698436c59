package credential

import (
	"time"
)

// HoldUntil has the end of an answer wait until it is let go, until the returned function is called.
// Each wait is told of.
func HoldUntil(waits chan<- struct{}, letGo <-chan time.Time) (undo func()) {
	old := holding
	holding = func(time.Duration) (<-chan time.Time, func() bool) {
		waits <- struct{}{}
		return letGo, func() bool { return true }
	}
	return func() { holding = old }
}

// Linger sets how long a command that was ended may keep its output open, until the returned function is called.
func Linger(d time.Duration) (undo func()) {
	old := linger
	linger = d
	return func() { linger = old }
}
