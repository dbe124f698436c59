//go:build unix && !linux

package rmtree

import "golang.org/x/sys/unix"

// within opens a directory that is an entry of another, and on the same file system, which is a mount here.
func within(parent int, name string, flags int) (int, error) {
	fd, err := unix.Openat(parent, name, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var at, above unix.Stat_t
	if unix.Fstat(fd, &at) != nil || unix.Fstat(parent, &above) != nil || at.Dev != above.Dev {
		_ = unix.Close(fd)
		return -1, unix.EXDEV
	}
	return fd, nil
}

// permit lets the owner of a directory list it.
func permit(parent int, name string) error {
	return unix.Fchmodat(parent, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}
