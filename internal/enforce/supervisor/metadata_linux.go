package supervisor

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// metadata answers the calls that change mode, owner, times and attributes.
type metadata struct{ *call }

// target is the file that a metadata call acts on.
type target struct {
	obj   int
	errno unix.Errno
}

// ofPath resolves the path of a metadata call, under the flags that such calls have in common.
func (c metadata) ofPath(dir, addr, flags uint64) target {
	if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH|unix.AT_NO_AUTOMOUNT) != 0 {
		return target{-1, unix.EINVAL}
	}
	path, e := c.path(addr)
	if e != 0 {
		return target{-1, e}
	}
	base, e := c.paths.base(dirfd(dir), path)
	if e != 0 || path == "" && flags&unix.AT_EMPTY_PATH != 0 {
		return target{base, e}
	}
	end := followed
	if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		end = kept
	}
	n, e := c.paths.object(base, path, end, 0)
	return target{n.object, e}
}

// ofDescriptor is the file behind a descriptor of the tool. How it was opened does not matter:
// an open for reading does not permit changes of the file.
func (c metadata) ofDescriptor(fd uint64) target {
	obj, e := c.descriptor(dirfd(fd))
	return target{obj, e}
}

// change judges and makes a change of metadata.
func (c metadata) change(t target, act func(obj int) error) answer {
	if t.errno != 0 {
		return fails(t.errno)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	// A file without a path is the tool's own: a pipe, a socket, a file of memory.
	if at := where(t.obj); at != "" && !c.permits(c.policy.metadata(c.box.at(at))) {
		return fails(unix.EPERM)
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	a := namings()
	a.meta = t.obj
	return result(c.call.change(a, func() error { return act(t.obj) }))
}

func chown(uid, gid uint64) func(int) error {
	return func(obj int) error {
		return unix.Fchownat(obj, "", int(int32(uid)), int(int32(gid)), unix.AT_EMPTY_PATH)
	}
}

// setTimes sets both times, to now if times is nil.
func setTimes(times *[2]unix.Timespec) func(int) error {
	return func(obj int) error {
		empty := []byte{0}
		_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(obj), uintptr(unsafe.Pointer(&empty[0])),
			uintptr(unsafe.Pointer(times)), unix.AT_EMPTY_PATH, 0, 0)
		if e != 0 {
			return e
		}
		return nil
	}
}

// times reads a pair of times whose fractions are of the given unit.
func (c metadata) times(addr uint64, unit int64) (*[2]unix.Timespec, unix.Errno) {
	if addr == 0 {
		return nil, 0
	}
	w, e := c.words(addr, 4)
	if e != 0 {
		return nil, e
	}
	return &[2]unix.Timespec{
		{Sec: int64(w[0]), Nsec: int64(w[1]) * unit}, {Sec: int64(w[2]), Nsec: int64(w[3]) * unit},
	}, 0
}

// utimensat without a path is about the descriptor (futimens(3)).
func (c metadata) utimensat() answer {
	times, e := c.times(c.args[2], 1)
	if e != 0 {
		return fails(e)
	}
	if c.args[1] == 0 {
		return c.change(c.ofDescriptor(c.args[0]), setTimes(times))
	}
	return c.change(c.ofPath(c.args[0], c.args[1], c.args[3]), setTimes(times))
}

// utimes answers utimes(2) and futimesat(2), in microseconds.
func (c metadata) utimes(dir, path, addr uint64) answer {
	times, e := c.times(addr, 1000)
	if e != 0 {
		return fails(e)
	}
	if path == 0 {
		return c.change(c.ofDescriptor(dir), setTimes(times))
	}
	return c.change(c.ofPath(dir, path, 0), setTimes(times))
}

// utime answers utime(2), in seconds.
func (c metadata) utime() answer {
	var times *[2]unix.Timespec
	if c.args[1] != 0 {
		w, e := c.words(c.args[1], 2)
		if e != 0 {
			return fails(e)
		}
		times = &[2]unix.Timespec{{Sec: int64(w[0])}, {Sec: int64(w[1])}}
	}
	return c.change(c.ofPath(cwd, c.args[0], 0), setTimes(times))
}

// Bounds of extended attributes (xattr(7)).
const (
	xattrName  = 256
	xattrValue = 64 << 10
)

func (c metadata) setxattr(t target) answer {
	name, e := c.text(c.args[1], xattrName, unix.ERANGE)
	if e != 0 {
		return fails(e)
	}
	if c.args[3] > xattrValue {
		return fails(unix.E2BIG)
	}
	value, e := c.bytes(c.args[2], int(c.args[3]))
	if e != 0 {
		return fails(e)
	}
	return c.change(t, func(obj int) error { return unix.Setxattr(self(obj), name, value, int(c.args[4])) })
}

func (c metadata) removexattr(t target) answer {
	name, e := c.text(c.args[1], xattrName, unix.ERANGE)
	if e != 0 {
		return fails(e)
	}
	return c.change(t, func(obj int) error { return unix.Removexattr(self(obj), name) })
}

// chmod refuses the bits with which a program runs as its owner or group, since another user
// could start it. On a directory the bit of the group is about inheritance.
func (c metadata) chmod(t target, mode uint64) answer {
	var st unix.Stat_t
	const bits = unix.S_ISUID | unix.S_ISGID
	if t.errno == 0 && mode&bits != 0 && (unix.Fstat(t.obj, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR) {
		return c.denies(unix.EPERM, whySetID)
	}
	if t.errno == 0 && unix.Fstat(t.obj, &st) == nil && c.locked.of(&node{object: t.obj, st: st}) != nil {
		return answer{} // the lock of a configuration gets the mode of that
	}
	return c.change(t, func(obj int) error { return unix.Chmod(self(obj), uint32(mode)) })
}

const whySetID = "a program that runs as its owner or group could be started by another user"

// flagCall knows FS_IOC_FSSETXATTR and the flag calls (include/uapi/linux/fs.h), and the size of the data
// that the kernel reads: an int, although the numbers say long, and struct fsxattr.
func flagCall(request uint32) (size int, ok bool) {
	switch request {
	case 0x40086602, 0x40046602:
		return flagsSize, true
	case 0x401c5820:
		return 28, true
	}
	return 0, false
}

const (
	flagsSize = 4
	caseFold  = 0x40000000 // FS_CASEFOLD_FL
)

// ioctl sets flags of a file, on a duplicate of the tool's descriptor.
func (c metadata) ioctl() answer {
	size, ok := flagCall(uint32(c.args[1]))
	if !ok {
		return c.denies(unix.EPERM, "a request that no rule speaks of")
	}
	data, e := c.bytes(c.args[2], size)
	if e != 0 {
		return fails(e)
	}
	if c.keeper != nil {
		return c.denies(unix.EPERM, "flags of files are not kept for accessc undo")
	}
	if size == flagsSize && binary.LittleEndian.Uint32(data)&caseFold != 0 {
		return c.denies(unix.EPERM, "in a directory that folds case a rule's path has several names")
	}
	dup, e := c.duplicate(dirfd(c.args[0]))
	padded := binary.LittleEndian.AppendUint64(data, 0)
	return c.change(target{dup, e}, func(obj int) error {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(obj), uintptr(c.args[1]), uintptr(unsafe.Pointer(&padded[0])))
		if e != 0 {
			return e
		}
		return nil
	})
}
