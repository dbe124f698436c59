package userdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// shared takes a shared lock that can be had at once, as package lockedfile does; nil for none. To
// wait for a lock takes a thread more.
func shared(name string) *os.File {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil {
		_ = unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}
