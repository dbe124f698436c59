package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// moves answers the calls that move or link a file.
type moves struct{ *call }

// two are the names of a move or a link.
type two struct{ src, dst node }

// pair reads and resolves both paths. The caller holds the lock on names.
func (c moves) pair(fromDir int, from string, toDir int, to string) (two, unix.Errno) {
	t := two{src: node{object: -1}, dst: node{object: -1}}
	base, e := c.paths.base(fromDir, from)
	if e == 0 {
		t.src, e = c.paths.name(base, from, kept)
	}
	if e != 0 {
		return t, e
	}
	if base, e = c.paths.base(toDir, to); e == 0 {
		t.dst, e = c.paths.name(base, to, kept)
	}
	return t, e
}

// both reads two paths.
func (c moves) both(a, b uint64) (first, second string, e unix.Errno) {
	if first, e = c.path(a); e == 0 {
		second, e = c.path(b)
	}
	return first, second, e
}

// refusal is the errno of a denied move: EXDEV for an escalation or a pinned name, as Landlock
// answers, so that programs copy; EACCES otherwise.
func refusal(v ir.Verdict) unix.Errno {
	if v.Reason == ir.ReasonNoGain || v.Reason == ir.ReasonPinned {
		return unix.EXDEV
	}
	return unix.EACCES
}

func kindOf(n *node) ir.NodeKind {
	switch {
	case n.object < 0:
		return ir.Absent
	case n.kind() == unix.S_IFDIR:
		return ir.Dir
	default:
		return ir.File
	}
}

const renameFlags = unix.RENAME_NOREPLACE | unix.RENAME_EXCHANGE

// rename answers rename(2) and its kin. It holds the lock on names, so no other call of the
// tool changes a name meanwhile.
func (c moves) rename(fromDir, src, toDir, dst, flags uint64) answer {
	if flags&^renameFlags != 0 {
		return fails(unix.EINVAL)
	}
	from, to, e := c.both(src, dst)
	if e != 0 {
		return fails(e)
	}
	c.names.Lock()
	defer c.names.Unlock()
	for range maxTries {
		t, e := c.pair(dirfd(fromDir), from, dirfd(toDir), to)
		if e == 0 {
			e = t.fault(flags)
		}
		if e != 0 {
			return fails(e)
		}
		if made := c.amends(t, flags); made != nil {
			return c.amend(t, made)
		}
		if j := c.policy.decide(c.moving(t, flags)); !c.permits(j) {
			return fails(refusal(j.verdict))
		}
		if !c.current() {
			return fails(unix.EINTR)
		}
		if c.uncompared.Load() && c.strands(t, flags) {
			return c.denies(unix.EXDEV, whyUncompared)
		}
		c.carries(&t.src)
		if flags&unix.RENAME_EXCHANGE != 0 {
			c.carries(&t.dst)
		}
		exchange := flags&unix.RENAME_EXCHANGE != 0
		if c.carriesOff(&t.src, &t.dst, exchange) {
			return fails(unix.EXDEV)
		}
		a := namings(&t.src, &t.dst)
		if !exchange {
			a.lost = t.dst.object
		}
		err := c.change(a, func() error { return c.moved(t, flags) })
		if err == nil {
			c.followsMove(&t.src, &t.dst, exchange)
		}
		if err != errTaken {
			return result(err)
		}
	}
	return fails(unix.EAGAIN)
}

// errTaken says that another process has taken or removed the new name since the move was
// judged; the supervisor then judges again.
var errTaken = errors.New("the name has changed")

