package broker

import (
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// named resolves the path of a call that makes or removes a name, and judges it.
func (c *call) named(dir int, addr uint64, need ir.Capability, act func(node) error) answer {
	path, e := c.path(addr)
	if e != 0 {
		return fails(e)
	}
	base, e := c.base(dir, path)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	n, e := c.name(base, path, kept)
	switch {
	case e != 0:
		return fails(e)
	case n.dir < 0:
		return fails(nameless(n.name, need))
	case !c.may(c.place(n), need):
		return fails(unix.EACCES)
	case !c.current():
		return fails(unix.EINTR)
	}
	return result(c.do(func() error { return act(n) }))
}

// nameless is what the kernel says of a path that ends in no name (fs/namei.c).
func nameless(last string, need ir.Capability) unix.Errno {
	switch {
	case need == ir.Create:
		return unix.EEXIST
	case last == ".":
		return unix.EINVAL
	case last == "..":
		return unix.ENOTEMPTY
	default:
		return unix.EBUSY
	}
}

// place is where a name is.
func (c *call) place(n node) ir.Place { return c.at(below(c.where(n.dir), n.name)) }

func (c *call) mkdir(dir, path, mode uint64) answer {
	return c.named(dirfd(dir), path, ir.Create, func(n node) error {
		c.umask()
		return unix.Mkdirat(n.dir, n.name, uint32(mode))
	})
}

// mknod makes files, fifos and sockets. A device would be a way around the floor.
func (c *call) mknod(dir, path, mode uint64) answer {
	switch uint32(mode) & unix.S_IFMT {
	case 0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
	default:
		return c.denies(unix.EPERM, "a device would be a way around the rules")
	}
	return c.named(dirfd(dir), path, ir.Create, func(n node) error {
		c.umask()
		return unix.Mknodat(n.dir, n.name+n.tail, uint32(mode), 0)
	})
}

func (c *call) symlink(target, dir, path uint64) answer {
	text, e := c.path(target)
	if e != 0 {
		return fails(e)
	}
	return c.named(dirfd(dir), path, ir.Create, func(n node) error { return unix.Symlinkat(text, n.dir, n.name+n.tail) })
}

func (c *call) unlink(dir, path, flags uint64) answer {
	return c.named(dirfd(dir), path, ir.Delete, func(n node) error {
		return unix.Unlinkat(n.dir, n.name+n.tail, int(flags))
	})
}

// truncate answers truncate(2); ftruncate(2) needs a descriptor that was judged when
// it was opened.
func (c *call) truncate() answer {
	path, e := c.path(c.args[0])
	if e != 0 {
		return fails(e)
	}
	base, e := c.base(unix.AT_FDCWD, path)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	obj, e := c.object(base, path, followed, 0)
	switch {
	case e != 0:
		return fails(e)
	case !c.may(c.at(c.where(obj)), ir.Update):
		return fails(unix.EACCES)
	case !c.current():
		return fails(unix.EINTR)
	}
	return result(c.do(func() error { return unix.Truncate(self(obj), int64(c.args[1])) }))
}
