package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
)

// BackupSuffix ends the name of a backup. Where a file has that name, the backup has AgainSuffix.
const (
	BackupSuffix = ".before-accessc"
	AgainSuffix  = BackupSuffix + ".2"
)

// ErrChanged is the error about a file that another program has changed meanwhile.
var ErrChanged = errors.New("the file was changed at the same time; try again")

// ErrOutside is the error about a file that a workspace has as the name of one outside of it.
var ErrOutside = errors.New("a symlink leads out of the workspace")

// Apply rewrites a file to start its servers through accessc. The file as it was is kept
// beside it. After an error nothing has changed.
func Apply(path string, client Client) ([]Server, error) {
	path, was, err := load(path)
	if err != nil {
		return nil, err
	}
	now, servers, err := Wrap(path, was, client)
	if err != nil || bytes.Equal(now, was) {
		return servers, err
	}
	away, err := keep(path, was)
	if err != nil {
		return nil, fmt.Errorf("the backup: %w", err)
	}
	back := func() error { return nil }
	if client.First != nil {
		if back, err = client.First(servers); err != nil {
			return nil, errors.Join(err, away())
		}
	}
	if err := swap(path, was, now); err != nil {
		return nil, errors.Join(err, back(), away())
	}
	return servers, nil
}

// keep writes the backup of a file, and returns how to take it away. The first one stays: it may be of the file before
// a client added servers, and a file of that name may be a repository's.
func keep(path string, was []byte) (away func() error, err error) {
	suffix := BackupSuffix
	if _, err := os.Lstat(path + suffix); err == nil {
		if _, first, err := wholefile.Read(path + suffix); err == nil && bytes.Equal(first, was) {
			return func() error { return nil }, nil
		}
		suffix = AgainSuffix
	}
	return func() error { return os.Remove(path + suffix) }, wholefile.Keep(path, suffix, was)
}

// Undo rewrites a file to start its servers directly. A file that has not changed since gets
// back every byte of the backup, and the backup goes.
func Undo(path string, client Client) ([]Server, error) {
	path, was, err := load(path)
	if err != nil {
		return nil, err
	}
	now, servers, err := Unwrap(path, was, client)
	if err != nil || bytes.Equal(now, was) {
		return servers, err
	}
	for _, suffix := range []string{BackupSuffix, AgainSuffix} {
		_, backup, err := wholefile.Read(path + suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		wrapped, changed, err := Wrap(path, backup, client)
		if err != nil || !bytes.Equal(wrapped, was) || !slices.EqualFunc(changed, servers, alike) {
			continue
		}
		if err := swap(path, was, backup); err != nil {
			return nil, err
		}
		return servers, os.Remove(path + suffix)
	}
	return servers, swap(path, was, now)
}

// load reads a file and returns its path without symlinks. A repository's symlink does not choose
// which file of the user is rewritten; the user's own symlinks do.
func load(path string) (string, []byte, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path, nil, err
	}
	state, _ := userdir.Root() // without any there is none that a tool could write
	for at := abs; at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		above, err := filepath.EvalSymlinks(filepath.Dir(at))
		if err != nil {
			return path, nil, err
		}
		to, err := filepath.EvalSymlinks(at)
		if err != nil {
			return path, nil, err
		}
		if root, ok := workspace.Around(filepath.Join(above, filepath.Base(at)), state); ok && !workspace.Within(to, root) {
			return path, nil, fmt.Errorf("%s: %w, to %s", at, ErrOutside, to)
		}
	}
	return wholefile.Read(path)
}

// alike reports whether a server is changed in both directions. A backup in which it starts through
// accessc already is none of the file before, and would leave it that way.
func alike(a, b Server) bool { return a.Name == b.Name && a.Changed == b.Changed }

// swap replaces the text of a file if it is still the one that was read.
func swap(path string, was, now []byte) error {
	return wholefile.Swap(path, now, func() error {
		if _, again, err := wholefile.Read(path); err != nil || !bytes.Equal(again, was) {
			return errors.Join(ErrChanged, err)
		}
		return nil
	})
}
