package supervisor

import (
	"strings"

	"golang.org/x/sys/unix"
)

// node is the result of resolving a path: a name in a directory, and the file that has it now.
type node struct {
	// dir is the directory of the name, -1 where the path ends in no name of its own ("/",
	// "..", the target of a magic link).
	dir  int
	name string
	// tail is the slash that was written behind the name.
	tail string
	// object is the file, -1 for none.
	object int
	st     unix.Stat_t
	// standard is set for a standard descriptor that the path names by its link in /proc.
	standard *given
}

// kind is the type of the file (S_IFMT), 0 for none.
func (n *node) kind() uint32 {
	if n.object < 0 {
		return 0
	}
	return n.st.Mode & unix.S_IFMT
}

// resolver resolves paths to files and names, as the calling thread would see them.
type resolver struct {
	*caller
	*decision
}

// maxLinks is how many symlinks a path may lead over (path_resolution(7)).
const maxLinks = 40

// follow says whether a symlink that a path ends in is followed.
type follow bool

const followed, kept follow = true, false

// where is the absolute path of the file that a descriptor refers to; empty for a file without
// a path, which is the tool's own: a pipe, a socket, a file of memory.
func where(fd int) string {
	path, _ := stated(fd)
	return path
}

// stated is like where, and reports whether the file still has that name.
func stated(fd int) (path string, still bool) {
	path, err := nameOf(fd)
	if err == nil && !strings.HasPrefix(path, "/") {
		return "", false
	}
	stripped, deleted := strings.CutSuffix(path, " (deleted)")
	switch {
	case err == nil && deleted && strings.HasPrefix(path, "/memfd:") && ofMemory(fd):
		return "", false
	case err != nil:
		return nowhere, false
	}
	switch at := standing.place(fd, stripped); {
	case at != stripped:
		return at, false
	case !deleted:
		return path, true
	}
	// A name may really end so; otherwise the file has lost its name and is judged by it.
	var a, n unix.Stat_t
	if unix.Lstat(path, &n) == nil && unix.Fstat(fd, &a) == nil && n.Dev == a.Dev && n.Ino == a.Ino {
		return path, true
	}
	return stripped, false
}

func readlink(dir int, name string) (string, error) {
	var buf [pathMax]byte
	n, err := unix.Readlinkat(dir, name, buf[:])
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// object resolves a path to the file that is there. The kernel resolves it where the result is
// the same for the tool. The supervisor walks magic links, the tool's own view of /proc and its
// shared memory step by step.
func (r *resolver) object(base int, path string, end follow, resolve uint64) (node, unix.Errno) {
	flags := uint64(unix.O_PATH | unix.O_CLOEXEC)
	if end == kept {
		flags |= unix.O_NOFOLLOW
	}
	n := node{dir: -1, object: -1}
	fd, err := unix.Openat2(base, path, &unix.OpenHow{Flags: flags, Resolve: resolve | unix.RESOLVE_NO_MAGICLINKS})
	if err == nil {
		n.object = r.hold(fd)
		err = unix.Fstat(fd, &n.st)
	}
	walks := err == unix.ELOOP || err == unix.ENOENT && overLinks(base, path) || r.meansOther(&n, path)
	switch {
	case walks && resolve != 0 && n.object >= 0:
		// The restrictions would have to be checked again at every step.
		return n, unix.EAGAIN
	case !walks || resolve != 0:
		return n, errno(err)
	}
	n, e := r.walk(base, path, end)
	if e == 0 && n.object < 0 {
		e = unix.ENOENT
	}
	return n, e
}

// meansOther reports whether a path may have been resolved over a file that is another file for
// the tool: the supervisor's own directory of /proc, or the shared memory of all. Without magic
// links only ".." leads from there to another file system.
func (r *resolver) meansOther(n *node, path string) bool {
	if n.object < 0 {
		return r.box.shared.name != "" && strings.Contains(path, "shm")
	}
	return r.box.kinds.proc(n.object, n.st.Dev) || r.box.shared.name != "" && n.st.Dev == r.box.shared.dev
}

// overLinks reports whether a symlink stands on a path that leads nowhere. Like /dev/fd it may
// lead to /proc/self, where the tool has other files.
func overLinks(base int, path string) bool {
	fd, err := unix.Openat2(base, path,
		&unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err == nil {
		_ = unix.Close(fd) // it exists by now
	}
	return err == unix.ELOOP
}

func errno(err error) unix.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return 0
}

// name resolves a path to a name in a directory. With kept, a symlink at the end is not
// followed, even before a slash (filename_parentat() in fs/namei.c).
func (r *resolver) name(base int, path string, end follow) (node, unix.Errno) {
	for range maxLinks {
		dir, last, tail := split(path)
		if last == "" || last == "." || last == ".." {
			n, e := r.object(base, path, followed, 0)
			n.dir, n.name = -1, last
			return n, e
		}
		parent, e := r.object(base, dir, followed, 0)
		if e != 0 {
			return node{}, e
		}
		n, e := r.look(parent.object, last)
		n.tail = tail
		if e != 0 || n.kind() != unix.S_IFLNK || end == kept {
			return n, e
		}
		if r.box.kinds.proc(parent.object, parent.st.Dev) {
			return r.walk(base, path, end)
		}
		target, err := readlink(n.object, "")
		if err != nil {
			return node{}, errno(err)
		}
		base, path = parent.object, target+tail
	}
	return node{}, unix.ELOOP
}

// split cuts a path into the directory, the last name and the slash behind it.
func split(path string) (dir, last, tail string) {
	trimmed := strings.TrimRight(path, "/")
	if trimmed != path {
		tail = "/"
	}
	i := strings.LastIndexByte(trimmed, '/')
	dir, last = trimmed[:i+1], trimmed[i+1:]
	if dir == "" {
		dir = "."
	}
	return dir, last, tail
}

// look opens the file at a name. A missing name is not an error.
func (r *resolver) look(dir int, name string) (node, unix.Errno) {
	n := node{dir: dir, name: name, object: -1}
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch err {
	case nil:
		n.object = r.hold(fd)
		return n, errno(unix.Fstat(fd, &n.st))
	case unix.ENOENT:
		return n, 0
	default:
		return n, errno(err)
	}
}
