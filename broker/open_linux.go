package broker

import (
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// open answers open(2) and openat(2).
func (c *call) open(dir, path, flags, mode uint64) answer {
	return c.opened(dirfd(dir), path, unix.OpenHow{Flags: uint64(uint32(flags)), Mode: mode})
}

// open2 answers openat2(2). Flags that a later kernel adds to its structure are
// nothing that this broker could judge (E2BIG, as an older kernel says).
func (c *call) open2() answer {
	const sizeV0, words = 24, 3
	if c.args[3] < sizeV0 {
		return fails(unix.EINVAL)
	}
	if c.args[3] > sizeV0 {
		return fails(unix.E2BIG)
	}
	how, e := c.words(c.args[2], words)
	if e != 0 {
		return fails(e)
	}
	return c.opened(dirfd(c.args[0]), c.args[1], unix.OpenHow{Flags: how[0], Mode: how[1], Resolve: how[2]})
}

// tmpFile is the bit of O_TMPFILE that is its own.
const tmpFile = unix.O_TMPFILE &^ unix.O_DIRECTORY

const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | tmpFile

func (c *call) opened(dir int, addr uint64, how unix.OpenHow) answer {
	if how.Flags&unix.O_PATH != 0 || !c.traps.reads && how.Flags&writing == 0 {
		return proceed
	}
	path, e := c.path(addr)
	if e != 0 {
		return fails(e)
	}
	from := path
	if how.Resolve != 0 {
		// Under RESOLVE_IN_ROOT an absolute path starts from the directory as well.
		from = "."
	}
	base, e := c.base(dir, from)
	if e != 0 || !c.current() {
		return proceed
	}
	c.names.RLock()
	defer c.names.RUnlock()
	if how.Flags&unix.O_CREAT != 0 && how.Flags&tmpFile == 0 {
		return c.create(base, path, how)
	}
	end := followed
	if how.Flags&unix.O_NOFOLLOW != 0 {
		end = kept
	}
	obj, e := c.object(base, path, end, how.Resolve)
	if e != 0 {
		// The kernel finds the same fault, or something that the floor bounds.
		return proceed
	}
	return c.reopen(obj, how)
}

// needs are the capabilities that an open mode takes.
func needs(flags uint64) []ir.Capability {
	var out []ir.Capability
	mode := flags & unix.O_ACCMODE
	if mode != unix.O_WRONLY {
		out = append(out, ir.Read)
	}
	if mode != unix.O_RDONLY || flags&unix.O_TRUNC != 0 {
		out = append(out, ir.Update)
	}
	return out
}

// reopen judges what a path led to and opens it the way that was asked for.
func (c *call) reopen(obj int, how unix.OpenHow) answer {
	flags := how.Flags
	at := c.at(c.where(obj))
	n := c.seen(node{object: obj})
	if !c.governs(at) {
		c.foresee(at, kindOf(n), needs(flags)...)
		return proceed
	}
	kind := n.kind
	switch {
	case kind == unix.S_IFLNK:
		return fails(unix.ELOOP)
	case flags&tmpFile != 0:
		return c.unnamed(obj, at, how)
	case !c.may(at, needs(flags)...):
		return fails(unix.EACCES)
	}
	open := func() answer {
		return c.handed(flags, func() (int, error) {
			return unix.Open(self(obj), int(flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW))|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		})
	}
	if kind == unix.S_IFREG || kind == unix.S_IFDIR || flags&unix.O_NONBLOCK != 0 {
		return open()
	}
	c.names.RUnlock()
	defer c.names.RLock()
	return c.patiently(open)
}

// handed opens something for the caller.
func (c *call) handed(flags uint64, open func() (int, error)) answer {
	fd := -1
	err := c.do(func() (err error) { fd, err = open(); return err })
	if err != nil {
		return result(err)
	}
	return answer{hand: true, fd: fd, closeOn: flags&unix.O_CLOEXEC != 0}
}

// unnamed opens a file without a name (O_TMPFILE) in a directory. It can get a name
// only by a link, which is judged by itself, so that either right to write will do.
func (c *call) unnamed(dir int, at ir.Place, how unix.OpenHow) answer {
	inside := ir.Direct(at.At.Child("#"))
	if !c.may(inside, ir.Create) && !c.may(inside, ir.Update) || how.Flags&unix.O_ACCMODE == unix.O_RDWR && !c.may(inside, ir.Read) {
		return fails(unix.EACCES)
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	return c.handed(how.Flags, func() (int, error) {
		c.umask()
		return unix.Open(self(dir), int(how.Flags)|unix.O_CLOEXEC, uint32(how.Mode))
	})
}

// create opens a name that is made if it does not exist.
func (c *call) create(base int, path string, how unix.OpenHow) answer {
	end := followed
	if how.Flags&(unix.O_NOFOLLOW|unix.O_EXCL) != 0 {
		end = kept
	}
	for range maxTries {
		n, e := c.scoped(base, path, end, how.Resolve)
		switch {
		case e != 0:
			return fails(e)
		case n.object >= 0 && how.Flags&unix.O_EXCL != 0:
			return fails(unix.EEXIST)
		case n.kind == unix.S_IFDIR || n.tail != "":
			return fails(unix.EISDIR)
		case n.object >= 0:
			return c.reopen(n.object, how)
		}
		at := c.at(below(c.where(n.dir), n.name))
		if !c.governs(at) {
			c.foresee(at, ir.File, ir.Create)
			return proceed
		}
		need := []ir.Capability{ir.Create}
		if how.Flags&unix.O_ACCMODE != unix.O_WRONLY {
			need = append(need, ir.Read)
		}
		if !c.may(at, need...) {
			return fails(unix.EACCES)
		}
		if !c.current() {
			return fails(unix.EINTR)
		}
		a := c.handed(how.Flags, func() (int, error) {
			c.umask()
			flags := int(how.Flags) | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
			return unix.Openat(n.dir, n.name, flags, uint32(how.Mode))
		})
		if a.errno != unix.EEXIST {
			return a
		}
	}
	return fails(unix.EAGAIN)
}

// maxTries is how often a name is looked at again that others make and remove.
const maxTries = 16

// scoped resolves a name with the restrictions of openat2(2). A symlink at the end is
// not followed under them: where it leads, they would have to be asked again.
func (c *call) scoped(base int, path string, end follow, resolve uint64) (node, unix.Errno) {
	if resolve == 0 {
		return c.name(base, path, end)
	}
	dir, last, tail := split(path)
	if last == "" || last == "." || last == ".." {
		return node{}, unix.EISDIR
	}
	parent, e := c.object(base, dir, followed, resolve)
	if e != 0 {
		return node{}, e
	}
	n := c.look(node{dir: parent, name: last, tail: tail})
	if n.kind == unix.S_IFLNK {
		return n, unix.ELOOP
	}
	return n, 0
}
