//go:build unix

package start

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
)

// runPrefix starts the name of every run's directory.
const runPrefix = workspace.RunPrefix

// contextFile is the path of the Context in the temporary directory.
const contextFile = "/context.json"

// directories are those of one run.
type directories struct {
	// dir is the run's own; tmp, that or one in it, is the tool's temporary directory,
	// with the Context. shared stands for its shared memory, empty for none.
	dir, tmp, shared string
	// beside are directories of the tool elsewhere, which end with the run.
	beside []string
}

// makeHome makes the private home, where the tool has one, and holds it for the run.
func makeHome(l *backends.Launch) (*userdir.Hold, error) {
	if l.Home == "" {
		return nil, nil
	}
	hold, err := userdir.HoldHome(l.Home)
	if err == nil {
		err = os.MkdirAll(l.Home, 0o700)
	}
	if err != nil {
		return hold, failed("the private home: %w", err)
	}
	if err := private(l.Home); err != nil {
		return hold, failed("the private home %s: %w", l.Home, err)
	}
	return hold, nil
}

// makeDirectories makes the directory of a run, which is the tool's temporary one. It returns it
// also when it fails.
func makeDirectories(l *backends.Launch) (directories, error) {
	d, err := makeRun(l.Workspace)
	if err == nil {
		d.tmp = d.dir
		err = d.writeContext(l)
	}
	return d, err
}

// makeRun makes the directory of a run. It returns it also when it fails.
func makeRun(workspace string) (directories, error) {
	var d directories
	base, err := RunsIn(workspace)
	if err != nil {
		return d, err
	}
	if d.dir, err = os.MkdirTemp(base, runPrefix+"*"); err != nil {
		return d, failed("the temporary directory: %w", err)
	}
	return d, nil
}

// commonTemp are directories for temporary files beside the one of the environment.
var commonTemp = []string{"/tmp", "/var/tmp"}

// writeContext writes the Context into the tool's temporary directory.
func (d directories) writeContext(l *backends.Launch) error {
	f, err := openFile(d.tmp+contextFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(l.Context)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return failed("the Context: %w", err)
	}
	return nil
}

// private refuses a directory that another user owns, and takes away the rights of others to it: a tool can change the
// mode of its own home.
func private(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return err
	}
	const own = 0o700
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("not a directory")
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("belongs to another user")
	case st.Mode&0o7777 == own:
		return nil
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.EACCES {
		return unix.Fchmodat(unix.AT_FDCWD, dir, own, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &st); err != nil || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to another user")
	}
	return unix.Fchmod(fd, own)
}

// discard removes the run's directory after a supervised tool or a start that failed.
// The sandbox may be in force already, in which case the sweeper does it.
func (d directories) discard() {
	if d.dir == "" {
		return
	}
	if _ = unix.Unlink(d.tmp + contextFile); unix.Rmdir(d.dir) != nil {
		_ = rmtree.Remove(d.dir)
	}
	if d.shared != "" {
		_ = rmtree.Remove(d.shared)
	}
	for _, dir := range d.beside {
		_ = rmtree.Remove(dir)
	}
}

// isRun reports whether a path can be the directory of a run.
func isRun(dir string) bool {
	return strings.HasPrefix(filepath.Base(dir), runPrefix) && filepath.IsAbs(dir)
}
