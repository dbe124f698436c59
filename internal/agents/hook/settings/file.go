package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/files/wholefile"
)

// The names of the files beside settings: the settings as they were, those before a later change, or a
// note that there were none.
const (
	backupSuffix = ".before-accessc-hook"
	againSuffix  = ".before-accessc-hook.2"
	madeSuffix   = ".made-by-accessc"
)

// errChanged is the error about a file that another program wrote meanwhile.
var errChanged = errors.New("another program changed the file at the same time")

// Result describes the change of a file.
type Result struct {
	// Changed is false if nothing had to be done; Removed is true for a file that is gone.
	Changed, Removed bool
	// Backup is the file as it was, empty where there is none.
	Backup string
}

// Install puts the hook into the file of settings at a path, and makes one where there is none. An
// entry that is there already is brought up to date.
// See decision D155.
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
	now, derived, err := a.update(path, was, all, e)
	if err != nil {
		return Result{}, err
	}
	r := Result{Changed: true}
	switch {
	case len(all) == 0:
		r.Backup, err = path+backupSuffix, wholefile.Keep(path, backupSuffix, was)
	case !derived:
		r.Backup, err = again(path, was)
	}
	if err != nil {
		return Result{}, fmt.Errorf("the backup: %w", err)
	}
	if err := swap(path, was, now); err != nil {
		if len(all) == 0 {
			_ = os.Remove(r.Backup)
		}
		return Result{}, err
	}
	return r, nil
}

// update is a document with another entry in place of those that it has. derived is true for a document that
// has nothing but the text that install has put there, beside the backup if there is one.
func (a *Agent) update(path string, was []byte, all []found, e Entry) (now []byte, derived bool, err error) {
	if len(all) == 0 {
		now, err = a.add(was, e)
		return now, false, err
	}
	backup, err := load(path + backupSuffix)
	if err == nil && a.leads(backup, was, all[0].Entry) {
		now, err = a.add(backup, e)
		return now, true, err
	}
	if only := bytes.Equal(was, a.New(all[0].Entry)); only || a.Plugin != nil {
		return a.New(e), only && a.made(path) >= 0, nil
	}
	if now, err = a.take(was, backup); err == nil {
		now, err = a.add(now, e)
	}
	return now, false, err
}

// leads reports whether an installation makes one document of another.
func (a *Agent) leads(from, to []byte, e Entry) bool {
	then, err := a.add(from, e)
	return err == nil && bytes.Equal(then, to)
}

// Uninstall takes the hook out of the file of settings at a path. A file that has not changed since
// is restored, or removed if there was none before.
// See decision D155.
func (a *Agent) Uninstall(path string) (Result, error) {
	was, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, nil
	}
	if err != nil {
		return Result{}, err
	}
	all, exact, err := a.look(was)
	if err != nil || len(all) == 0 {
		return Result{}, err
	}
	backup, err := load(path + backupSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, fmt.Errorf("the backup: %w", err)
	}
	if err == nil && a.leads(backup, was, all[0].Entry) {
		if err := swap(path, was, backup); err != nil {
			return Result{}, err
		}
		return Result{Changed: true}, os.Remove(path + backupSuffix)
	}
	return a.remove(path, was, backup, exact)
}

// remove takes the entries out of a file that has changed since their installation, or removes a file that
// has nothing else. The file as it was is kept unless install has made all of it.
func (a *Agent) remove(path string, was, backup []byte, exact bool) (Result, error) {
	made, now := a.made(path), []byte("{}")
	if a.Plugin == nil {
		var err error
		if now, err = a.take(was, backup); err != nil {
			return Result{}, err
		}
	}
	r := Result{Changed: true, Removed: a.Plugin != nil || made >= 0 &&
		string(bytes.Join(bytes.Fields(now), nil)) == "{}"}
	if !r.Removed || !exact || made < 0 {
		var err error
		if r.Backup, err = again(path, was); err != nil {
			return Result{}, fmt.Errorf("the backup: %w", err)
		}
	}
	if r.Removed {
		return r, discard(path, made)
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

// again writes a copy of a file that is not as install has left it, and returns its name. The backup of the
// first installation stays.
func again(path string, was []byte) (string, error) {
	suffix := againSuffix
	if _, err := os.Lstat(path + backupSuffix); errors.Is(err, fs.ErrNotExist) {
		suffix = backupSuffix
	}
	return path + suffix, wholefile.Keep(path, suffix, was)
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

// made is how many directories were made for a file, -1 if the file was there before. A repository may
// bring the note, so it counts for the directories of the agent alone.
func (a *Agent) made(path string) int {
	note, err := load(path + madeSuffix)
	if err != nil {
		return -1
	}
	first, _, _ := bytes.Cut(note, []byte("\n"))
	n, err := strconv.Atoi(string(first))
	if err != nil || n < 0 {
		return -1
	}
	return min(n, a.depth(path))
}

// depth is how many directories above a file are the agent's own.
func (a *Agent) depth(path string) int {
	for _, dir := range []string{a.Project, a.Home} {
		if own := filepath.Join(dir, a.File); strings.HasSuffix(path, string(filepath.Separator)+own) {
			return strings.Count(own, string(filepath.Separator))
		}
	}
	return strings.Count(filepath.Join(a.Under, a.File), string(filepath.Separator)) + 1
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
