package start

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestSweeperWaits: what a sweeper waits for before it ends a run is the run's time, and no more. The time before it makes a copy of itself
// was added, and a second besides, so that a tool which had stopped itself and its supervisor ended two seconds late.
func TestSweeperWaits(t *testing.T) {
	for _, wall := range []time.Duration{time.Millisecond, 999 * time.Millisecond, time.Second, 1001 * time.Millisecond, time.Hour} {
		s := &sweeper{}
		s.waits(true, wall)
		first, rest := time.Duration(s.first.Nano()), time.Duration(s.wall.Nano())
		if !s.limited || first+rest != wall || first > time.Second {
			t.Errorf("%v: waits for %v and %v", wall, first, rest)
		}
	}
	s := &sweeper{}
	if s.waits(false, time.Second); s.limited || s.first.Nano() != int64(time.Second) {
		t.Errorf("a run without a limit, or without a supervisor for it, ends by the sweeper: %v", s.wall)
	}
	if s.waits(true, -time.Second); !s.limited || s.first.Nano() != 1 || s.wall.Nano() != 0 {
		t.Errorf("a run whose time was over at once does not end: %v, %v", s.first, s.wall)
	}
}

// TestSweeperIsOver: a run whose supervisor was killed is not over when its tool has emptied the directory, which it
// can: its processes and objects were left.
func TestSweeperIsOver(t *testing.T) {
	for _, supervised := range []bool{true, false} {
		dir := t.TempDir() + "/accessc-1"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path, err := syscall.BytePtrFromString(dir)
		if err != nil {
			t.Fatal(err)
		}
		s := &sweeper{dir: path, supervised: supervised}
		if s.over() == supervised {
			t.Errorf("supervised %v, an empty directory", supervised)
		}
		_ = os.Remove(dir)
		if !s.over() {
			t.Errorf("supervised %v, no directory", supervised)
		}
	}
}
