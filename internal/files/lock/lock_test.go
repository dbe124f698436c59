package lock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/files/lock"
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

// TestTry: a file has one lock, until it is closed, and can be written meanwhile.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var files [2]*os.File
	for i := range files {
		var err error
		if files[i], err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	if err := lock.Try(files[0]); err != nil {
		t.Fatal(err)
	}
	if lock.Try(files[1]) == nil {
		t.Error("a file was locked twice")
	}
	if _, err := files[1].WriteString("x"); err != nil {
		t.Error(err)
	}
	_ = files[0].Close()
	if err := lock.Try(files[1]); err != nil {
		t.Error(err)
	}
}
