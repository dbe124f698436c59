package broker

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// invocation is what a call that starts a program was given.
type invocation struct {
	dir              int
	path, argv, envp uint64
	flags            uint64
}

// execve answers execve(2) and execveat(2). The kernel alone can replace a process by a
// program, and it reads the path and the arguments again, out of memory that others may
// write to. So where programs are listed what is granted is continued with the thread
// seized (ptrace(2)): it stops as the new program, in memory that is nobody else's, before
// that has run a single instruction. There the file and the arguments that it really has
// are judged; where they are not what was granted the process is killed.
func (c *call) execve(in invocation) answer {
	if c.first() {
		return proceed
	}
	if a, ok := c.returned(); ok {
		return a
	}
	if c.view.Tool.Commands == nil {
		return c.start(in)
	}
	want, e := c.granted(in)
	if e != 0 {
		return fails(e)
	}
	switch lacks, e := c.lacks(want); {
	case e != 0:
		return fails(e)
	case lacks:
		return c.complete(in, want)
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
		defer c.awaited()
		defer s.forget()
		if s.stopped() {
			c.follow(s, want)
		}
	}}
}

// first reports whether this is the call by which the clone becomes the tool: its
// memory is the supervisor's own.
func (c *call) first() bool { return c.tid == c.tool && !c.became.Swap(true) }

// becoming is what a granted call makes of its process.
type becoming struct {
	// chain are the files that the kernel opens, each as a script the one before it: what
	// was judged first, what runs last.
	chain []int
	// path is how the kernel will name the first, head what stands before the arguments
	// of the call, in the place of their first.
	path string
	head []string
	// name is the path that the call gave, argv what the program will have.
	name string
	argv []string
	// called is what the process is called in the end (comm in proc(5)).
	called string
	// rule is what the file was granted by; nil where no rule speaks of it.
	rule *ir.CommandRule
	// listed is set where the start is granted by a list of programs.
	listed bool
	// copy is what runs in the place of the last of the chain, where that has a copy of
	// its own beside the one that is handed out; -1 for none.
	copy int
}

func (b *becoming) file() int  { return b.chain[0] }
func (b *becoming) image() int { return b.chain[len(b.chain)-1] }

// script is true for what has an interpreter.
func (b *becoming) script() bool { return len(b.chain) > 1 }

// result is the file that a process becomes in the end which is handed one.
func (b *becoming) result(handed int) int {
	switch {
	case !b.script():
		return handed
	case b.copy >= 0:
		return b.copy
	}
	return b.image()
}

// granted judges what a call asks for.
func (c *call) granted(in invocation) (becoming, unix.Errno) {
	name, e := c.path(in.path)
	if e != 0 {
		return becoming{}, e
	}
	args, e := c.strings(in.argv)
	if e != 0 {
		return becoming{}, e
	}
	if len(args) == 0 {
		args = []string{""} // as the kernel does since Linux 5.18
	}
	obj, e := c.image(in.dir, name, in.flags)
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
	b := becoming{chain: []int{obj}, path: invoked(in.dir, name), name: name, rule: rule, listed: true, copy: -1}
	e = c.interpret(&b)
	b.argv = args
	if b.script() {
		b.argv = slices.Concat(b.head, args[1:])
	}
	return b, e
}

// mayStart judges a file at its place, a copy of the broker's at that of its original.
// What has none, as files of memory, is not listed.
func (c *call) mayStart(obj int, argv []string) (*ir.CommandRule, bool) {
	place := c.where(obj)
	if place == "" {
		if place = c.images.place(obj); place == "" {
			return nil, false
		}
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

// interpret follows the interpreters of scripts and collects what they are given.
func (c *call) interpret(b *becoming) unix.Errno {
	name := b.path
	for range maxInterpreters {
		k, e := formatOf(b.image())
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
		if b.script() {
			b.head = b.head[1:]
		} else {
			b.head = []string{}
		}
		b.head = slices.Concat(head, []string{name}, b.head)
		next, e := c.image(unix.AT_FDCWD, k.interpreter, 0)
		if e != 0 {
			return e
		}
		b.chain = append(b.chain, next)
		name = k.interpreter
	}
	return unix.ELOOP
}

// follow attends a thread that has stopped after its call: as the new program, or as
// the old one where the kernel could not start it.
func (c *call) follow(s *seized, want becoming) {
	if !s.executed {
		s.release()
		return
	}
	c.tid = s.process
	if !c.fits(s, want, want.image()) {
		s.kill()
		return
	}
	s.release()
}

// runsImage reports whether the program that the process has become is of the given file.
func (c *call) runsImage(image int) bool {
	exe, err := unix.Openat(c.procfs, c.proc("exe"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	c.hold(exe)
	return same(exe, image)
}

// fits judges the program that a process has become, which is to be the given file, and
// takes from it the variables that it may not have.
func (c *call) fits(s *seized, want becoming, image int) bool {
	if !c.runsImage(image) {
		return false
	}
	if !want.listed {
		return true
	}
	rule, ok := c.started(s, want)
	if ok && rule != nil && !rule.AllEnvs {
		ok = s.narrow(rule.Envs) == nil
	}
	return ok
}

// started judges the arguments that a process has become its program with, and returns
// the rule.
func (c *call) started(s *seized, want becoming) (*ir.CommandRule, bool) {
	argv, err := s.arguments()
	if err != nil {
		return nil, false
	}
	if !want.script() {
		return c.mayStart(want.file(), argv)
	}
	// What its interpreter is to run is told by its arguments alone. A name that was good
	// for the call only, as that of a descriptor that is closed by now, leads nowhere.
	script, e := c.image(unix.AT_FDCWD, want.path, 0)
	return want.rule, slices.Equal(argv, want.argv) && (e != 0 || same(script, want.file()))
}

// same reports whether two descriptors are of one file.
func same(a, b int) bool {
	x, known := inode(a)
	y, ok := inode(b)
	return known && ok && x == y
}
