package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/accessc/accessc/internal/wholefile"
)

// The names of the files beside settings: the settings as they were, or a note that there were none.
const (
	backupSuffix = ".before-accessc-hook"
	madeSuffix   = ".made-by-accessc"
)

// errChanged is the error about a file that another program wrote meanwhile.
var errChanged = errors.New("another program changed the file at the same time")

// maxMade is how many directories are ever made for a file.
const maxMade = 4

// Result describes the change of a file.
type Result struct {
	// Changed is false if nothing had to be done; Removed is true for a file that is gone.
	Changed, Removed bool
	// Backup is the file as it was, empty where there is none.
	Backup string
}

// Install puts the hook into the file of settings at a path, and makes one where there is none. An
// entry that is there already is brought up to date.
// See RATIONALE D155 and D157.
func (a *Agent) Install(path string, e Entry) (Result, error) {
	if err := e.Check(); err != nil {
		return Result{}, err
	}
	was, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{Changed: true}, create(path, a.New(e))
	}
	if err != nil {
		return Result{}, err
	}
	all, exact, err := a.look(was)
	if err != nil {
		return Result{}, err
	}
	if exact && same(all[0].Entry, e) {
		return Result{}, nil
	}
	now, err := a.update(path, was, all, e)
	if err != nil {
		return Result{}, err
	}
	r := Result{Changed: true}
	if len(all) == 0 {
		r.Backup = path + backupSuffix
		if err := keep(path, was); err != nil {
			return Result{}, fmt.Errorf("the backup: %w", err)
		}
	}
	if err := swap(path, was, now); err != nil {
		if r.Backup != "" {
			_ = os.Remove(r.Backup)
		}
		return Result{}, err
	}
	return r, nil
}

// update is a document with another entry in place of those that it has.
func (a *Agent) update(path string, was []byte, all []found, e Entry) ([]byte, error) {
	switch {
	case len(all) == 0:
		return a.add(was, e)
	case a.plugin || bytes.Equal(was, a.New(all[0].Entry)):
		return a.New(e), nil
	}
	backup, err := load(path + backupSuffix)
	if err == nil {
		if then, err := a.add(backup, all[0].Entry); err == nil && bytes.Equal(then, was) {
			return a.add(backup, e)
		}
	}
	bare, err := a.take(was, backup)
	if err != nil {
		return nil, err
	}
	return a.add(bare, e)
}

// Uninstall takes the hook out of the file of settings at a path. A file that has not changed since
// is restored, or removed if there was none before.
// See RATIONALE D156.
func (a *Agent) Uninstall(path string) (Result, error) {
	was, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, nil
	}
	if err != nil {
		return Result{}, err
	}
	all, _, err := a.look(was)
	if err != nil || len(all) == 0 {
		return Result{}, err
	}
	backup, err := load(path + backupSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, fmt.Errorf("the backup: %w", err)
	}
	if err == nil {
		if then, err := a.add(backup, all[0].Entry); err == nil && bytes.Equal(then, was) {
			if err := swap(path, was, backup); err != nil {
				return Result{}, err
			}
			return Result{Changed: true}, os.Remove(path + backupSuffix)
		}
	}
	made := directories(path)
	if a.plugin || made >= 0 && bytes.Equal(was, a.New(all[0].Entry)) {
		return Result{Changed: true, Removed: true}, discard(path, made)
	}
	now, err := a.take(was, backup)
	if err != nil {
		return Result{}, err
	}
	if made >= 0 && string(bytes.Join(bytes.Fields(now), nil)) == "{}" {
		return Result{Changed: true, Removed: true}, discard(path, made)
	}
	r := Result{Changed: true}
	if backup != nil {
		r.Backup = path + backupSuffix
	}
	return r, swap(path, was, now)
}

func same(a, b Entry) bool { return bytes.Equal(encode(a), encode(b)) }

// look finds the entries in a document, which may be empty.
func (a *Agent) look(doc []byte) ([]found, bool, error) {
	if len(bytes.TrimSpace(doc)) == 0 {
		return nil, false, nil
	}
	return a.find(doc)
}

// load reads a file of settings. One behind a symlink is refused: the link may be a repository's,
// and its target the file of another program.
func load(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, _ := os.Readlink(path)
		return nil, fmt.Errorf("%s is a symlink to %s, and no file behind a symlink is edited", path, to)
	}
	_, data, err := wholefile.Read(path)
	return data, err
}

// keep writes the backup of a file, over that of an earlier installation.
func keep(path string, was []byte) error {
	if _, err := os.Lstat(path + backupSuffix); err == nil {
		return wholefile.Replace(path+backupSuffix, was)
	}
	return wholefile.Keep(path, backupSuffix, was)
}

// swap replaces the text of a file if it is still the one that was read.
func swap(path string, was, now []byte) error {
	return wholefile.Swap(path, now, func() error {
		if again, err := load(path); err != nil || !bytes.Equal(again, was) {
			return errors.Join(errChanged, err)
		}
		return nil
	})
}

// create makes a file with its directories, and a note of how many it made. After an error it
// removes them again.
func create(path string, data []byte) error {
	made, err := parents(filepath.Dir(path))
	if err == nil {
		note := fmt.Sprintf("%d\nof the directories above were made for %s; accessc hook uninstall removes them, if they are empty\n", made, filepath.Base(path))
		if err = fresh(path+madeSuffix, []byte(note)); err == nil {
			if err = fresh(path, data); err == nil {
				return nil
			}
			_ = os.Remove(path + madeSuffix)
		}
	}
	clear(filepath.Dir(path), made)
	return err
}

// fresh writes a file that is not there.
func fresh(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// parents makes a directory and those above it, and returns how many it has made.
func parents(dir string) (int, error) {
	err := os.Mkdir(dir, 0o755)
	switch {
	case err == nil:
		return 1, nil
	case errors.Is(err, fs.ErrExist):
		return 0, nil
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
		return 0, err
	}
	above, err := parents(filepath.Dir(dir))
	if err != nil {
		return above, err
	}
	own, err := parents(dir)
	return above + own, err
}

// directories is how many directories were made for a file, -1 if the file was there before.
func directories(path string) int {
	note, err := load(path + madeSuffix)
	if err != nil {
		return -1
	}
	first, _, _ := bytes.Cut(note, []byte("\n"))
	n, err := strconv.Atoi(string(first))
	if err != nil || n < 0 {
		return -1
	}
	return min(n, maxMade)
}

// discard removes a file, its note, and the directories that were made for it.
func discard(path string, made int) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	if err := os.Remove(path + madeSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	clear(filepath.Dir(path), made)
	return nil
}

// clear removes a number of directories upwards, as far as they are empty.
func clear(dir string, made int) {
	for ; made > 0 && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		err := os.Remove(dir)
		if err == nil {
			made--
		} else if !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}
