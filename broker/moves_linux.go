package broker

import (
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// two are the names that a move or a link is about.
type two struct{ src, dst node }

// pair reads and resolves both paths. The caller holds the lock on names.
func (c *call) pair(fromDir int, from string, toDir int, to string) (two, unix.Errno) {
	var t two
	base, e := c.base(fromDir, from)
	if e == 0 {
		t.src, e = c.name(base, from, kept)
	}
	if e != 0 {
		return t, e
	}
	if base, e = c.base(toDir, to); e == 0 {
		t.dst, e = c.name(base, to, kept)
	}
	return t, e
}

// paths reads two paths.
func (c *call) paths(a, b uint64) (first, second string, e unix.Errno) {
	if first, e = c.path(a); e == 0 {
		second, e = c.path(b)
	}
	return first, second, e
}

// refusal is the errno of a move that is denied: EXDEV where what would be gained or
// carried forbids it, as Landlock says, so that programs copy; EACCES otherwise.
func refusal(v ir.Verdict) unix.Errno {
	if v.Reason == ir.ReasonNoGain || v.Reason == ir.ReasonPinned {
		return unix.EXDEV
	}
	return unix.EACCES
}

func kindOf(n node) ir.NodeKind {
	switch {
	case n.object < 0:
		return ir.Absent
	case n.kind == unix.S_IFDIR:
		return ir.Dir
	default:
		return ir.File
	}
}

const renameFlags = unix.RENAME_NOREPLACE | unix.RENAME_EXCHANGE

// rename answers rename(2) and its kin. No other name changes meanwhile.
func (c *call) rename(fromDir, src, toDir, dst, flags uint64) answer {
	if flags&^renameFlags != 0 {
		return fails(unix.EINVAL)
	}
	from, to, e := c.paths(src, dst)
	if e != 0 {
		return fails(e)
	}
	c.names.Lock()
	defer c.names.Unlock()
	t, e := c.pair(dirfd(fromDir), from, dirfd(toDir), to)
	switch {
	case e != 0:
		return fails(e)
	case t.src.dir < 0 || t.dst.dir < 0:
		return fails(unix.EBUSY)
	case t.src.object < 0:
		return fails(unix.ENOENT)
	}
	if v := c.decide(c.moving(t, flags)); !v.Allowed() {
		return fails(refusal(v))
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	return result(c.do(func() error { return c.moved(t, flags) }))
}

// moving is the operation that a rename is.
func (c *call) moving(t two, flags uint64) ir.Operation {
	src, dst := c.place(t.src), c.place(t.dst)
	if flags&unix.RENAME_EXCHANGE != 0 {
		return ir.Exchange{A: src, B: dst, AKind: kindOf(t.src), BKind: kindOf(t.dst)}
	}
	return ir.Rename{Src: src, Dst: dst, SrcKind: kindOf(t.src), DstKind: kindOf(t.dst)}
}

// moved renames, and takes it back when something else than what was judged turns out
// to have been moved: where only moves are trapped, other names change in the kernel.
func (c *call) moved(t two, flags uint64) error {
	src, dst := t.src.name+t.src.tail, t.dst.name+t.dst.tail
	if err := unix.Renameat2(t.src.dir, src, t.dst.dir, dst, uint(flags)); err != nil {
		return err
	}
	now := c.look(node{dir: t.dst.dir, name: t.dst.name})
	if now.object < 0 || now.kind == t.src.kind {
		return nil
	}
	back := uint(unix.RENAME_NOREPLACE)
	if flags&unix.RENAME_EXCHANGE != 0 {
		back = unix.RENAME_EXCHANGE
	}
	_ = unix.Renameat2(t.dst.dir, t.dst.name, t.src.dir, t.src.name, back)
	return unix.EXDEV
}

// link answers link(2) and linkat(2). What is linked is what was judged, by its
// descriptor.
func (c *call) link(fromDir, src, toDir, dst, flags uint64) answer {
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return fails(unix.EINVAL)
	}
	from, to, e := c.paths(src, dst)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	obj, e := c.linked(dirfd(fromDir), from, flags)
	if e != 0 {
		return fails(e)
	}
	base, e := c.base(dirfd(toDir), to)
	if e != 0 {
		return fails(e)
	}
	n, e := c.name(base, to, kept)
	switch {
	case e != 0:
		return fails(e)
	case n.dir < 0 || n.object >= 0:
		return fails(unix.EEXIST)
	case c.seen(node{object: obj}).kind == unix.S_IFDIR:
		return fails(unix.EPERM)
	}
	if v := c.decide(ir.Link{Src: c.at(c.where(obj)), Dst: c.place(n)}); !v.Allowed() {
		return fails(refusal(v))
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	return result(c.do(func() error {
		return unix.Linkat(unix.AT_FDCWD, self(obj), n.dir, n.name+n.tail, unix.AT_SYMLINK_FOLLOW)
	}))
}

// linked opens what a link is to be made to. A descriptor alone may be linked by
// whoever has a capability, which the tool has not (linkat(2), AT_EMPTY_PATH).
func (c *call) linked(dir int, path string, flags uint64) (int, unix.Errno) {
	if path == "" {
		return -1, unix.ENOENT
	}
	base, e := c.base(dir, path)
	if e != 0 {
		return -1, e
	}
	end := kept
	if flags&unix.AT_SYMLINK_FOLLOW != 0 {
		end = followed
	}
	return c.object(base, path, end, 0)
}
