package start

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/host/workspace"
)

// runPrefix starts the name of every run's directory.
const runPrefix = workspace.RunPrefix

// removeTree removes a directory and everything in it, and of links the link alone. The tool
// has ended by then, so nothing changes meanwhile. os.RemoveAll would do, but asks for a way to
// delete that Wine does not know, on which this is tested.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.Type().IsDir() {
			errs = append(errs, removeTree(name))
			continue
		}
		errs = append(errs, os.Remove(name))
	}
	return errors.Join(append(errs, os.Remove(dir))...)
}

// commonTemp are directories for temporary files beside the one of the environment.
var commonTemp []string
