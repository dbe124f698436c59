package supervisor

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/kernelfs"
	"github.com/accessc/accessc/ir"
)

// opening is a requested open.
type opening struct {
	unix.OpenHow
	// hidden is true where the flags are in the tool's memory, which may change: such a call is
	// not left to the kernel.
	hidden bool
}

// opens answers the calls that open a file.
type opens struct{ *call }

// Flags of an open (open(2)): the bit of O_TMPFILE that is its own, the bits of the mode, and
// the bits with which a file is written or made.
const (
	tmpFile    = unix.O_TMPFILE &^ unix.O_DIRECTORY
	accessMode = unix.O_ACCMODE
	writeOnly  = unix.O_WRONLY
	writing    = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | tmpFile
)

// open answers open(2) and openat(2).
func (c opens) open(dir, path, flags, mode uint64) answer {
	return c.opened(dirfd(dir), path, opening{OpenHow: unix.OpenHow{Flags: uint64(uint32(flags)), Mode: mode}})
}

// open2 answers openat2(2). A structure with the fields of a later kernel gets E2BIG, as from
// an older kernel. The supervisor cannot hand over a descriptor with O_PATH (fget() in seccomp_notify_addfd()), and the
// kernel would read flags and mode again that the tool may have changed: callers get ENOSYS and fall back to
// openat(2), whose flags do not change.
// See decision D48.
func (c opens) open2() answer {
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
	if how[0]&unix.O_PATH != 0 {
		return fails(unix.ENOSYS)
	}
	return c.opened(dirfd(c.args[0]), c.args[1],
		opening{unix.OpenHow{Flags: how[0], Mode: how[1], Resolve: how[2]}, true})
}

func (c opens) opened(dir int, addr uint64, o opening) answer {
	path, e := c.path(addr)
	if e != 0 {
		return fails(e)
	}
	if c.plain(dir, path, o) {
		return proceed
	}
	if o.invalid() {
		return fails(unix.EINVAL)
	}
	from := path
	if o.Resolve != 0 {
		// Under RESOLVE_IN_ROOT an absolute path starts from the directory as well.
		from = "."
	}
	base, e := c.paths.base(dir, from)
	switch {
	case e != 0:
		return fails(e)
	case !c.current():
		return fails(unix.EINTR)
	case o.makes() && o.Mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return c.denies(unix.EPERM, whySetID)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	if o.Flags&unix.O_CREAT != 0 {
		return c.create(base, path, o)
	}
	end := followed
	if o.Flags&unix.O_NOFOLLOW != 0 {
		end = kept
	}
	n, e := c.paths.object(base, path, end, o.Resolve)
	if e != 0 {
		c.seek(path, e)
		return c.fault(e, o)
	}
	return c.reopen(n, o)
}

// seek tells of a file that the tool looks for in its home, and that is not there.
func (c opens) seek(name string, e unix.Errno) {
	if c.sought == nil || e != unix.ENOENT || !c.became.Load() || c.box.roots.Home == "" {
		return
	}
	if rest, ok := strings.CutPrefix(path.Clean(name), c.box.roots.Home+"/"); ok {
		c.sought(rest)
	}
}

// invalid reports whether the kernel refuses the flags whatever the path leads to (build_open_flags() in fs/open.c).
// Before Linux 6.4 it made a file by O_CREAT with O_DIRECTORY.
func (o opening) invalid() bool {
	if o.Flags&tmpFile == 0 {
		return o.Flags&unix.O_CREAT != 0 && o.Flags&unix.O_DIRECTORY != 0
	}
	return o.Flags&unix.O_DIRECTORY == 0 || o.Flags&unix.O_CREAT != 0 || o.Flags&accessMode == unix.O_RDONLY
}

// makes reports whether an open can make a file.
func (o opening) makes() bool { return o.Flags&(unix.O_CREAT|tmpFile) != 0 }

// fault answers a call whose path leads nowhere. Where the kernel decides, it finds the same
// fault, or a file that the ruleset grants.
func (c opens) fault(e unix.Errno, o opening) answer {
	if c.continues(o) {
		return proceed
	}
	return fails(e)
}

// continues reports whether the kernel may carry out an open by itself, although the tool can
// change its path meanwhile: the ruleset grants whole directories for its class, and they are
// where the policy names them.
func (c opens) continues(o opening) bool {
	return !o.hidden && !c.policy.decides(o.Flags) && !c.crowded && c.placed()
}

// undisturbed reports whether no file system of the kernel has been mounted below what the ruleset grants. The list of
// mounts is asked for at most once in a while: to ask at each open that goes on in the kernel would cost a fifteenth of
// it.
func (s *Supervisor) undisturbed() bool {
	const while = 100 * time.Microsecond
	last, now := s.intruded.Load(), int64(time.Since(began))
	if polled := s.polled.Load(); last > 0 && now-polled < int64(while) {
		return last&1 == 0
	}
	s.polled.Store(now)
	points, epoch := standing.closed(last >> 1)
	if epoch == last>>1 {
		return last&1 == 0
	}
	next := epoch << 1
	if slices.ContainsFunc(points, s.reaches) {
		next |= 1
	}
	s.intruded.Store(next)
	return next&1 == 0
}

var began = time.Now()

// reaches reports whether the ruleset grants the directory around a place.
func (s *Supervisor) reaches(place string) bool {
	return kernelfs.Below(place, "/usr") || strings.HasPrefix(place, "/lib") ||
		slices.ContainsFunc(s.placements, func(p Placement) bool { return kernelfs.Below(place, p.Path) })
}

// placed reports whether the directories and files that the ruleset grants are still at the
// paths that the policy grants, and all that is below them is the policy's.
func (s *Supervisor) placed() bool {
	if !s.undisturbed() {
		return false
	}
	for _, g := range s.placements {
		// The kernel appends " (deleted)" to the path of a file that has lost its name.
		if now, err := nameOf(g.FD); err != nil || now != g.Path {
			return false
		}
	}
	for _, path := range s.absent {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			return false
		}
	}
	return true
}

