package approvals

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/lock"
)

// patience is how long Update waits for other writers. They have the lock for as long as it
// takes to write one file; a stopped writer keeps it.
const patience = 20 * time.Second

// Names beside the store. The temporary name is the same for every writer, since only one has
// the lock: the next writer removes the leftovers of a killed writer.
const (
	lockSuffix      = ".lock"
	temporarySuffix = ".tmp"
	asideSuffix     = ".malformed"
)

// Update lets change edit the store while no other process does, and writes the result: all of
// it or, when Update fails, nothing. The directory is made if it does not exist, only for the
// user. An error of change stops the update.
//
// A malformed or oversized store is edited as an empty store and kept: aside is the path that
// it was moved to, empty if there was no such store. A store that belongs to another user, that
// others may write, or that is not a regular file is left as it is; that is an error.
func Update(path string, change func(*Store) error) (aside string, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := checkDir(dir); err != nil {
		return "", err
	}
	unlock, err := lockWithin(path+lockSuffix, patience)
	if err != nil {
		return "", err
	}
	defer unlock()
	return update(disk{}, path, change)
}

// lockWithin takes the lock of a store, or reports for how long another process had it.
func lockWithin(path string, patience time.Duration) (unlock func(), err error) {
	return lock.Within("the lock "+path, patience, lockedfile.MutexAt(path).Lock, func(unlock func()) { unlock() })
}

// volume is the part of a file system that writing a store needs.
type volume interface {
	// create makes a file that does not exist, only for the user.
	create(path string) (file, error)
	rename(from, to string) error
	remove(path string) error
	// sync brings the names in a directory to the disk.
	sync(dir string) error
}

type file interface {
	io.Writer
	Sync() error
	Close() error
}

// update does the work of Update under its lock.
func update(v volume, path string, change func(*Store) error) (aside string, err error) {
	old, err := readFile(path)
	var s Store
	unusable := false
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, bounded.TooLarge(MaxSize)):
		unusable = true
	case err != nil:
		return "", err
	default:
		s.doc, err = parse(old)
		unusable = err != nil
	}
	if err := change(&s); err != nil {
		return "", err
	}
	text, err := s.doc.text()
	switch {
	case err != nil:
		return "", err
	case len(text) > MaxSize:
		return "", fmt.Errorf("the store would be larger than %d bytes", MaxSize)
	case !unusable && bytes.Equal(text, old):
		return "", nil
	case old == nil && !unusable && len(s.doc.mounts)+len(s.doc.answers) == 0:
		return "", nil
	}
	w := writer{v: v, path: path, old: old}
	if unusable {
		w.aside = asideName(path)
	}
	return w.aside, w.replace(text)
}

// asideName finds a name that is free: under the lock it stays so.
func asideName(path string) string {
	name := path + asideSuffix
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = path + asideSuffix + "-" + strconv.Itoa(i)
	}
}

// writer replaces one store.
type writer struct {
	v    volume
	path string
	// old is the previous content of the store, nil if there was none or it was not read.
	old []byte
	// aside is the path for keeping an unusable store, empty if there is none.
	aside string
}

// replace puts text into the place of the store. When it fails, the store is unchanged, and
// nothing is left beside it.
func (w writer) replace(text []byte) error {
	if err := w.stage(text); err != nil {
		return err
	}
	if w.aside != "" {
		if err := w.v.rename(w.path, w.aside); err != nil {
			return errors.Join(err, w.v.remove(w.temporary()))
		}
	}
	if err := w.v.rename(w.temporary(), w.path); err != nil {
		return errors.Join(err, w.v.remove(w.temporary()), w.restore())
	}
	if err := w.v.sync(filepath.Dir(w.path)); err != nil {
		// Whether the new name lasts is not known, and the caller is going to say that
		// it does not.
		return errors.Join(err, w.takeBack())
	}
	return nil
}

func (w writer) temporary() string { return w.path + temporarySuffix }

// stage writes text to the temporary file and brings it to the disk, so that a full
// disk shows before anything is replaced.
func (w writer) stage(text []byte) error {
	if err := w.v.remove(w.temporary()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := w.v.create(w.temporary())
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, w.v.remove(w.temporary()))
	}
	return nil
}

// restore puts an unusable store back where it was.
func (w writer) restore() error {
	if w.aside == "" {
		return nil
	}
	return w.v.rename(w.aside, w.path)
}

// takeBack undoes a replacement that took place.
func (w writer) takeBack() error {
	switch {
	case w.aside != "":
		return w.restore()
	case w.old == nil:
		return w.v.remove(w.path)
	}
	if err := w.stage(w.old); err != nil {
		return err
	}
	return w.v.rename(w.temporary(), w.path)
}
