package userdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHoldHome: a home that is held, also one that no process names as its HOME yet, cannot be
// locked; one that is not held is locked for as long as no run may begin. A start that had just made
// its home lost it to a removal that had looked for running tools before.
func TestHoldHome(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "state"))
	var holds []*Hold
	for range 2 {
		h, err := HoldHome(d.Home("t"))
		if err != nil {
			t.Fatal(err)
		}
		holds = append(holds, h)
	}
	if err := os.Mkdir(d.Home("t"), 0o700); err != nil {
		t.Fatal(err)
	}
	homes, err := d.Homes()
	if err != nil || len(homes) != 1 {
		t.Fatalf("%v, %v", homes, err) // the lock is no home
	}
	for _, h := range holds {
		if _, err := lockHome(d.Home("t"), os.O_RDWR, time.Millisecond); err == nil || !strings.Contains(err.Error(), filepath.Join("home", "t")) {
			t.Errorf("got %v", err)
		}
		h.Release()
	}
	release, err := LockHomes(homes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockHome(d.Home("t"), os.O_RDONLY, time.Millisecond); err == nil {
		t.Error("a run began with a home that was locked")
	}
	release()
	h, err := HoldHome(d.Home("t"))
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
}

// TestLockless: a file system without locks, or one that cannot be written, stops no start; a lock that another process has, or
// a want of descriptors, does.
func TestLockless(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.ENOSYS: true, syscall.EOPNOTSUPP: true, syscall.ENOLCK: true, syscall.EROFS: true, syscall.EACCES: true, syscall.EPERM: true,
		syscall.EMFILE: false, syscall.EIO: false,
	} {
		if got := lockless(&fs.PathError{Op: "RLock", Path: "x", Err: err}); got != want {
			t.Errorf("%v: got %v", err, got)
		}
	}
	d := Dir(t.TempDir())
	h, err := HoldHome(d.Home("t"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	if _, err := lockHome(d.Home("t"), os.O_RDWR, time.Millisecond); err == nil || lockless(err) {
		t.Errorf("a held home: got %v", err)
	}
}

// TestLockHomesKnows: a home in whose place something else is, is not locked.
func TestLockHomesKnows(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "state"))
	if err := os.MkdirAll(d.Home("t"), 0o700); err != nil {
		t.Fatal(err)
	}
	homes, err := d.Homes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.Home("t"), d.Home("was")); err != nil {
		t.Fatal(err)
	}
	for _, place := range []func() error{
		func() error { return nil },
		func() error { return os.Mkdir(d.Home("t"), 0o700) },
	} {
		if err := place(); err != nil {
			t.Fatal(err)
		}
		if _, err := LockHomes(homes); err == nil || !strings.Contains(err.Error(), "no longer the directory") {
			t.Errorf("got %v", err)
		}
	}
	if err := os.Remove(d.Home("t")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.Home("was"), d.Home("t")); err != nil {
		t.Fatal(err)
	}
	release, err := LockHomes(homes)
	if err != nil {
		t.Fatal(err)
	}
	release()
}