// needs are the capabilities that the flags of an open require.
func needs(flags uint64) []ir.Capability {
	var out []ir.Capability
	mode := flags & accessMode
	if mode != writeOnly {
		out = append(out, ir.Read)
	}
	if mode != unix.O_RDONLY || flags&unix.O_TRUNC != 0 {
		out = append(out, ir.Update)
	}
	return out
}

// reopen judges the file that a path led to, and opens it as requested or leaves that to the
// kernel.
func (c opens) reopen(n node, o opening) answer {
	if kind := n.kind(); kind != unix.S_IFREG && kind != unix.S_IFDIR {
		// The kernel truncates only regular files (do_open in fs/namei.c, open(2)).
		o.Flags &^= unix.O_TRUNC
	}
	switch {
	case n.kind() == unix.S_IFLNK && o.Flags&unix.O_DIRECTORY != 0:
		return fails(unix.ENOTDIR) // do_open() in fs/namei.c looks for this first
	case n.kind() == unix.S_IFLNK:
		return fails(unix.ELOOP)
	case n.standard != nil && o.Flags&(unix.O_DIRECTORY|tmpFile) == 0:
		return c.openStandard(n, o)
	}
	name, still := stated(n.object)
	at := c.box.at(name)
	switch {
	case o.Flags&tmpFile != 0:
		return c.unnamed(n.object, at, o)
	case name != "" && !c.permits(c.policy.access(at, needs(o.Flags)...)):
		return fails(unix.EACCES)
	case c.narrows && c.tells(name):
		return c.denies(unix.EACCES, whyVariables)
	case (still || name == "") && !c.box.own(n.object, &n.st) && c.continues(o):
		// A file that has lost its name is not left to the ruleset, which grants less of it
		// than the policy.
		return proceed
	case !reads(n, o) && !c.current():
		return fails(unix.EINTR)
	case n.kind() == unix.S_IFCHR && n.st.Rdev == unix.Mkdev(5, 0):
		return c.openTerminal(o)
	}
	return c.openObject(n, o)
}

