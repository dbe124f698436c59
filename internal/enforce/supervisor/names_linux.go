package supervisor

import (
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// entries answers the calls that make or remove a name, and truncate(2).
type entries struct{ *call }

// named resolves the path of a call that makes or removes a name, and judges it. Faults that
// the kernel finds before it checks the permission come first: names and types of files are not
// protected.
func (c entries) named(dir int, addr uint64, change naming, act func(node) error) answer {
	path, e := c.path(addr)
	if e != 0 {
		return fails(e)
	}
	base, e := c.paths.base(dir, path)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	n, e := c.paths.name(base, path, kept)
	if e == 0 {
		e = change.fault(&n)
	}
	switch {
	case e != 0:
		return fails(e)
	case change.need == ir.Delete && c.locked.named(&n): // git gives a change up
	case !c.permits(c.policy.decide(ir.Access{Cap: change.need, On: c.paths.place(n), Name: change.kind(&n)})):
		return fails(unix.EACCES)
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	err := c.change(change.alters(&n), func() error { return act(n) })
	if change.need == ir.Delete && err == nil {
		c.locked.drop(&n)
	}
	return result(err)
}

// naming is the making or the removal of a name.
type naming struct {
	need ir.Capability
	// makes is the kind of a name to be made; directory says whether a name to be removed must
	// name a directory.
	makes     ir.NameKind
	directory bool
}

// alters is what the change of a name alters.
func (m naming) alters(n *node) alters {
	a := namings(n)
	if a.makes = m.need == ir.Create; !a.makes {
		a.lost = n.object
	}
	return a
}

// fault is the error that the kernel finds first (filename_create() and do_unlinkat() in
// fs/namei.c, may_delete() behind the hooks of security modules).
func (m naming) fault(n *node) unix.Errno {
	switch {
	case m.need == ir.Create && (n.dir < 0 || n.object >= 0):
		return unix.EEXIST
	case m.need == ir.Create && n.tail != "" && m.makes != ir.NameDir:
		return unix.ENOENT
	case m.need == ir.Create:
		return 0
	case n.dir < 0:
		return m.nameless(n.name)
	case n.object < 0:
		return unix.ENOENT
	case !m.directory && n.kind() == unix.S_IFDIR:
		return unix.EISDIR
	case n.kind() != unix.S_IFDIR && (m.directory || n.tail != ""):
		return unix.ENOTDIR
	}
	return 0
}

// nameless is the error for removing a path that does not end in a name.
func (m naming) nameless(last string) unix.Errno {
	switch {
	case !m.directory:
		return unix.EISDIR
	case last == ".":
		return unix.EINVAL
	case last == "..":
		return unix.ENOTEMPTY
	default:
		return unix.EBUSY
	}
}

// kind is the kind of file that the name is made for, or had.
func (m naming) kind(n *node) ir.NameKind {
	if m.need == ir.Create {
		return m.makes
	}
	return nameKind(n)
}

// nameKind is the kind of an existing name.
func nameKind(n *node) ir.NameKind {
	switch n.kind() {
	case unix.S_IFDIR:
		return ir.NameDir
	case unix.S_IFLNK:
		return ir.NameLink
	default:
		return ir.NameFile
	}
}

// place is where a name is.
func (r *resolver) place(n node) ir.Place { return r.box.at(below(where(n.dir), n.name)) }

func (c entries) mkdir(dir, path, mode uint64) answer {
	return c.named(dirfd(dir), path, naming{need: ir.Create, makes: ir.NameDir}, func(n node) error {
		c.umask()
		return unix.Mkdirat(n.dir, n.name, uint32(mode))
	})
}

// mknod makes files, fifos and sockets. A device would be a way around the rules, and so would
// a program that runs as its owner, which the filter refuses.
func (c entries) mknod(dir, path, mode uint64) answer {
	switch uint32(mode) & unix.S_IFMT {
	case 0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
	default:
		return c.denies(unix.EPERM, "a device would be a way around the rules")
	}
	return c.named(dirfd(dir), path, naming{need: ir.Create, makes: ir.NameFile}, func(n node) error {
		c.umask()
		return unix.Mknodat(n.dir, n.name, uint32(mode), 0)
	})
}

func (c entries) symlink(target, dir, path uint64) answer {
	text, e := c.path(target)
	if e != 0 {
		return fails(e)
	}
	if text == "" {
		return fails(unix.ENOENT)
	}
	return c.named(dirfd(dir), path, naming{need: ir.Create, makes: ir.NameLink}, func(n node) error {
		return unix.Symlinkat(text, n.dir, n.name)
	})
}

func (c entries) unlink(dir, path, flags uint64) answer {
	if flags&^unix.AT_REMOVEDIR != 0 {
		return fails(unix.EINVAL)
	}
	change := naming{need: ir.Delete, directory: flags&unix.AT_REMOVEDIR != 0}
	return c.named(dirfd(dir), path, change, func(n node) error { return unix.Unlinkat(n.dir, n.name, int(flags)) })
}

// truncate answers truncate(2); a descriptor for ftruncate(2) was judged when it was opened.
func (c entries) truncate() answer {
	size := int64(c.args[1])
	if size < 0 {
		return fails(unix.EINVAL) // do_sys_truncate() in fs/open.c looks for this first
	}
	path, e := c.path(c.args[0])
	if e != 0 {
		return fails(e)
	}
	base, e := c.paths.base(unix.AT_FDCWD, path)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	n, e := c.paths.object(base, path, followed, 0)
	switch {
	case e != 0:
		return fails(e)
	case n.kind() == unix.S_IFDIR:
		return fails(unix.EISDIR)
	case n.kind() != unix.S_IFREG:
		return fails(unix.EINVAL)
	case !c.permits(c.policy.access(c.box.at(where(n.object)), ir.Update)):
		return fails(unix.EACCES)
	case !c.current():
		return fails(unix.EINTR)
	case size > n.st.Size && c.exceeds(size):
		return fails(unix.EFBIG)
	}
	a := namings()
	a.held = n.object
	return result(c.change(a, func() error { return unix.Truncate(self(n.object), size) }))
}

// exceeds reports whether the limit of the caller keeps a file from growing to a size, and if
// so sends the caller the signal for that (setrlimit(2), RLIMIT_FSIZE).
func (c entries) exceeds(size int64) bool {
	var limit unix.Rlimit
	if unix.Prlimit(c.process(), unix.RLIMIT_FSIZE, nil, &limit) != nil || uint64(size) <= limit.Cur {
		return false
	}
	_ = unix.Tgkill(c.process(), c.tid, unix.SIGXFSZ)
	return true
}
