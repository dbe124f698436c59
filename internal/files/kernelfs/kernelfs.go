// Package kernelfs tells the mounts by which the kernel shows itself, such as proc, from mounts that hold files. Files
// of the former are settings and other processes: no grant on a directory around such a mount is meant for them. Nor
// is a grant meant for a mount that shows a place of the policy under another name, by which other rules would hold
// for the same files. See decisions D362 and D441.
package kernelfs

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Mount is a mount of this process (proc_pid_mountinfo(5)).
type Mount struct {
	ID, Parent uint64
	// Point is where it is mounted, Type the name of its file system.
	Point, Type string
	// Device is the file system's number, Root the directory or file of it that the mount shows.
	Device, Root string
	// options are the options of the file system, which for an overlay have its layers.
	options string
	// kernel is true for an overlay over a directory of the kernel's, or over some that nobody here can tell.
	kernel bool
	// Again is the other name of what the mount shows, empty for none that the policy is about.
	Again string
	// Closed is true where the mount shows the kernel or has another name, or lies in such a mount, and is none of the
	// base's own.
	Closed bool
	// Alias is true where it is closed for such a name, its own or the name of the mount that it lies
	// in.
	Alias bool
	// Quiet is true where an open of a regular file or a directory has no effect and waits for no other process.
	Quiet bool
}

// own reports whether the base is about a mount: it lists the parts of such mounts that a tool may use.
func (m *Mount) own() bool {
	switch m.Type {
	case "devtmpfs", "devpts":
		return Below(m.Point, "/dev")
	}
	return Below(m.Point, "/proc")
}

// Shows reports whether a type of file systems is known to show the kernel.
func Shows(kind string) bool { return is(kernels, kind) }

// Holds reports whether a type of file systems is known to hold files. A type that neither list has is new: it counts
// as a type that shows the kernel, except where a place that the policy is about is of that type.
func Holds(kind string) bool {
	kind, _, _ = strings.Cut(kind, ".") // fuse.sshfs
	return is(holders, kind)
}

func is(list, kind string) bool { return kind != "" && strings.Contains(list, " "+kind+" ") }

// The types by their names (/proc/filesystems). devtmpfs has the number of tmpfs in statfs(2), so numbers do
// not tell.
const (
	kernels = " binder binfmt_misc bpf cgroup cgroup2 configfs cpuset debugfs devpts devtmpfs dmabuf efivarfs " +
		"functionfs fusectl gadgetfs guestmemfd mqueue nfsd nsfs openpromfs oprofilefs pidfs pipefs proc pstore " +
		"resctrl rpc_pipefs securityfs selinuxfs smackfs sockfs spufs sysfs tracefs usbfs xenfs "
	// hugetlbfs holds memory that its users have put there. autofs mounts others.
	holders = " 9p adfs affs afs apfs aufs autofs bcachefs beegfs befs bfs btrfs ceph cifs coda cramfs drvfs " +
		"ecryptfs efs erofs exfat ext2 ext3 ext4 f2fs fuse fuseblk gfs2 gpfs hfs hfsplus hostfs hpfs hugetlbfs isofs " +
		"iso9660 jffs2 jfs lustre minix msdos ncpfs nfs nfs4 nilfs2 ntfs ntfs3 ocfs2 omfs orangefs overlay prl_fs " +
		"qnx4 qnx6 ramfs reiserfs romfs rootfs shiftfs smb3 smbfs squashfs sysv tmpfs ubifs udf ufs unionfs v7 " +
		"vboxsf vfat virtiofs vmhgfs xfs zfs zonefs "
	quiet = " btrfs erofs ext2 ext3 ext4 f2fs overlay squashfs tmpfs xfs "
)

var (
	errForm = errors.New("the list of mounts has another form")
	errNone = errors.New("the list of mounts is empty")
)

// Parse reads a list of mounts, and closes some of them as Close does.
func Parse(mountinfo []byte, roots, base []string, link Link) ([]Mount, error) {
	all, err := List(string(mountinfo))
	if err != nil {
		return nil, err
	}
	return Close(all, roots, base, link), nil
}

// List reads a list of mounts. None of them is closed.
func List(mountinfo string) ([]Mount, error) {
	out := make([]Mount, 0, strings.Count(mountinfo, "\n")+1)
	for line := range strings.Lines(mountinfo) {
		m, ok := parse(line)
		if !ok {
			return nil, errForm
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		return nil, errNone
	}
	return out, nil
}

// Close returns the listed mounts with those closed that a tool must not reach. Roots are the places that a policy is
// about, base the places that it is about beside them: a type that is not known holds files if one of them is on it. A
// mount below a root that shows one of them, or a part, is closed. The first root is the workspace.
func Close(listed []Mount, roots, base []string, link Link) []Mount {
	out := slices.Clone(listed)
	vouched := " "
	for _, r := range slices.Concat(roots, base) {
		if m := At(out, r); m != nil && !Shows(m.Type) && !Holds(m.Type) {
			vouched += m.Type + " "
		}
	}
	f := finder{out, link}
	f.name(roots, base)
	index := make(map[uint64]int, len(out))
	for i := range out {
		index[out[i].ID] = i
	}
	for i := range out {
		out[i].Closed, out[i].Alias = shut(out, index, i, vouched)
		out[i].Quiet = !out[i].Closed && is(quiet, out[i].Type)
	}
	return out
}

// shut reports whether a mount, or the mount that it lies in, shows the kernel or has another name, and whether it is
// the name. A mount on the same place as another lies in what is around both.
func shut(all []Mount, index map[uint64]int, i int, vouched string) (closed, alias bool) {
	for range all {
		m := &all[i]
		if !m.own() && !Holds(m.Type) && !is(vouched, m.Type) || m.Again != "" || m.kernel {
			return true, m.Again != ""
		}
		up, found := index[m.Parent]
		for found && all[up].Point == m.Point && all[up].Parent != all[up].ID {
			up, found = index[all[up].Parent]
		}
		if !found || up == i {
			return false, false
		}
		i = up
	}
	return false, false
}

// parse reads a line: identifier, parent, device, root, place, options, others that end with "-", type.
func parse(line string) (m Mount, ok bool) {
	var first [6]string
	const device, root, place = 2, 3, 4
	n, kind, last, typed := 0, "", "", false
	for field := range strings.FieldsSeq(line) {
		switch {
		case n < len(first):
			first[n] = field
		case typed && kind == "":
			kind = field
		case field == "-":
			typed = true
		}
		n, last = n+1, field
	}
	id, err := strconv.ParseUint(first[0], 10, 64)
	parent, err2 := strconv.ParseUint(first[1], 10, 64)
	m = Mount{ID: id, Parent: parent, Point: unescape(first[place]), Type: kind, Device: first[device],
		Root: unescape(first[root]), options: unescape(last)}
	return m, err == nil && err2 == nil && kind != ""
}

// unescape reads a path in which blanks and backslashes are three octal digits each (mangle() in
// fs/proc_namespace.c).
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		const digits = 3
		if s[i] == '\\' && i+digits < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+1+digits], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += digits
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// At is the mount that a canonical path is on by its name: the last of the mounts nearest above it. nil is
// none.
func At(all []Mount, path string) (out *Mount) {
	for i := range all {
		if m := &all[i]; Below(path, m.Point) && (out == nil || len(m.Point) >= len(out.Point)) {
			out = m
		}
	}
	return out
}

// Below reports whether a path is a directory or lies below it.
func Below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