// reads reports whether an open of a file changes nothing: the descriptor is all that comes of it, and the
// kernel gives that to no other call. So it does not matter if the call has gone since its path
// was read.
// See decision D310.
func reads(n node, o opening) bool {
	kind := n.kind()
	return o.Flags&writing == 0 && (kind == unix.S_IFREG || kind == unix.S_IFDIR)
}

// tells reports whether a file of /proc shows the variables of another process.
func (c opens) tells(name string) bool {
	below, ok := strings.CutPrefix(name, "/proc/")
	first, _, _ := strings.Cut(below, "/")
	pid, err := strconv.Atoi(first)
	file := path.Base(below)
	return ok && err == nil && (file == "environ" || file == "mem") && pid != c.process()
}

const whyVariables = "another process may have variables that this one does not get"

// watch answers inotify_add_watch(2). A watch shows the names in a directory and who uses them,
// so it is judged as reading.
func (c opens) watch() answer {
	path, e := c.path(c.args[1])
	if e != 0 {
		return fails(e)
	}
	instance, e := c.duplicate(dirfd(c.args[0]))
	if e != 0 {
		return fails(e)
	}
	base, e := c.paths.base(unix.AT_FDCWD, path)
	if e != 0 {
		return fails(e)
	}
	c.names.RLock()
	defer c.names.RUnlock()
	n, e := c.paths.object(base, path, follow(c.args[2]&unix.IN_DONT_FOLLOW == 0), 0)
	switch {
	case e != 0:
		return fails(e)
	case !c.permits(c.policy.access(c.box.at(where(n.object)), ir.Read)):
		return fails(unix.EACCES)
	case !c.current():
		return fails(unix.EINTR)
	}
	var a answer
	err := c.do(func() error {
		number, err := unix.InotifyAddWatch(instance, self(n.object), uint32(c.args[2])&^unix.IN_DONT_FOLLOW)
		a.val = int64(number)
		return err
	})
	if err != nil {
		return result(err)
	}
	return a
}

// openStandard opens a standard descriptor again, with no more access than the tool got it with.
func (c opens) openStandard(n node, o opening) answer {
	at := ir.Direct(ir.Sys(ir.LinuxStandard))
	have, want := n.standard.mode, o.Flags&accessMode
	switch {
	case !c.permits(c.policy.access(at, needs(o.Flags)...)):
		return fails(unix.EACCES)
	case have != unix.O_RDWR && (have != want || o.Flags&unix.O_TRUNC != 0 && have == unix.O_RDONLY):
		return c.denies(unix.EACCES, "a standard descriptor is opened again for no more than it is open for")
	}
	return c.openObject(n, o)
}

// openObject opens the very file that was judged. Whether that waits for another process
// depends on its type.
func (c opens) openObject(n node, o opening) answer {
	open := func() answer {
		a := namings()
		if n.kind() == unix.S_IFREG && o.Flags&(accessMode|unix.O_TRUNC) != 0 {
			a.held = n.object
		}
		return c.handed(o.Flags, a, func() (int, error) {
			return reopened(n.object,
				int(o.Flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW))|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		})
	}
	if kind := n.kind(); kind == unix.S_IFREG || kind == unix.S_IFDIR || o.Flags&unix.O_NONBLOCK != 0 {
		return open()
	}
	return answer{wait: open}
}

// openTerminal opens the caller's own controlling terminal, which /dev/tty stands for. The
// supervisor may have another terminal.
func (c opens) openTerminal(o opening) answer {
	dev := controlling(c.process())
	if dev == 0 {
		return fails(unix.ENXIO)
	}
	path := c.box.terminal.path
	number, pseudo := terminalNumber(dev)
	if pseudo {
		path = "/dev/pts/" + strconv.Itoa(number)
	}
	obj, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fails(errno(err))
	}
	c.hold(obj)
	var st unix.Stat_t
	switch {
	case unix.Fstat(obj, &st) != nil || st.Rdev != dev:
		return fails(unix.ENXIO)
	case pseudo && !c.box.ownsTerminal(number) || !pseudo && dev != c.box.terminal.dev:
		return c.denies(unix.EACCES, "a terminal that is neither the run's own nor made by the tool")
	}
	return c.handed(o.Flags, namings(), func() (int, error) {
		drops := uint64(unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC | unix.O_NOFOLLOW)
		return reopened(obj, int(o.Flags&^drops)|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	})
}

