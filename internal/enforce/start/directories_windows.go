package start

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
)

// runPrefix starts the name of every run's directory.
const runPrefix = workspace.RunPrefix

// directories makes the private home, and the run's directory with the temporary
// directory and the Context in it.
func (r *run) directories() error {
	if r.spec.Home != "" {
		var err error
		if r.home, err = userdir.HoldHome(r.spec.Home); err != nil {
			return failed("the private home: %w", err)
		}
	}
	for _, d := range []string{"", `AppData\Local`, `AppData\Roaming`} {
		if r.spec.Home == "" {
			break
		}
		if err := os.MkdirAll(filepath.Join(r.spec.Home, d), 0o700); err != nil {
			return failed("the private home: %w", err)
		}
	}
	base, err := RunsIn(r.launch.Workspace)
	if err != nil {
		return err
	}
	if r.dir, err = os.MkdirTemp(base, runPrefix+"*"); err != nil {
		return failed("the temporary directory: %w", err)
	}
	r.tmp = filepath.Join(r.dir, "tmp")
	local := r.tmp
	if r.spec.Home == "" {
		// The directory that LOCALAPPDATA then names.
		local = filepath.Join(r.tmp, `AppData\Local`)
	}
	if err := os.MkdirAll(local, 0o700); err != nil {
		return failed("the temporary directory: %w", err)
	}
	if err := os.WriteFile(r.context(), []byte(r.launch.Context), 0o600); err != nil {
		return failed("the Context: %w", err)
	}
	return nil
}

// context is the path of the Context.
func (r *run) context() string { return filepath.Join(r.tmp, "context.json") }

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
