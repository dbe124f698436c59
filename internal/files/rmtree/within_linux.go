package rmtree

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// within opens a directory that is an entry of another, and on the same mount.
func within(parent int, name string, flags int) (int, error) {
	flags |= unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(parent, name, &how)
	if err != unix.ENOSYS && err != unix.EPERM {
		return fd, err
	}
	// Linux before 5.6, or a filter that does not know the call.
	if fd, err = unix.Openat(parent, name, flags, 0); err != nil {
		return -1, err
	}
	if mount(fd) != mount(parent) {
		_ = unix.Close(fd)
		return -1, unix.EXDEV
	}
	return fd, nil
}

// mount tells the mount of a file from others, or its file system where the kernel does not (before 5.8).
func mount(fd int) [3]uint64 {
	var x unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &x) != nil {
		var st unix.Stat_t
		_ = unix.Fstat(fd, &st)
		return [3]uint64{st.Dev}
	}
	return [3]uint64{uint64(x.Dev_major), uint64(x.Dev_minor), x.Mnt_id}
}

// permit lets the owner of a directory list it.
func permit(parent int, name string) error {
	fd, err := within(parent, name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
}