// handed opens a file for the caller, which may alter something.
func (c opens) handed(flags uint64, a alters, open func() (int, error)) answer {
	fd := -1
	err := c.change(a, func() (err error) { fd, err = open(); return err })
	if err != nil {
		return result(err)
	}
	out := answer{hand: true, fd: fd, writes: flags&accessMode != unix.O_RDONLY, closeOn: flags&unix.O_CLOEXEC != 0}
	if !out.writes {
		c.hold(fd)
		out.held = true
	}
	return out
}

// unnamed opens a file without a name (O_TMPFILE) in a directory. Only a link can give it a
// name, and the link is judged by itself, so either right to write is enough.
func (c opens) unnamed(dir int, at ir.Place, o opening) answer {
	inside := ir.Direct(at.At.Child("#"))
	switch {
	case !c.permits(c.policy.access(inside, ir.Create)) && !c.permits(c.policy.access(inside, ir.Update)):
		return fails(unix.EACCES)
	case o.Flags&accessMode == unix.O_RDWR && !c.permits(c.policy.access(inside, ir.Read)):
		return fails(unix.EACCES)
	case !c.box.inOwn(dir) && c.continues(o):
		return proceed
	case !c.current():
		return fails(unix.EINTR)
	}
	return c.handed(o.Flags, namings(), func() (int, error) {
		c.umask()
		return reopened(dir, int(o.Flags)|unix.O_CLOEXEC, uint32(o.Mode))
	})
}

// create opens a name, and makes the file if it does not exist.
func (c opens) create(base int, path string, o opening) answer {
	end := followed
	if o.Flags&(unix.O_NOFOLLOW|unix.O_EXCL) != 0 {
		end = kept
	}
	for range maxTries {
		n, e := c.paths.scoped(base, path, end, o.Resolve)
		switch {
		case e != 0:
			return c.fault(e, o)
		case n.object >= 0 && n.tail == "" && o.Flags&unix.O_EXCL != 0:
			return fails(unix.EEXIST)
		case n.tail != "" || n.kind() == unix.S_IFDIR:
			return fails(unix.EISDIR)
		case n.object >= 0:
			return c.reopen(n, o)
		}
		a := c.made(n, o)
		if a.errno != unix.EEXIST {
			return a
		}
	}
	return fails(unix.EAGAIN)
}

// made judges and makes a file.
func (c opens) made(n node, o opening) answer {
	if c.locksConfig(n, o) {
		return c.lock(n, o)
	}
	at := c.paths.place(n)
	switch {
	case !c.permits(c.policy.decide(ir.Access{Cap: ir.Create, On: at, Name: ir.NameFile})):
		return fails(unix.EACCES)
	case o.Flags&accessMode != writeOnly && !c.permits(c.policy.access(at, ir.Read)):
		return fails(unix.EACCES)
	case !c.box.inOwn(n.dir) && c.continues(o):
		return proceed
	case !c.current():
		return fails(unix.EINTR)
	}
	a := namings(&n)
	a.makes = true
	return c.handed(o.Flags, a, func() (int, error) {
		c.umask()
		flags := int(o.Flags) | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
		return unix.Openat(n.dir, n.name, flags, uint32(o.Mode))
	})
}

// maxTries bounds how often a name is looked at again while other processes make and remove it.
const maxTries = 16

// scoped resolves a name with the restrictions of openat2(2). It does not follow a symlink at
// the end: the restrictions would have to be checked again for the target.
func (r *resolver) scoped(base int, path string, end follow, resolve uint64) (node, unix.Errno) {
	if resolve == 0 {
		return r.name(base, path, end)
	}
	dir, last, tail := split(path)
	if last == "" || last == "." || last == ".." {
		return node{}, unix.EISDIR
	}
	parent, e := r.object(base, dir, followed, resolve)
	if e != 0 {
		return node{}, e
	}
	n, e := r.look(parent.object, last)
	n.tail = tail
	if e == 0 && n.kind() == unix.S_IFLNK {
		e = unix.ELOOP
	}
	return n, e
}
