//go:build unix

package owned

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/accessc/accessc/internal/text/shellword"
)

// WithoutWaiting has open(2) follow no symlink at the end of a path, and not block on a FIFO.
const WithoutWaiting = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// openFile opens a file without waiting.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|WithoutWaiting, 0)
}

// Alone refuses an open file that others than the user and the administrator may write, or replace by
// another; a file of the administrator, others than the administrator. path has no symlinks.
func Alone(info os.FileInfo, path string, machine bool) error {
	if err := writable(info, path, machine); err != nil {
		return err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if err := writable(info, dir, machine); err != nil {
			return err
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func writable(info os.FileInfo, path string, machine bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	uid := os.Geteuid()
	switch {
	case !ok:
		return &Not{"its owner is not known", ""}
	case st.Uid == 0 || !machine && int(st.Uid) == uid:
	case machine:
		return &Not{fmt.Sprintf("%s belongs to user %d, expected the administrator", path, st.Uid), ""}
	default:
		return &Not{fmt.Sprintf("%s belongs to user %d, expected %d or the administrator", path, st.Uid, uid), ""}
	}
	// In a sticky directory only the owners of it and of a file rename the file (unlink(2)).
	if perm := info.Mode().Perm(); perm&0o022 != 0 &&
		info.Mode()&(os.ModeDir|os.ModeSticky) != os.ModeDir|os.ModeSticky {
		return &Not{fmt.Sprintf("others may write %s (mode %04o)", path, perm),
			"chmod go-w " + shellword.Quote(path)}
	}
	return nil
}
