package broker

import (
	"strings"

	"golang.org/x/sys/unix"
)

// node is where a path leads: a name in a directory, and what it stands for now.
type node struct {
	// dir is the directory of the name, -1 where the path ends in no name of its own
	// ("/", "..", the target of a magic link).
	dir  int
	name string
	// tail is the slash that was written behind the name.
	tail string
	// object is what is there, -1 for nothing.
	object int
	kind   uint32 // S_IFMT
}

// maxLinks is how many symlinks a path may lead over (path_resolution(7)).
const maxLinks = 40

// follow says what becomes of a symlink that a path ends in.
type follow bool

const followed, kept follow = true, false

// where is the absolute path of what a descriptor refers to, empty for what has none
// and is the tool's own: pipes, sockets, files of memory.
func (b *Broker) where(fd int) string {
	path, err := readlink(unix.AT_FDCWD, self(fd))
	switch {
	case err != nil || strings.HasPrefix(path, "(unreachable)"):
		return nowhere
	case !strings.HasPrefix(path, "/"):
		return ""
	}
	stripped, deleted := strings.CutSuffix(path, " (deleted)")
	if !deleted {
		return path
	}
	// A name may end so; otherwise the file has lost its name and is judged by it.
	var a, n unix.Stat_t
	if unix.Lstat(path, &n) == nil && unix.Fstat(fd, &a) == nil && n.Dev == a.Dev && n.Ino == a.Ino {
		return path
	}
	if strings.HasPrefix(path, "/memfd:") {
		return ""
	}
	return stripped
}

func readlink(dir int, name string) (string, error) {
	buf := make([]byte, pathMax)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// object resolves a path to what is there. The kernel resolves it where it can do so
// for the tool; magic links and the tool's own view of /proc are walked step by step.
func (c *call) object(base int, path string, end follow, resolve uint64) (int, unix.Errno) {
	flags := uint64(unix.O_PATH | unix.O_CLOEXEC)
	if end == kept {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Openat2(base, path, &unix.OpenHow{Flags: flags, Resolve: resolve | unix.RESOLVE_NO_MAGICLINKS})
	if err == nil {
		c.hold(fd)
	}
	if resolve != 0 {
		return fd, errno(err)
	}
	if err == unix.ELOOP || c.throughProc(fd, path, err) {
		n, e := c.walk(base, path, end)
		if e == 0 && n.object < 0 {
			e = unix.ENOENT
		}
		return n.object, e
	}
	return fd, errno(err)
}

// throughProc reports whether a path may have been resolved over /proc/self, which
// for the broker is the broker. Without magic links nothing leads from there to
// another filesystem but "..".
func (c *call) throughProc(fd int, path string, err error) bool {
	if err != nil {
		return strings.Contains(path, "self")
	}
	return strings.HasPrefix(c.where(fd), "/proc/")
}

func errno(err error) unix.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return 0
}

// name resolves a path to a name in a directory.
func (c *call) name(base int, path string, end follow) (node, unix.Errno) {
	for range maxLinks {
		dir, last, tail := split(path)
		if last == "" || last == "." || last == ".." {
			obj, e := c.object(base, path, followed, 0)
			return c.seen(node{dir: -1, name: last, object: obj}), e
		}
		parent, e := c.object(base, dir, followed, 0)
		if e != 0 {
			return node{}, e
		}
		n := c.look(node{dir: parent, name: last, tail: tail})
		if n.kind != unix.S_IFLNK || end == kept && tail == "" {
			return n, 0
		}
		if strings.HasPrefix(c.where(parent), "/proc") {
			return c.walk(base, path, end)
		}
		target, err := readlink(n.object, "")
		if err != nil {
			return node{}, errno(err)
		}
		base, path = parent, target+tail
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

// look opens what stands at the name of a node.
func (c *call) look(n node) node {
	fd, err := unix.Openat(n.dir, n.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		n.object = -1
		return n
	}
	n.object = c.hold(fd)
	return c.seen(n)
}

// seen fills in the kind of a node's object.
func (c *call) seen(n node) node {
	var st unix.Stat_t
	if n.object >= 0 && unix.Fstat(n.object, &st) == nil {
		n.kind = st.Mode & unix.S_IFMT
	}
	return n
}
