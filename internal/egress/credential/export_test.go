package credential

import "time"

// Hold sets how long the end of an answer waits, until the returned function is called.
func Hold(d time.Duration) (undo func()) {
	old := hold
	hold = d
	return func() { hold = old }
}
