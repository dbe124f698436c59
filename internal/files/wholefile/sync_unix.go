//go:build unix

package wholefile

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir brings the names in a directory to the disk. Some file systems know no such
// thing and say EINVAL (fsync(2)); there is nothing more to do there.
func SyncDir(open func() (*os.File, error)) error {
	d, err := open()
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
