package hostview

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// settled is how long ago a directory must have changed for its times to tell of the next change:
// two changes within the resolution of a file system's times have the same. Those of ext3 have a
// second (https://docs.kernel.org/filesystems/ext4/inodes.html), the others a tick of the kernel.
// See RATIONALE D225.
const settled = 2 * time.Second

// identify returns the identity of the directory at a path, zero if its next change may not show in it.
func (d devices) identify(path string) Identity {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return Identity{}
	}
	if !d[uint64(st.Dev)] {
		// Of one descriptor: by its path, a directory of another file system could come to stand there in between.
		dir, err := os.OpenFile(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			return Identity{}
		}
		defer func() { _ = dir.Close() }()
		return d.identifyOpen(dir)
	}
	return identity(&st)
}

// identifyOpen is the same for an open directory.
func (d devices) identifyOpen(dir *os.File) Identity {
	var st unix.Stat_t
	var system unix.Statfs_t
	if unix.Fstat(int(dir.Fd()), &st) != nil || unix.Fstatfs(int(dir.Fd()), &system) != nil || !steady(&system) {
		return Identity{}
	}
	d[uint64(st.Dev)] = true
	return identity(&st)
}

func identity(st *unix.Stat_t) Identity {
	id := Identity{uint64(st.Dev), st.Ino, st.Mtim.Nano(), st.Ctim.Nano()}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || time.Since(time.Unix(0, id.Changed)) <= settled {
		return Identity{}
	}
	return id
}

// local are file systems whose directories have a new time of change for each change of their
// names, by this kernel's clock. Servers, FUSE and /proc have rules of their own. A directory of overlayfs has
// the times of its upper layer alone, whatever happens to the names of a lower one
// (https://docs.kernel.org/filesystems/overlayfs.html, "Changes to underlying filesystems").
var local = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC}

// steady reports whether the times of directories can be relied on. Those of a read-only file system may be the
// choice of the program that made its image.
func steady(system *unix.Statfs_t) bool {
	return slices.Contains(local, int64(system.Type)) && system.Flags&unix.ST_RDONLY == 0
}

// openDirectory opens a directory to list it.
func openDirectory(path string) (*os.File, error) {
	return os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}
