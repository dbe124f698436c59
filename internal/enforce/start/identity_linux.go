package start

import "golang.org/x/sys/unix"

// identity is the answer of statx(2) about a place. While the place is open neither its inode number nor that of its
// mount is given to another one. For file systems of which this is not certain the times count, too: that of
// birth, and that of the last change except for directories, where it changes with their entries.
type identity struct {
	inode, mount  uint64
	major, minor  uint32
	kind          uint16
	born, changed unix.StatxTimestamp
}

const (
	identityMask = unix.STATX_BASIC_STATS | unix.STATX_MNT_ID // Linux 5.8
	noFollow     = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
)

// identify returns the identity of a name in a directory, or of the directory itself; false where there is none.
func identify(dir int, name string, flags int) (identity, bool) {
	var st unix.Statx_t
	if unix.Statx(dir, name, flags, identityMask|unix.STATX_BTIME, &st) != nil || st.Mask&identityMask != identityMask {
		return identity{}, false
	}
	is := identity{
		inode: st.Ino, mount: st.Mnt_id, major: st.Dev_major, minor: st.Dev_minor, kind: st.Mode & unix.S_IFMT, born: st.Btime,
	}
	if is.kind != unix.S_IFDIR {
		is.changed = st.Ctime
	}
	return is, true
}
