package broker

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// execve answers execve(2) and execveat(2). The kernel alone can replace a process by a
// program, and it reads the path and the arguments again, out of memory that others may
// write to. So what is granted is continued with the thread seized (ptrace(2)): it stops
// as the new program, in memory that is nobody else's, before that has run a single
// instruction. There the file and the arguments that it really has are judged; where
// they are not what was granted the process is killed.
func (c *call) execve(dir int, path, argv, flags uint64) answer {
	if c.first() {
		return proceed
	}
	want, e := c.granted(dir, path, argv, flags)
	if e != 0 {
		return fails(e)
	}
	if !c.await() {
		return fails(unix.EAGAIN)
	}
	s, e := c.seize(c.process())
	if e != 0 {
		c.awaited()
		return fails(e)
	}
	return answer{on: true, then: func() {
		c.follow(s, want)
		c.awaited()
	}}
}

// first reports whether this is the call by which the clone becomes the tool: its
// memory is the supervisor's own.
func (c *call) first() bool { return c.tid == c.tool && !c.became.Swap(true) }

// becoming is what a granted call makes of its process.
type becoming struct {
	// file is what was judged, path how the kernel will name it. As a script it is run
	// by image, with argv.
	file, image int
	path        string
	argv        []string
	// rule is what the file was granted by; nil where no rule speaks of it.
	rule *ir.CommandRule
}

// granted judges what a call asks for.
func (c *call) granted(dir int, path, argv, flags uint64) (becoming, unix.Errno) {
	name, e := c.path(path)
	if e != 0 {
		return becoming{}, e
	}
	args, e := c.strings(argv)
	if e != 0 {
		return becoming{}, e
	}
	if len(args) == 0 {
		args = []string{""} // as the kernel does since Linux 5.18
	}
	obj, e := c.image(dir, name, flags)
	if e != 0 {
		return becoming{}, e
	}
	if !c.current() {
		return becoming{}, unix.EINTR
	}
	rule, ok := c.mayStart(obj, args)
	if !ok {
		return becoming{}, unix.EACCES
	}
	b := becoming{file: obj, image: obj, path: invoked(dir, name), argv: args, rule: rule}
	return b, c.interpret(&b)
}

// mayStart judges a file at its place. What has none, as files of memory, is not listed.
func (c *call) mayStart(obj int, argv []string) (*ir.CommandRule, bool) {
	place := c.where(obj)
	if place == "" {
		return nil, false
	}
	return c.mayRun(c.at(place), argv)
}

// image opens the file that a call would start.
func (c *call) image(dir int, path string, flags uint64) (int, unix.Errno) {
	if path == "" && flags&unix.AT_EMPTY_PATH != 0 {
		obj, e := c.descriptor(dir)
		if e != 0 {
			return -1, e
		}
		return obj, regular(obj)
	}
	base, e := c.base(dir, path)
	if e != 0 {
		return -1, e
	}
	end := followed
	if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		end = kept
	}
	obj, e := c.object(base, path, end, 0)
	if e != 0 {
		return -1, e
	}
	return obj, regular(obj)
}

// regular says how the kernel refuses to start what is no file.
func regular(obj int) unix.Errno {
	var st unix.Stat_t
	if err := unix.Fstat(obj, &st); err != nil {
		return errno(err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFLNK:
		return unix.ELOOP
	default:
		return unix.EACCES
	}
}

// interpret follows the interpreters of scripts and collects the arguments that the
// last of them gets.
func (c *call) interpret(b *becoming) unix.Errno {
	name := b.path
	for range maxInterpreters {
		k, e := formatOf(b.image)
		switch {
		case e != 0:
			return e
		case k.elf:
			return 0
		case k.interpreter == "":
			// A handler that root has registered (binfmt_misc) is not followed.
			return unix.ENOEXEC
		}
		head := []string{k.interpreter}
		if k.argument != "" {
			head = append(head, k.argument)
		}
		b.argv = slices.Concat(head, []string{name}, b.argv[1:])
		if b.image, e = c.image(unix.AT_FDCWD, k.interpreter, 0); e != 0 {
			return e
		}
		name = k.interpreter
	}
	return unix.ELOOP
}

// follow attends a call that was continued: the thread stops as the new program, or in
// its old one when the kernel could not start it.
func (c *call) follow(s *seized, want becoming) {
	defer s.forget()
	if !s.stopped() {
		return
	}
	if !s.executed {
		s.release()
		return
	}
	c.tid = s.process
	rule, ok := c.started(s, want)
	if ok && rule != nil && !rule.AllEnvs {
		ok = s.narrow(rule.Envs) == nil
	}
	if !ok {
		s.kill()
		return
	}
	s.release()
}

// started judges the program that a process has become, and returns its rule.
func (c *call) started(s *seized, want becoming) (*ir.CommandRule, bool) {
	exe, err := unix.Openat(c.procfs, c.proc("exe"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	c.hold(exe)
	argv, err := s.arguments()
	if err != nil || !same(exe, want.image) {
		return nil, false
	}
	if want.image == want.file {
		return c.mayStart(exe, argv)
	}
	// What its interpreter is to run is told by its arguments alone. A name that was good
	// for the call only, as that of a descriptor that is closed by now, leads nowhere.
	script, e := c.image(unix.AT_FDCWD, want.path, 0)
	return want.rule, slices.Equal(argv, want.argv) && (e != 0 || same(script, want.file))
}

// same reports whether two descriptors are of one file.
func same(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}
