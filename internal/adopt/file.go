package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/bounded"
)

// maxFile is the largest file that is rewritten, in bytes.
const maxFile = 16 << 20

// BackupSuffix ends the name of a backup.
const BackupSuffix = ".before-accessc"

// Apply rewrites a file to start its servers through a program. The file as it was is kept
// beside it, unless a backup is there already.
func Apply(path, program string) ([]Server, error) {
	path, was, err := read(path)
	if err != nil {
		return nil, err
	}
	now, servers, err := Wrap(was, program)
	if err != nil || bytes.Equal(now, was) {
		return servers, err
	}
	if err := keep(path, was); err != nil {
		return nil, fmt.Errorf("the backup: %w", err)
	}
	return servers, replace(path, now)
}

// Undo rewrites a file to start its servers directly. A file that has not changed since gets
// back every byte of the backup, and the backup goes.
func Undo(path, program string) ([]Server, error) {
	path, was, err := read(path)
	if err != nil {
		return nil, err
	}
	now, servers, err := Unwrap(was)
	if err != nil || bytes.Equal(now, was) {
		return servers, err
	}
	_, backup, err := read(path + BackupSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	wrapped, _, err := Wrap(backup, program)
	if err != nil || !bytes.Equal(wrapped, was) {
		return servers, replace(path, now)
	}
	if err := replace(path, backup); err != nil {
		return nil, err
	}
	return servers, os.Remove(path + BackupSuffix)
}

// read returns a file and its path without symlinks, so that a link stays one.
func read(path string) (string, []byte, error) {
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
	f, err := os.Open(path)
	if err != nil {
		return path, nil, err
	}
	defer f.Close()
	data, err := bounded.Read(f, maxFile)
	return path, data, err
}

// keep writes the backup of a file, with the file's own permissions.
func keep(path string, data []byte) error {
	f, err := os.OpenFile(path+BackupSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := fill(f, path, data); err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return nil
}

// replace has a file hold other text, whole or not at all.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	if err = fill(f, path, data); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// fill writes, syncs and closes a file that gets the permissions of another one.
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
