package start

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ahead is a place for a ruleset that was made while an earlier tool of the plan ran. It has the rules on kept places
// alone, of which the watch says whether their paths still lead to them, and no directory of a run. One start takes it,
// or none within a while.
// See decision D305.
type ahead struct {
	mu     sync.Mutex
	made   *building
	idle   *time.Timer
	closed bool
}

// keeps is how long a ruleset waits for a start.
const keeps = 5 * time.Second

// take returns the ruleset if nothing has changed since it was made, nil otherwise.
func (a *ahead) take(turn uint64) *building {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	b := a.made
	a.made = nil
	a.mu.Unlock()
	if b != nil && (turn == 0 || b.turn != turn) {
		_ = unix.Close(b.fd)
		return nil
	}
	return b
}

// put keeps a ruleset, unless there is one.
func (a *ahead) put(b *building) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.made != nil {
		_ = unix.Close(b.fd)
		return
	}
	if a.made = b; a.idle == nil {
		a.idle = time.AfterFunc(keeps, a.drop)
	} else {
		a.idle.Reset(keeps)
	}
}

// drop frees the ruleset.
func (a *ahead) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.made != nil {
		_ = unix.Close(a.made.fd)
		a.made = nil
	}
}

// wants reports whether there is none.
func (a *ahead) wants() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.closed && a.made == nil
}

// close frees it. No other is kept from now on.
func (a *ahead) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.drop()
}
