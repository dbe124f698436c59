// Package wholefile reads users' files and replaces them whole or not at all.
package wholefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/files/bounded"
)

// maxSize is the largest file that is read, in bytes.
const maxSize = 16 << 20

// Read returns a file and its path without symlinks, so that a link stays a link.
func Read(path string) (string, []byte, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return path, nil, err
	}
	if !info.Mode().IsRegular() {
		return path, nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := Open(path)
	if err != nil {
		return path, nil, err
	}
	defer f.Close()
	data, err := bounded.Read(f, maxSize)
	return path, data, err
}

// Keep writes the backup of a file, over an earlier backup, with the file's own permissions.
func Keep(path, suffix string, data []byte) error {
	return replace(path+suffix, path, data, func() error { return nil })
}

// Replace has a file hold other text, whole or not at all.
func Replace(path string, data []byte) error {
	return Swap(path, data, func() error { return nil })
}

// Spare writes a file only for this user that can be made anew if it is lost: it is not synced, so
// that after a failure of the system it may hold anything.
func Spare(path string, data []byte) error {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+".accessc-"
	sweep(dir, prefix)
	f, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Swap replaces a file unless check finds an error right before.
func Swap(path string, data []byte, check func() error) error {
	return replace(path, path, data, check)
}

// replace gives a name to a new file with the permissions of another.
func replace(path, like string, data []byte, check func() error) error {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+".accessc-"
	sweep(dir, prefix)
	f, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return err
	}
	if err = fill(f, like, data); err == nil {
		if err = check(); err == nil {
			err = os.Rename(f.Name(), path)
		}
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// writing is longer than a file takes from being made to being renamed.
const writing = time.Minute

// sweep removes the files that killed writers have left. A writer that is slower than that fails to
// rename its file, and may try again.
func sweep(dir, prefix string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), prefix) && info.Mode().IsRegular() &&
			time.Since(info.ModTime()) > writing {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// fill writes, syncs and closes a file that gets the permissions of another.
func fill(f *os.File, like string, data []byte) error {
	info, err := os.Stat(like)
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
