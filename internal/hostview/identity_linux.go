package hostview

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// settled is how long ago a directory must have changed for its times to tell of the next change:
// two changes within the resolution of a file system's times have the same. Those of ext3 have a
// second (https://docs.kernel.org/filesystems/ext4/inodes.html), the others a tick of the kernel.
// See RATIONALE D225.
const settled = 2 * time.Second

// identify returns the identity of a directory, if its next change will show in that.
func identify(path string) (Identity, bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return Identity{}, false
	}
	id := Identity{uint64(st.Dev), st.Ino, st.Mtim.Nano(), st.Ctim.Nano()}
	return id, time.Since(time.Unix(0, id.Changed)) > settled
}

// local are file systems whose directories have a new time of change for each change of their
// names, by this kernel's clock. Servers, FUSE and /proc have rules of their own.
var local = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
}

// steady reports whether the times of a directory can be relied on.
func steady(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && slices.Contains(local, int64(st.Type))
}