// fault is the error that the kernel finds first (do_renameat2() in fs/namei.c).
func (t *two) fault(flags uint64) unix.Errno {
	exchange := flags&unix.RENAME_EXCHANGE != 0
	switch {
	case flags&(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) == unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE:
		return unix.EINVAL
	case t.src.dir < 0 || t.dst.dir < 0 && flags&unix.RENAME_NOREPLACE == 0:
		return unix.EBUSY
	case t.dst.dir < 0:
		return unix.EEXIST
	case t.src.object < 0 || exchange && t.dst.object < 0:
		return unix.ENOENT
	case flags&unix.RENAME_NOREPLACE != 0 && t.dst.object >= 0:
		return unix.EEXIST
	case t.src.kind() != unix.S_IFDIR && (t.src.tail != "" || !exchange && t.dst.tail != ""):
		return unix.ENOTDIR
	}
	return 0
}

// carries records, before the move, that a file which the ruleset lets be started by a rule of
// its own gets another place: from now on the ruleset may start files that the policy does not.
func (c moves) carries(n *node) {
	if c.grants[Inode{n.st.Dev, n.st.Ino}]&toStart != 0 {
		c.carried.Store(true)
	}
}

// moving is the operation of a rename.
func (c moves) moving(t two, flags uint64) ir.Operation {
	src, dst := c.paths.place(t.src), c.paths.place(t.dst)
	if flags&unix.RENAME_EXCHANGE != 0 {
		return ir.Exchange{A: src, B: dst, AKind: kindOf(&t.src), BKind: kindOf(&t.dst)}
	}
	return ir.Rename{Src: src, Dst: dst, SrcKind: kindOf(&t.src), DstKind: kindOf(&t.dst)}
}

// whyUncompared is why directories of programs stay in place once a debugger has started a
// program.
const whyUncompared = "a debugger has started a program that the supervisor could not look at, and the directory would be " +
	"carried to where none starts"

// strands reports whether a move carries a directory from where programs may be started to
// where they may not. The ruleset would still start a file that is made in the directory later,
// and the supervisor does not see the starts of a debugger's threads.
func (c moves) strands(t two, flags uint64) bool {
	starts := func(n node) bool {
		return c.policy.access(c.paths.place(n), ir.Execute).allowed()
	}
	src, dst := starts(t.src), starts(t.dst)
	return t.src.kind() == unix.S_IFDIR && src && !dst ||
		flags&unix.RENAME_EXCHANGE != 0 && t.dst.kind() == unix.S_IFDIR && dst && !src
}

// moved renames. The kernel takes names, and another process may have put another file there
// since they were judged: such a move is taken back, and where that fails the tool ends.
func (c moves) moved(t two, flags uint64) error {
	exchange := flags&unix.RENAME_EXCHANGE != 0
	if t.dst.object < 0 {
		flags |= unix.RENAME_NOREPLACE
	}
	err := t.rename(flags)
	if err == unix.EINVAL && flags == unix.RENAME_NOREPLACE && t.dst.object < 0 {
		err = t.rename(0) // the file system knows no flags
	}
	switch {
	case err == unix.EEXIST && t.dst.object < 0:
		return errTaken
	case err != nil:
		return err
	}
	points.Reach(points.Moved)
	taken := c.takenAway(t, flags)
	if !taken && c.arrived(t.dst, t.src) && (!exchange || c.arrived(t.src, t.dst)) {
		return nil
	}
	c.retreat(t, flags, taken)
	if taken {
		return errTaken
	}
	return unix.EXDEV
}

// retreat takes a move back. A file that another process puts over what came to the new name keeps that name:
// nothing else moves than what the supervisor has found there after the move. Where a file may
// stay at a name that the policy did not give it, the tool ends.
func (c moves) retreat(t two, flags uint64, taken bool) {
	back := uint(unix.RENAME_NOREPLACE)
	exchange := flags&unix.RENAME_EXCHANGE != 0
	if exchange {
		back = unix.RENAME_EXCHANGE
	}
	came, e := c.paths.look(t.dst.dir, t.dst.name)
	if e != 0 {
		fatal(whyStranded, e)
	}
	if taken && !same(came.object, t.src.object) {
		return
	}
	points.Reach(points.Retreating)
	err := unix.Renameat2(t.dst.dir, t.dst.name, t.src.dir, t.src.name, back)
	switch {
	case err == unix.ENOENT && !exchange:
	case err != nil:
		fatal(whyStranded, err)
	case !exchange && !c.stands(t.src, came) && unlinked(came):
		// Another process's file had taken the place of what came, and goes where it was put.
		_ = unix.Renameat2(t.src.dir, t.src.name, t.dst.dir, t.dst.name, back)
	}
}

