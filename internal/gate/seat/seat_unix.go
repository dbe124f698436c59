//go:build unix

package seat

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/lock"
)

// failedWrites are the signals of writes that fail.
var failedWrites = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}

// Lock locks the directory of a seat until the file is closed or this process ends, or
// reports that another process has it.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock.Try(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Owned reports whether a directory belongs to this user.
func Owned(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
