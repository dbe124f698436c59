// Package lock waits for the locks of other processes, but only for a time: a process that was
// stopped keeps its locks. A process that has ended has none, so a file without a lock is a file
// that it left behind.
package lock

import (
	"fmt"
	"time"
)

// Within takes a lock by take, which waits without an end, or reports after a time that another
// process has held it. A lock that comes later is given back by release. what names the lock.
func Within[T any](what string, patience time.Duration, take func() (T, error), release func(T)) (T, error) {
	type result struct {
		lock T
		err  error
	}
	got := make(chan result, 1)
	go func() {
		lock, err := take()
		got <- result{lock, err}
	}()
	select {
	case r := <-got:
		return r.lock, r.err
	case <-time.After(patience):
		go func() {
			if r := <-got; r.err == nil {
				release(r.lock)
			}
		}()
		var none T
		return none, fmt.Errorf("another process has held %s for %v", what, patience)
	}
}
