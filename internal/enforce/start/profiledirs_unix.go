//go:build unix

package start

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/files/rmtree"
)

// makeRun makes the directory of the run, and the tool's temporary directory in the user's own:
// mktemp(1), confstr(3) and NSTemporaryDirectory look there whatever TMPDIR says, below the name in
// DIRHELPER_USER_DIR_SUFFIX (Apple's Libc, _dirhelper; WebKit's processes are given theirs so). The
// directory of that name for caches is made too, since they would fail to make it, and stays closed.
func (s *profileStart) makeRun() error {
	var err error
	if s.directories, err = makeRun(s.launch.Workspace); err != nil {
		return err
	}
	user, err := s.host.userDirectories()
	if err != nil {
		return failed("the user's temporary directory: %w", err)
	}
	for _, dir := range user {
		s.beside = append(s.beside, filepath.Join(dir, filepath.Base(s.dir)+ofTool))
	}
	if err := os.WriteFile(s.dir+besideFile, []byte(strings.Join(s.beside, "\n")), 0o600); err != nil {
		return failed("the temporary directory: %w", err)
	}
	for _, dir := range s.beside {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return failed("the temporary directory: %w", err)
		}
	}
	s.tmp = s.beside[0]
	return s.writeContext(&s.launch)
}

// besideFile lists the directories of the tool in the run's, which the tool cannot reach; ofTool
// ends their names.
const (
	besideFile = "/beside"
	ofTool     = "-tool"
)

// removeRun removes the directory of a run, and those of its tool.
func removeRun(dir string) error {
	list, err := os.ReadFile(dir + besideFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for at := range strings.SplitSeq(string(list), "\n") {
		if filepath.IsAbs(at) && filepath.Base(at) == filepath.Base(dir)+ofTool {
			err = errors.Join(err, rmtree.Remove(at))
		}
	}
	return errors.Join(err, rmtree.Remove(dir))
}

// spelled refuses roots that the file system spells in another way than the profile: in another
// case, or through a link. The system matches its own spelling, so rules that deny would not
// take effect.
func (s *profileStart) spelled() error {
	var err error
	if s.tmp, err = s.host.spelling(s.tmp); err != nil {
		return failed("the temporary directory: %w", err)
	}
	for name, dir := range map[string]string{"workspace": s.spec.Workspace, "private home": s.spec.Home} {
		if dir == "" {
			continue
		}
		is, err := s.host.spelling(dir)
		if err != nil {
			return failed("the %s: %w", name, err)
		}
		if is != dir {
			return failed("the %s %s is %s to the system; build again from there", name, dir, is)
		}
	}
	return nil
}

// makeReal makes a directory, or finds that it is one. A link in its place leads away from the
// places of the profile's rules.
func makeReal(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.Mkdir(dir, 0o777)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory, expected one, since rules name paths below it; build again", dir)
	default:
		return nil
	}
}
