package approvals

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/wholefile"
)

// disk is the volume that stores lie on.
type disk struct{}

func (disk) create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (disk) rename(from, to string) error { return os.Rename(from, to) }

func (disk) remove(path string) error { return os.Remove(path) }

func (disk) sync(dir string) error {
	return wholefile.SyncDir(func() (*os.File, error) { return os.Open(dir) })
}

// unfitError is the error for a file or directory that is no store which accessc uses, whatever it holds.
type unfitError struct{ why string }

// Error implements error.
func (e *unfitError) Error() string { return e.why }

// readFile reads a store that can be trusted: a regular file of the user's own that no other
// user may write.
func readFile(path string) ([]byte, error) { return readBy(path, private) }

// readBy reads a regular file if nothing is wrong with it.
func readBy(path string, wrong func(*os.File, os.FileInfo) error) ([]byte, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &unfitError{"not a regular file"}
	}
	if err := wrong(f, info); err != nil {
		return nil, err
	}
	return bounded.Read(f, MaxSize)
}

// checkDir refuses a directory in which another user could replace the store.
func checkDir(dir string) error {
	f, err := openDir(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = private(f, info)
	}
	if err == nil {
		err = sheltered(dir)
	}
	if err != nil {
		return fmt.Errorf("its directory %s: %w", filepath.ToSlash(dir), err)
	}
	return nil
}
