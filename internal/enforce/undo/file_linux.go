package undo

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// self is the path of an open file, for system calls that only take a path. It leads to the very file.
func self(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// look is the state of a file: of a name in an open directory, or with the empty name of the open file itself. A
// missing file has none.
func look(dir int, file string) (*print, error) {
	how := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if file == "" {
		how |= unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	err := unix.Statx(dir, file, how, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st)
	if err == unix.ENOENT {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return printOf(&st), nil
}

func printOf(st *unix.Statx_t) *print {
	id := strconv.FormatUint(st.Ino, 36) + "." + strconv.FormatInt(stamp(st.Btime), 36)
	if st.Mask&unix.STATX_BTIME == 0 {
		id = strconv.FormatUint(st.Ino, 36) + "@" + strconv.FormatUint(unix.Mkdev(st.Dev_major, st.Dev_minor), 36)
	}
	p := &print{ID: id, Mode: uint32(st.Mode), UID: st.Uid, GID: st.Gid, Size: int64(st.Size),
		MTime: stamp(st.Mtime), CTime: stamp(st.Ctime)}
	if p.dir() {
		p.Size = 0 // that of the directory's own blocks
	}
	return p
}

const second = 1e9

func stamp(t unix.StatxTimestamp) int64 { return t.Sec*second + int64(t.Nsec) }

// timespec is a time in nanoseconds, also before 1970.
func timespec(ns int64) unix.Timespec {
	sec, nsec := ns/second, ns%second
	if nsec < 0 {
		sec, nsec = sec-1, nsec+second
	}
	return unix.Timespec{Sec: sec, Nsec: nsec}
}

// take opens a file by its path from the root, over no symlink.
func take(path string, flags int) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
}

// describe is all of a file but its contents.
func describe(fd int) (*kept, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return nil, err
	}
	k := &kept{print: *printOf(&st), ATime: stamp(st.Atime), Links: st.Nlink,
		Dev: unix.Mkdev(st.Rdev_major, st.Rdev_minor)}
	var err error
	if k.Mode&typeMask == typeLink {
		buf := make([]byte, unix.PathMax)
		var n int
		if n, err = unix.Readlinkat(fd, "", buf); err == nil {
			k.Target = name(buf[:n])
		}
		return k, err
	}
	k.Attrs, err = attributes(self(fd))
	return k, err
}

// attributes are the attributes that a process without privileges can change.
func attributes(path string) (map[string][]byte, error) {
	list := make([]byte, 64<<10)
	n, err := unix.Listxattr(path, list)
	if err == unix.ENOTSUP || err == unix.EACCES && n <= 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out map[string][]byte
	for key := range strings.SplitSeq(string(list[:n]), "\x00") {
		if !changeable(key) {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Getxattr(path, key, value)
		if err == unix.ENODATA {
			continue
		}
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[string][]byte{}
		}
		out[key] = value[:n]
	}
	return out, nil
}

// changeable tells the attributes of users, and access lists, from attributes of the system (xattr(7)).
func changeable(key string) bool {
	return strings.HasPrefix(key, "user.") || strings.HasPrefix(key, "system.posix_acl_")
}

// contents copies what a file holds: its blocks are shared where the file system can, and holes stay holes.
func contents(from, to int, size int64) error {
	if err := unix.IoctlFileClone(to, from); err == nil {
		return nil
	}
	if err := unix.Ftruncate(to, size); err != nil {
		return err
	}
	for at := int64(0); at < size; {
		data, err := unix.Seek(from, at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			return nil // a hole up to the end
		}
		hole := size
		if err == nil {
			hole, err = unix.Seek(from, data, unix.SEEK_HOLE)
		} else {
			data, err = at, nil // the file system knows no holes
		}
		if err != nil {
			return err
		}
		if err := part(from, to, data, hole); err != nil {
			return err
		}
		at = hole
	}
	return nil
}

// part copies the bytes between two offsets.
func part(from, to int, at, end int64) error {
	for at < end {
		in, out := at, at
		n, err := unix.CopyFileRange(from, &in, to, &out, int(min(end-at, 1<<30)), 0)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EXDEV || err == unix.EINVAL || err == unix.ENOSYS || err == unix.EOPNOTSUPP:
			return plainly(from, to, at, end)
		case err != nil:
			return err
		case n == 0:
			return nil // it has become shorter
		}
		at += int64(n)
	}
	return nil
}

// plainly copies where the kernel does not do it.
func plainly(from, to int, at, end int64) error {
	buf := make([]byte, 256<<10)
	for at < end {
		n, err := unix.Pread(from, buf[:min(int64(len(buf)), end-at)], at)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		for done := 0; done < n; {
			m, err := unix.Pwrite(to, buf[done:n], at+int64(done))
			if err != nil && err != unix.EINTR {
				return err
			}
			done += max(m, 0)
		}
		at += int64(n)
	}
	return nil
}

// entries lists an open directory.
func entries(dir int) ([]string, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}
