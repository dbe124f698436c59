package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/accessc/accessc/internal/wholefile"
)

// BackupSuffix ends the name of a backup.
const BackupSuffix = ".before-accessc"

// Apply rewrites a file to start its servers through a program. The file as it was is kept
// beside it, unless a backup is there already.
func Apply(path, program string) ([]Server, error) {
	path, was, err := wholefile.Read(path)
	if err != nil {
		return nil, err
	}
	now, servers, err := Wrap(was, program)
	if err != nil || bytes.Equal(now, was) {
		return servers, err
	}
	if err := wholefile.Keep(path, BackupSuffix, was); err != nil {
		return nil, fmt.Errorf("the backup: %w", err)
	}
	return servers, wholefile.Replace(path, now)
}

// Undo rewrites a file to start its servers directly. A file that has not changed since gets
// back every byte of the backup, and the backup goes.
func Undo(path, program string) ([]Server, error) {
	path, was, err := wholefile.Read(path)
	if err != nil {
		return nil, err
	}
	now, servers, err := Unwrap(was)
	if err != nil || bytes.Equal(now, was) {
		return servers, err
	}
	_, backup, err := wholefile.Read(path + BackupSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	wrapped, _, err := Wrap(backup, program)
	if err != nil || !bytes.Equal(wrapped, was) {
		return servers, wholefile.Replace(path, now)
	}
	if err := wholefile.Replace(path, backup); err != nil {
		return nil, err
	}
	return servers, os.Remove(path + BackupSuffix)
}
