// Package await has tests wait for what happens, and not for a time. Its only limit is the
// deadline of the test run (go test -timeout): a wait that it cuts short fails with a sentence that says
// what was waited for, where the run's own end would kill the process and all that it started. It is
// the only place where a test may sleep, which TestTestsWaitForEvents at the top of the
// repository sees to. Tests may import it, the product may not.
package await

import (
	"context"
	"testing"
	"time"
)

// margin is the time that a test has to clean up after a wait that the deadline cut short.
const margin = 20 * time.Second

// Deadline is when a wait of a test ends: shortly before the run's own deadline. It is in a
// hundred years when the run has none.
func Deadline(t testing.TB) time.Time {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if at, ok := d.Deadline(); ok {
			return at.Add(-margin)
		}
	}
	return time.Now().AddDate(100, 0, 0)
}

// Until asks again and again whether something holds, and returns when it does. It is for
// what tells nobody that it has happened; a channel, the end of a pipe or a process descriptor
// is better.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := Deadline(t)
	for pause := 100 * time.Microsecond; !holds(); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(pause)
	}
}

// Receive returns what a channel has next; ok is false when it was closed.
func Receive[T any](t testing.TB, what string, from <-chan T) (v T, ok bool) {
	t.Helper()
	timer := time.NewTimer(time.Until(Deadline(t)))
	defer timer.Stop()
	select {
	case v, ok = <-from:
		return v, ok
	case <-timer.C:
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// Context ends with the test, or shortly before the deadline of the run.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithDeadline(t.Context(), Deadline(t))
	t.Cleanup(cancel)
	return ctx
}
