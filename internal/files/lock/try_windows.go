package lock

import (
	"os"

	"golang.org/x/sys/windows"
)

// Try locks a file until it is closed or this process ends, however that is, or reports that another
// process has the lock. It locks a byte that no file has, so that others can read and write the contents.
func Try(f *os.File) error {
	const flags, far = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY, 1 << 30
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: far})
}
