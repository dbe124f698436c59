package lock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/lock"
)

// TestWithin: a lock and an error are passed on, and a lock that comes too late is given back.
func TestWithin(t *testing.T) {
	given := make(chan int, 1)
	release := func(n int) { given <- n }
	if n, err := lock.Within("l", time.Hour, func() (int, error) { return 7, nil }, release); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	broken := errors.New("broken")
	if _, err := lock.Within("l", time.Hour, func() (int, error) { return 0, broken }, release); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	free := make(chan int)
	_, err := lock.Within("the lock l", time.Millisecond, func() (int, error) { return <-free, nil }, release)
	if err == nil || err.Error() != "another process has held the lock l for 1ms" {
		t.Errorf("got %v", err)
	}
	select {
	case <-given:
		t.Error("a lock that was in time was given back")
	default:
	}
	free <- 8
	if n := <-given; n != 8 {
		t.Errorf("%d was given back", n)
	}
}
