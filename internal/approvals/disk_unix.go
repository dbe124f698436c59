//go:build unix

package approvals

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openPlain opens the file at path itself, without waiting: open(2) follows a symlink and
// blocks on a FIFO unless told otherwise.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errors.New("a symlink, expected a regular file")
	}
	return f, err
}

// private refuses files that another user owns or may write.
func private(_ *os.File, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its owner is not known")
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return fmt.Errorf("belongs to user %d, expected %d", st.Uid, uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write it (mode %04o)", info.Mode().Perm())
	}
	return nil
}

// syncDir brings the names in a directory to the disk. Some file systems know no such
// thing and say EINVAL (fsync(2)); there is nothing more to do there.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
