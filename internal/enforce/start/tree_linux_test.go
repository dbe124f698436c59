package start_test

import (
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// inode is a file of the model tree: its type (S_IFMT), the target of a symlink, and the
// contents of a regular file.
type inode struct {
	kind   uint32
	target string
	holds  string
	// ino is its number on disk, once it has been looked at.
	ino uint64
}

// entry is a name in a directory with the file that has it. A descriptor is of an entry: the
// kernel says where that is now (d_path() in fs/d_path.c). One that is gone is where its
// name was, and moves on with its directory.
type entry struct {
	up   *entry
	name string
	file *inode
	kids []*entry
	gone bool
	// strayed is set for an entry that another process has moved, or made at another place.
	strayed bool
}

func (e *entry) dir() bool     { return e.file.kind == unix.S_IFDIR }
func (e *entry) symlink() bool { return e.file.kind == unix.S_IFLNK }

func (e *entry) kid(name string) *entry {
	for _, k := range e.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// path is where an entry is, relative to the top of the tree.
func (e *entry) path() string {
	if e.up == nil {
		return ""
	}
	return strings.TrimPrefix(e.up.path()+"/"+e.name, "/")
}

// under reports whether an entry is at or below another one.
func (e *entry) under(d *entry) bool {
	for ; e != nil; e = e.up {
		if e == d {
			return true
		}
	}
	return false
}

// nslots is how many descriptors the tool keeps.
const nslots = 6

// slot is a descriptor that the tool keeps; path is true for O_PATH.
type slot struct {
	at   *entry
	path bool
}

// tree is the contents of a test's directory, by a naive reading of path_resolution(7): the
// workspace, a directory outside of it, and the descriptors that the tool keeps of both.
type tree struct {
	top *entry
	// dir is the path of the top.
	dir   string
	cwd   *entry
	slots [nslots]slot
	// lost are entries that are gone, nil where they are not kept.
	lost []*entry
}

// The names in the top directory.
const inWorkspace, inOutside = "ws", "outside"

func newTree(dir string) *tree {
	t := &tree{dir: dir, top: &entry{file: &inode{kind: unix.S_IFDIR}}}
	for _, name := range []string{inWorkspace, inOutside} {
		t.put(t.top, name, &inode{kind: unix.S_IFDIR})
	}
	t.cwd = t.top.kid(inWorkspace)
	return t
}

func (t *tree) put(dir *entry, name string, f *inode) *entry {
	e := &entry{up: dir, name: name, file: f}
	dir.kids = append(dir.kids, e)
	return e
}

// drop removes a name, with everything below it.
func (t *tree) drop(e *entry) {
	for len(e.kids) > 0 {
		t.drop(e.kids[0])
	}
	e.gone = true
	if t.lost != nil {
		t.lost = append(t.lost, e)
	}
	e.up.kids = slices.DeleteFunc(e.up.kids, func(k *entry) bool { return k == e })
}

// move gives an entry another name, whose own entry is gone then.
func (t *tree) move(e, dir *entry, name string) {
	if old := dir.kid(name); old != nil {
		t.drop(old)
	}
	e.up.kids = slices.DeleteFunc(e.up.kids, func(k *entry) bool { return k == e })
	e.up, e.name = dir, name
	dir.kids = append(dir.kids, e)
}

func (t *tree) exchange(a, b *entry) {
	if a.file == b.file {
		return // two names of one file stay as they are (vfs_rename() in fs/namei.c)
	}
	swap := func(e, with *entry) { e.up.kids[slices.Index(e.up.kids, e)] = with }
	if a.up == b.up {
		a.name, b.name = b.name, a.name
		return
	}
	swap(a, b)
	swap(b, a)
	a.up, b.up = b.up, a.up
	a.name, b.name = b.name, a.name
}

// clone copies the tree with the descriptors that the tool keeps of it. Inodes are shared where
// nothing but names changes.
func (t *tree) clone() *tree {
	copies := map[*entry]*entry{}
	inodes := map[*inode]*inode{}
	var of func(e *entry) *entry
	of = func(e *entry) *entry {
		if e == nil {
			return nil
		}
		if c := copies[e]; c != nil {
			return c
		}
		c := &entry{name: e.name, gone: e.gone, strayed: e.strayed}
		copies[e] = c
		if c.file = inodes[e.file]; c.file == nil {
			f := *e.file
			c.file = &f
			inodes[e.file] = c.file
		}
		c.up = of(e.up)
		for _, k := range e.kids {
			c.kids = append(c.kids, of(k))
		}
		return c
	}
	out := &tree{top: of(t.top), dir: t.dir, cwd: of(t.cwd)}
	for i, s := range t.slots {
		out.slots[i] = slot{of(s.at), s.path}
	}
	for _, e := range t.lost {
		out.lost = append(out.lost, of(e))
	}
	return out
}

// all lists the entries below one, itself included, in the order of a walk.
func (e *entry) all() []*entry {
	out := []*entry{e}
	for _, k := range e.kids {
		out = append(out, k.all()...)
	}
	return out
}

// found is where a path leads.
type found struct {
	// dir and name are of the last name, at the entry that has it; dir is nil where the path
	// ends in no name of its own.
	dir  *entry
	name string
	at   *entry
	// tail is set where a slash stands behind the name.
	tail bool
	// links and dots say whether a symlink or ".." was on the way.
	links int
	dots  bool
	e     syscall.Errno
}

// lost is the result of a path that leads nowhere.
func lost(e syscall.Errno, w *pathWalk) found { return found{e: e, links: w.links, dots: w.dots} }

// pathWalk is a path on its way.
type pathWalk struct {
	t     *tree
	links int
	dots  bool
	// root is the entry that is taken for the root directory and never left, nil for none.
	root *entry
}

const mostLinks = 40

// lastly is the treatment of a symlink that a path ends in: it is followed; it is kept, but for
// a slash behind it; or the name itself is meant.
type lastly int

const (
	isFollowed lastly = iota
	isKept
	isNamed
)

// walk resolves a path from an entry.
func (w *pathWalk) walk(from *entry, path string, end lastly) found {
	if strings.HasPrefix(path, "/") && w.root != nil {
		from, path = w.root, strings.TrimLeft(path, "/")
	}
	if strings.HasPrefix(path, "/") {
		rest, inside := strings.CutPrefix(path+"/", w.t.dir+"/")
		if !inside {
			return lost(syscall.ENOENT, w) // nothing else is asked for by absolute paths
		}
		from, path = w.t.top, strings.TrimSuffix(rest, "/")
		if path == "" {
			return found{at: from, links: w.links, dots: w.dots}
		}
	}
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	tail := strings.HasSuffix(path, "/")
	for i, name := range names {
		last := i+1 == len(names)
		switch {
		case !from.dir():
			return lost(syscall.ENOTDIR, w)
		case name == ".":
			continue
		case name == "..":
			w.dots = true
			if from == w.root {
				continue
			}
			if from.up == nil {
				return lost(syscall.ENOENT, w) // nothing above the tree is named
			}
			from = from.up
			continue
		}
		k := from.kid(name)
		if from.gone {
			return lost(syscall.ENOENT, w)
		}
		if k != nil && k.symlink() && (!last || end == isFollowed || end == isKept && tail) {
			if w.links++; w.links > mostLinks {
				return lost(syscall.ELOOP, w)
			}
			rest := k.file.target
			if !last {
				rest += "/" + strings.Join(names[i+1:], "/")
			}
			if tail {
				rest += "/"
			}
			return w.walk(from, rest, end)
		}
		switch {
		case last && k != nil && tail && !k.dir() && end != isNamed:
			return found{dir: from, name: name, at: k, tail: tail, links: w.links, dots: w.dots, e: syscall.ENOTDIR}
		case last:
			return found{dir: from, name: name, at: k, tail: tail, links: w.links, dots: w.dots}
		case k == nil:
			return lost(syscall.ENOENT, w)
		}
		from = k
	}
	if tail && !from.dir() {
		return lost(syscall.ENOTDIR, w)
	}
	return found{at: from, links: w.links, dots: w.dots}
}

// spot is a path as the tool names it: How is one of the ways of ways, Slot the descriptor
// that it starts from, where it starts from one, Rest the path below.
type spot struct {
	How  string `json:",omitempty"`
	Slot int    `json:",omitempty"`
	Rest string `json:",omitempty"`
}

// ways are the spellings. In those of the second list paths begin at the working directory,
// in those of the third at a descriptor that is kept, in the others at the workspace.
var (
	fromRoot  = []string{"absolute", "dots", "slashes", "root", "symlink", "opened"}
	fromCwd   = []string{"relative", "here", "cwd", "thread"}
	fromSlot  = []string{"descriptor", "magic", "process"}
	emptyPath = "empty"
	ways      = append(append(append([]string{"tail", emptyPath}, fromRoot...), fromCwd...), fromSlot...)
)

// resolve finds where a spot leads.
func (t *tree) resolve(s spot, end lastly) found {
	w := &pathWalk{t: t}
	switch {
	case slices.Contains(fromSlot, s.How), s.How == emptyPath:
		at := t.slots[s.Slot].at
		switch {
		case at == nil:
			return found{e: syscall.EBADF}
		case strings.HasPrefix(s.Rest, "/"):
			return found{e: syscall.EINVAL} // is not made
		case s.Rest == "":
			return found{at: at}
		}
		return w.walk(at, s.Rest, end)
	case slices.Contains(fromCwd, s.How):
		if s.Rest == "" {
			return found{at: t.cwd}
		}
		return w.walk(t.cwd, s.Rest, end)
	case s.How == "opened":
		return t.throughDir(w, s.Rest, end)
	default:
		return w.walk(t.top, inWorkspace+"/"+s.Rest, end)
	}
}

// resolveIn finds where a spot leads whose first directory is taken for the root.
func (t *tree) resolveIn(s spot, end lastly) found {
	base := map[string]*entry{"relative": t.cwd, "here": t.cwd, "descriptor": t.slots[s.Slot].at}[s.How]
	if base == nil || s.Rest == "" {
		return found{e: syscall.ENOENT} // nothing in the tree has the name of a directory above it
	}
	w := &pathWalk{t: t, root: base}
	return w.walk(base, s.Rest, end)
}

// throughDir resolves a path whose directory is opened first.
func (t *tree) throughDir(w *pathWalk, rest string, end lastly) found {
	dir, last := splitPath(rest)
	d := w.walk(t.top, inWorkspace+"/"+dir, isFollowed)
	switch {
	case d.e != 0:
		return d
	case d.at == nil:
		return lost(syscall.ENOENT, w)
	}
	return w.walk(d.at, last, end)
}

// splitPath cuts the last name off a path.
func splitPath(p string) (dir, last string) {
	trimmed := strings.TrimRight(p, "/")
	i := strings.LastIndexByte(trimmed, '/') + 1
	return p[:i], p[i:]
}
