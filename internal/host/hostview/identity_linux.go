package hostview

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// settled is how long ago a directory must have changed for its times to tell of the next change:
// two changes within the resolution of a file system's times have the same. Times of ext3 have a second
// (https://docs.kernel.org/filesystems/ext4/inodes.html), the others a tick of the kernel.
// See decision D225.
const settled = 2 * time.Second

// identify returns the identity of the directory at a path, zero if its next change may not show in it.
func (d devices) identify(path string) Identity {
	st, err := statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return Identity{}
	}
	if !d[unix.Mkdev(st.Dev_major, st.Dev_minor)] {
		// All is asked of one descriptor: by its path, a directory of another file system could come to stand there in
		// between.
		dir, err := os.OpenFile(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			return Identity{}
		}
		defer func() { _ = dir.Close() }()
		return d.identifyOpen(dir)
	}
	return identity(st)
}

// identifyOpen is the same for an open directory.
func (d devices) identifyOpen(dir *os.File) Identity {
	var system unix.Statfs_t
	st, err := statx(int(dir.Fd()), "", unix.AT_EMPTY_PATH)
	if err != nil || unix.Fstatfs(int(dir.Fd()), &system) != nil || !steady(&system) {
		return Identity{}
	}
	d[unix.Mkdev(st.Dev_major, st.Dev_minor)] = true
	return identity(st)
}

// statx is as lstat(2) and fstat(2), and asks for the attributes as well. Like these it mounts nothing.
func statx(at int, path string, flags int) (*unix.Statx_t, error) {
	var st unix.Statx_t
	err := unix.Statx(at, path, flags|unix.AT_NO_AUTOMOUNT, needed, &st)
	if err == nil && st.Mask&needed != needed {
		err = unix.ENODATA
	}
	return &st, err
}

const needed = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_MTIME | unix.STATX_CTIME

// identity is the identity of a directory. An encrypted directory has other names without its key than with it, and the
// same times (https://docs.kernel.org/filesystems/fscrypt.html, "Access semantics").
func identity(st *unix.Statx_t) Identity {
	id := Identity{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino, nanoseconds(st.Mtime), nanoseconds(st.Ctime)}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Attributes&unix.STATX_ATTR_ENCRYPTED != 0 ||
		time.Since(time.Unix(0, id.Changed)) <= settled {
		return Identity{}
	}
	return id
}

func nanoseconds(t unix.StatxTimestamp) int64 { return t.Sec*int64(time.Second) + int64(t.Nsec) }

// local are file systems whose directories have a new time of change for each change of their
// names, by this kernel's clock. Servers, FUSE and /proc have rules of their own. A directory of overlayfs has
// only the times of its upper layer, whatever happens to the names of a lower layer
// (https://docs.kernel.org/filesystems/overlayfs.html, "Changes to underlying filesystems").
var local = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
	unix.F2FS_SUPER_MAGIC}

// steady reports whether the times of directories can be relied on. Times of a read-only file system may be the
// choice of the program that made its image.
func steady(system *unix.Statfs_t) bool {
	return slices.Contains(local, int64(system.Type)) && system.Flags&unix.ST_RDONLY == 0
}

// openDirectory opens a directory to list it.
func openDirectory(path string) (*os.File, error) {
	return os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}
