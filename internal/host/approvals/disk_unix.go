//go:build unix

package approvals

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/accessc/accessc/internal/text/shellword"
)

// openPlain opens the file at path itself, without waiting: open(2) follows a symlink and
// blocks on a FIFO unless told otherwise.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, &unfitError{"a symlink, expected a regular file"}
	}
	return f, err
}

// openDir opens a directory, without waiting for the writer of a FIFO.
func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
}

// private refuses files that another user owns or may write.
func private(_ *os.File, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its owner is not known")
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return &unfitError{fmt.Sprintf("belongs to user %d, expected %d", st.Uid, uid)}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return &unfitError{fmt.Sprintf("others may write it (mode %04o)", info.Mode().Perm())}
	}
	return nil
}

// sheltered refuses a path on which every user could replace a directory by another: a path
// below a directory that all may write and that is not sticky. It looks at the path as it is
// written and at where it leads.
func sheltered(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for _, at := range []string{dir, real} {
		for up := filepath.Dir(at); ; up = filepath.Dir(up) {
			info, err := os.Stat(up)
			if err != nil {
				return err
			}
			if info.Mode()&(0o002|os.ModeSticky) == 0o002 {
				const why = "every user may write the directory %s above it; close it: chmod o-w %s"
				return &unfitError{fmt.Sprintf(why, up, shellword.Quote(up))}
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	return nil
}