// unlinked reports whether a file has lost its last name.
func unlinked(n node) bool {
	var st unix.Stat_t
	return n.object >= 0 && unix.Fstat(n.object, &st) == nil && st.Nlink == 0
}

const whyStranded = "a move that another process had changed cannot be taken back"

// rename asks the kernel.
func (t *two) rename(flags uint64) error {
	return unix.Renameat2(t.src.dir, t.src.name+t.src.tail, t.dst.dir, t.dst.name+t.dst.tail, uint(flags))
}

// free is the same name without a file.
func (n node) free() node {
	n.object = -1
	return n
}

// takenAway reports whether another process has renamed the file that a move was to replace,
// where the policy lets the move replace it but not make a new name.
// See decision D47.
func (c moves) takenAway(t two, flags uint64) bool {
	if t.dst.object < 0 || flags != 0 || c.policy.decide(c.moving(two{t.src, t.dst.free()}, 0)).allowed() {
		return false
	}
	_, still := stated(t.dst.object)
	return still && !same(t.src.object, t.dst.object)
}

// arrived reports whether a move has brought the given file to the name of n. Another process
// may have removed or replaced it there since.
func (c moves) arrived(n, what node) bool {
	last, _ := stated(what.object)
	return last == below(where(n.dir), n.name) || c.stands(n, what)
}

// stands reports whether n's name still names the given file, or is gone.
func (c moves) stands(n, what node) bool {
	now, e := c.paths.look(n.dir, n.name)
	return e == 0 && (now.object < 0 || same(now.object, what.object))
}

// link answers link(2) and linkat(2). It links the judged file by its descriptor.
func (c moves) link(fromDir, src, toDir, dst, flags uint64) answer {
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return fails(unix.EINVAL)
	}
	from, to, e := c.both(src, dst)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	old, e := c.linked(dirfd(fromDir), from, flags)
	if e != 0 {
		return fails(e)
	}
	base, e := c.paths.base(dirfd(toDir), to)
	if e != 0 {
		return fails(e)
	}
	n, e := c.paths.name(base, to, kept)
	switch {
	case e != 0:
		return fails(e)
	case n.dir < 0 || n.object >= 0:
		return fails(unix.EEXIST)
	case n.tail != "":
		return fails(unix.ENOENT)
	case old.kind() == unix.S_IFDIR:
		return fails(unix.EPERM)
	}
	if j := c.policy.decide(ir.Link{Src: c.box.at(where(old.object)), Dst: c.paths.place(n)}); !c.permits(j) {
		return fails(refusal(j.verdict))
	}
	if !c.current() {
		return fails(unix.EINTR)
	}
	c.carries(&old)
	if c.linksOff(&old, &n) {
		return fails(unix.EXDEV)
	}
	a := namings(&n)
	a.meta = old.object // the time of its last change, and its number of names
	return result(c.change(a, func() error {
		return unix.Linkat(unix.AT_FDCWD, self(old.object), n.dir, n.name, unix.AT_SYMLINK_FOLLOW)
	}))
}

// linked opens the file that a link is to be made to. Linking a descriptor without a path needs
// a capability, which the tool does not have (linkat(2), AT_EMPTY_PATH).
func (c moves) linked(dir int, path string, flags uint64) (node, unix.Errno) {
	if path == "" {
		return node{}, unix.ENOENT
	}
	base, e := c.paths.base(dir, path)
	if e != 0 {
		return node{}, e
	}
	end := kept
	if flags&unix.AT_SYMLINK_FOLLOW != 0 {
		end = followed
	}
	return c.paths.object(base, path, end, 0)
}
