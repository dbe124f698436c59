package broker

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// walk resolves a path one component after the other, as the tool would see it:
// /proc/self is the tool's, and magic links (proc(5): cwd, root, exe, fd/N) are
// followed where they are those of a process of the sandbox.
func (c *call) walk(base int, path string, end follow) (node, unix.Errno) {
	cur, rest := base, []string{}
	push := func(text string) {
		if strings.HasPrefix(text, "/") {
			cur = c.root
		}
		rest = append(strings.Split(text, "/"), rest...)
	}
	push(path)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		last, tail := remaining(rest)
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			up, err := unix.Openat(cur, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				return node{}, errno(err)
			}
			cur = c.hold(up)
			continue
		}
		if own, ok := c.ownProcess(cur, name); ok {
			rest = slices.Concat(own, rest)
			continue
		}
		n := c.look(node{dir: cur, name: name})
		link := n.kind == unix.S_IFLNK && (!last || end == followed || tail != "")
		switch {
		case link:
			if links++; links > maxLinks {
				return node{}, unix.ELOOP
			}
			next, text, e := c.step(n)
			if e != 0 {
				return node{}, e
			}
			if next < 0 {
				push(text)
			} else {
				cur = next
			}
		case last:
			n.tail = tail
			return n, 0
		case n.object < 0:
			return node{}, unix.ENOENT
		default:
			cur = n.object
		}
	}
	return c.seen(node{dir: -1, object: cur}), 0
}

// remaining reports whether no further name follows, and the slash that does.
func remaining(rest []string) (last bool, tail string) {
	for _, r := range rest {
		if r != "" {
			return false, ""
		}
	}
	if len(rest) > 0 {
		return true, "/"
	}
	return true, ""
}

// ownProcess replaces the names in the root of a proc filesystem that mean whoever
// asks.
func (c *call) ownProcess(dir int, name string) ([]string, bool) {
	if name != "self" && name != "thread-self" || !isProc(dir, true) {
		return nil, false
	}
	process := strconv.Itoa(c.process())
	if name == "self" {
		return []string{process}, true
	}
	return []string{process, "task", strconv.Itoa(c.tid)}, true
}

// procRoot is the inode number of the root of a proc filesystem (PROC_ROOT_INO,
// include/linux/proc_fs.h).
const procRoot = 1

func isProc(fd int, root bool) bool {
	var fs unix.Statfs_t
	var st unix.Stat_t
	return unix.Fstatfs(fd, &fs) == nil && fs.Type == unix.PROC_SUPER_MAGIC &&
		(!root || unix.Fstat(fd, &st) == nil && st.Ino == procRoot)
}

// step follows one symlink: a magic one to a descriptor, any other to its text.
func (c *call) step(n node) (next int, text string, e unix.Errno) {
	if isProc(n.dir, false) {
		if next, e, magic := c.jump(n); magic {
			return next, "", e
		}
	}
	text, err := readlink(n.object, "")
	if err == nil && text == "" {
		err = unix.ENOENT
	}
	return -1, text, errno(err)
}

// jump follows a magic link of a process of the sandbox. The links of others lead to
// what the tool may not reach (ptrace(2), PTRACE_MODE_READ_FSCREDS).
func (c *call) jump(n node) (next int, e unix.Errno, magic bool) {
	below, ok := strings.CutPrefix(c.where(n.dir), "/proc/")
	if !ok {
		return -1, 0, false
	}
	first, _, _ := strings.Cut(below, "/")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return -1, 0, false
	}
	if !c.ours(pid) || !c.reaches(pid) {
		c.deny("a link of a process outside of the sandbox")
		return -1, unix.EACCES, true
	}
	fd, err := unix.Openat(n.dir, n.name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, errno(err), true
	}
	return c.hold(fd), 0, true
}
