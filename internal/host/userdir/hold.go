package userdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/accessc/accessc/internal/files/lock"
)

// patience is how long a start waits for the removal of its home, and a removal for a tool that is
// about to end.
const patience = 5 * time.Second

// Hold keeps a private home from being cleared. Any number of runs hold the same home.
type Hold struct {
	file    *os.File
	release func() error
}

// File is the lock, which holds the home in every process that has it open; nil for none.
func (h *Hold) File() *os.File {
	if h == nil {
		return nil
	}
	return h.file
}

// Release gives the home free. A nil Hold has none.
func (h *Hold) Release() {
	if h != nil {
		_ = h.release()
	}
}

// lockOf is the lock of a home. It lies beside the home, where no tool reaches it, and no tool has a name with an @.
func lockOf(home string) string {
	return filepath.Join(filepath.Dir(home), "@"+filepath.Base(home)+".lock")
}

func lockHome(home string, flags int, patience time.Duration) (*lockedfile.File, error) {
	take := func() (*lockedfile.File, error) { return lockedfile.OpenFile(lockOf(home), flags|os.O_CREATE, 0o600) }
	return lock.Within("the private home "+home, patience, take, func(f *lockedfile.File) { _ = f.Close() })
}

// HoldHome keeps a private home, which need not exist yet, from being cleared until it is released or
// this process ends. It makes the directory that the home lies in. Where no lock can be had, nothing
// is held, and LockHomes fails.
func HoldHome(home string) (*Hold, error) {
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return nil, err
	}
	if file := shared(lockOf(home)); file != nil {
		return &Hold{file, file.Close}, nil
	}
	file, err := lockHome(home, os.O_RDONLY, patience)
	switch {
	case err != nil && lockless(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &Hold{file.File, file.Close}, nil
}

// lockless reports whether no process of this user can have a lock at a place, by the error of an attempt: it may
// not write there, or the file system has no locks, as some network file systems (flock(2)).
func lockless(err error) bool {
	return slices.ContainsFunc([]error{fs.ErrPermission, syscall.EROFS, errors.ErrUnsupported, syscall.ENOLCK},
		func(e error) bool { return errors.Is(err, e) })
}

// LockHomes keeps all runs from beginning with homes until they are released. It fails if a
// run holds one of them, or if a home is no longer the directory that was listed.
func LockHomes(homes []PrivateHome) (release func(), err error) {
	var taken []*lockedfile.File
	release = func() {
		for _, f := range taken {
			_ = f.Close()
		}
	}
	for _, h := range homes {
		file, err := lockHome(h.Path, os.O_RDWR, patience)
		if err != nil {
			release()
			return nil, err
		}
		taken = append(taken, file)
		if info, err := os.Lstat(h.Path); err != nil || !os.SameFile(info, h.listed) {
			release()
			return nil, fmt.Errorf("the private home %s is no longer the directory that was listed", h.Path)
		}
	}
	return release, nil
}
