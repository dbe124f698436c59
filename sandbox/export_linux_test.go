package sandbox

import (
	"time"
)

// HelloWithin sets how long a helper may take until it serves, until the returned function is called.
func HelloWithin(d time.Duration) (undo func()) {
	old := maxHello
	maxHello = d
	return func() { maxHello = old }
}
