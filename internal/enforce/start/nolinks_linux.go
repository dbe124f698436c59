package start

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// openNoLinks opens an absolute path that leads over no symlink; for one that does it returns
// ELOOP. Inside of a tool at Landlock ABI 1 or 2 the filter of that tool refuses openat2(2).
func openNoLinks(path string, flags int) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != unix.ENOSYS {
		return fd, err
	}
	return walkNoLinks(path, flags)
}

// walkNoLinks is openNoLinks step by step.
func walkNoLinks(path string, flags int) (int, error) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for name := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' }) {
		if err != nil {
			return -1, err
		}
		dir, st := at, unix.Stat_t{}
		at, err = unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		_ = unix.Close(dir)
		if err == nil {
			err = unix.Fstat(at, &st)
		}
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			_ = unix.Close(at)
			return -1, unix.ELOOP
		}
	}
	if err != nil || flags == unix.O_PATH {
		return at, err
	}
	defer unix.Close(at)
	return unix.Openat(at, ".", flags|unix.O_CLOEXEC, 0)
}

// absent reports whether there is nothing at a path that this process could be granted.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)
}
