package supervisor

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// walk resolves a path one component after the other, as the tool would see it: /proc/self is
// the tool's, magic links (proc(5): cwd, root, exe, fd/N) are followed where they belong to a
// process of the sandbox, and the shared memory is the run's.
func (r *resolver) walk(base int, path string, end follow) (node, unix.Errno) {
	w := walker{resolver: r, at: node{dir: -1, object: base}}
	if at, known := inode(base); known {
		if dir, ok := r.box.shared.stands(at); ok {
			w.at.object = dir
		}
	}
	w.push(path)
	for len(w.rest) > 0 {
		if done, e := w.step(end); e != 0 || done {
			return w.at, e
		}
	}
	w.at.dir = -1
	return w.at, errno(unix.Fstat(w.at.object, &w.at.st))
}

// walker is a path on its way: at is the file that it has come to, rest the names to come.
type walker struct {
	*resolver
	at    node
	rest  []string
	links int
}

func (w *walker) push(text string) {
	if strings.HasPrefix(text, "/") {
		w.at = node{dir: -1, object: w.box.root}
	}
	w.rest = append(strings.Split(text, "/"), w.rest...)
}

// step takes one name, and reports whether the path ends there.
func (w *walker) step(end follow) (done bool, e unix.Errno) {
	name := w.rest[0]
	w.rest = w.rest[1:]
	switch name {
	case "", ".":
		return false, 0
	case "..":
		up, err := unix.Openat(w.at.object, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return false, errno(err)
		}
		w.at = node{dir: -1, object: w.hold(up)}
		return false, 0
	}
	if own, ok := w.ownProcess(w.at.object, name); ok {
		w.rest = slices.Concat(own, w.rest)
		return false, 0
	}
	n, e := w.look(w.at.object, name)
	if e != 0 {
		return false, e
	}
	last, tail := remaining(w.rest)
	switch {
	case n.kind() == unix.S_IFLNK && (!last || end == followed || tail != ""):
		return false, w.link(n)
	case n.object >= 0:
		if dir, ok := w.box.shared.stands(Inode{n.st.Dev, n.st.Ino}); ok {
			n.object = dir
		}
	case !last:
		return false, unix.ENOENT
	}
	n.tail = tail
	w.at = n
	return last, 0
}

// link follows a symlink.
func (w *walker) link(n node) unix.Errno {
	if w.links++; w.links > maxLinks {
		return unix.ELOOP
	}
	next, text, e := w.leads(n)
	switch {
	case e != 0:
		return e
	case text != "":
		w.push(text)
	default:
		w.at = next
	}
	return 0
}

// remaining reports whether no further name follows, and returns the slash if a name follows.
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

// ownProcess replaces the names in the root of a proc file system that mean the calling
// process.
func (r *resolver) ownProcess(dir int, name string) ([]string, bool) {
	if name != "self" && name != "thread-self" || !isProc(dir, true) {
		return nil, false
	}
	process := strconv.Itoa(r.process())
	if name == "self" {
		return []string{process}, true
	}
	return []string{process, "task", strconv.Itoa(r.tid)}, true
}

// procRoot is the inode number of the root of a proc file system (PROC_ROOT_INO,
// include/linux/proc_fs.h).
const procRoot = 1

func isProc(fd int, root bool) bool {
	var fs unix.Statfs_t
	var st unix.Stat_t
	return unix.Fstatfs(fd, &fs) == nil && fs.Type == unix.PROC_SUPER_MAGIC &&
		(!root || unix.Fstat(fd, &st) == nil && st.Ino == procRoot)
}

// leads follows one symlink: a magic one to a file, any other to its text.
func (r *resolver) leads(n node) (next node, text string, e unix.Errno) {
	if isProc(n.dir, false) {
		if next, e, magic := r.jump(n); magic {
			return next, "", e
		}
	}
	text, err := readlink(n.object, "")
	if err == nil && text == "" {
		err = unix.ENOENT
	}
	return node{}, text, errno(err)
}

// jump follows a magic link of a process of the sandbox. The links of others lead to
// files that the tool may not reach (ptrace(2), PTRACE_MODE_READ_FSCREDS).
func (r *resolver) jump(n node) (next node, e unix.Errno, magic bool) {
	below, ok := strings.CutPrefix(where(n.dir), "/proc/")
	if !ok {
		return node{}, 0, false
	}
	first, dir, _ := strings.Cut(below, "/")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return node{}, 0, false
	}
	if !r.box.ours(pid) || !r.reaches(pid) {
		r.deny("a link of a process outside of the sandbox")
		return node{}, unix.EACCES, true
	}
	fd, err := unix.Openat(n.dir, n.name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return node{}, errno(err), true
	}
	next = node{dir: -1, object: r.hold(fd)}
	if number, err := strconv.Atoi(n.name); err == nil && strings.HasSuffix("/"+dir, "/fd") {
		next.standard = r.asStandard(number, fd)
	}
	return next, errno(unix.Fstat(fd, &next.st)), true
}

// asStandard returns the standard descriptor behind a descriptor of a process, nil if it is none of 0 to 2 that the
// tool was started with. Other descriptors lead to files with rules. What the process has there
// now does not count: it may be another descriptor of the same file, with other flags or none (O_PATH).
func (r *resolver) asStandard(number, fd int) *given {
	if number < 0 || number >= len(r.box.given) {
		return nil
	}
	if g := &r.box.given[number]; g.is(fd) {
		return g
	}
	return nil
}
