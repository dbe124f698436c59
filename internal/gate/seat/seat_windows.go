package seat

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/accessc/accessc/internal/files/lock"
)

// failedWrites are the signals of writes that fail.
var failedWrites = []os.Signal{syscall.SIGPIPE}

// Lock locks the directory of a seat until the file is closed or this process ends, or
// reports that another process has it.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock.Try(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Owned is true: the temporary directory is the user's own.
func Owned(os.FileInfo) bool { return true }
