package supervisor

import (
	"slices"
	"strconv"
	"strings"

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
// write to. So a start that is granted is continued with the thread seized (ptrace(2)): it
// stops as the new program, in memory that no other process has, before that has run a
// single instruction. There the file and the arguments that it really has are judged;
// where they are not those that were granted the process is killed.
func (c *call) execve(in invocation) answer {
	if c.first() {
		return proceed
	}
	if a, ok := c.returned(); ok {
		return a
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
	case in.flags&executeCheck != 0:
		return proceed // starts nothing, and the ruleset answers
	}
	if !c.await() {
		return fails(unix.EAGAIN)
	}
	s, e := c.seize(c.process())
	if e != 0 {
		c.awaited()
		return c.debugged(want, e)
	}
	return answer{on: true, then: func() {
		defer c.awaited()
		defer s.forget()
		if s.stopped() {
			c.follow(s, want)
		}
	}}
}

// debugged answers the start of a thread that a debugger of the tool traces, which cannot
// be seized besides. It is left to the kernel as long as the ruleset starts no more than the
// policy: while no file with a rule of its own has been moved, and as long as no directory
// is carried to where nothing may be started. Where programs are listed there are no
// debuggers.
func (c *call) debugged(want becoming, e unix.Errno) answer {
	tracer, err := strconv.Atoi(c.status(c.tid, "TracerPid"))
	if err != nil || tracer == 0 || want.listed || !c.ours(tracer) {
		return fails(e)
	}
	c.names.Lock()
	defer c.names.Unlock()
	if c.carried.Load() || !c.placed() {
		return c.denies(unix.EACCES, "a debugger keeps the supervisor from looking at the program, after files were moved")
	}
	c.uncompared.Store(true)
	return proceed
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
	// foreign is set for a file that is neither an ELF image nor a script: a handler that
	// root has registered (binfmt_misc) may start it.
	foreign bool
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

// granted judges the start that a call asks for.
func (c *call) granted(in invocation) (becoming, unix.Errno) {
	name, e := c.path(in.path)
	if e != 0 {
		return becoming{}, e
	}
	obj, e := c.image(in.dir, name, in.flags)
	if e != 0 {
		return becoming{}, e
	}
	if !c.current() {
		return becoming{}, unix.EINTR
	}
	b := becoming{
		chain: []int{obj}, path: invoked(in.dir, name), name: name, listed: c.view.Tool.Commands != nil, copy: -1,
	}
	if b.listed {
		return b, c.grantedArguments(&b, in)
	}
	fault := c.interpret(&b)
	if !c.mayStartAll(b.chain) {
		return becoming{}, unix.EACCES
	}
	if b.foreign = fault == unix.ENOEXEC; b.foreign {
		fault = 0
	}
	return b, fault
}

// grantedArguments judges the start of a listed program.
func (c *call) grantedArguments(b *becoming, in invocation) unix.Errno {
	args, e := c.strings(in.argv)
	if e != 0 {
		return e
	}
	if len(args) == 0 {
		args = []string{""} // as the kernel does since Linux 5.18
	}
	var ok bool
	if b.rule, ok = c.mayStart(b.file(), b.path, args); !ok {
		return unix.EACCES
	}
	fault := c.interpret(b)
	b.argv = args
	if b.script() {
		b.argv = slices.Concat(b.head, args[1:])
	}
	if fault == 0 && !c.mayInterpret(b) {
		return unix.EACCES
	}
	return fault
}

// mayStartAll judges each file that a start opens at its place: the program, or a script
// with its interpreters. A file without a place is memory of the tool's own.
func (c *call) mayStartAll(chain []int) bool {
	c.names.RLock()
	defer c.names.RUnlock()
	for i, f := range chain {
		where := c.where(f)
		if where == "" {
			continue
		}
		at := c.at(where)
		if !c.decide(ir.Start{On: at}).Allowed() || i+1 < len(chain) && !c.may(at, ir.Read) {
			return false
		}
	}
	return true
}

// mayStart judges a file at its place, a copy of the broker's at that of its original, by
// both names that it gets: the first argument, and the path, which a script finds as that
// and any program as AT_EXECFN (getauxval(3)). What has no place, as files of memory, is
// not listed.
func (c *call) mayStart(obj int, path string, argv []string) (*ir.CommandRule, bool) {
	place := c.where(obj)
	if place == "" {
		if place = c.images.place(obj); place == "" {
			return nil, false
		}
	}
	at := c.at(place)
	if !nameless(path) {
		if _, ok := c.mayStartAs(at, slices.Concat([]string{path}, argv[1:])); !ok {
			return nil, false
		}
	}
	return c.mayStartAs(at, argv)
}

// nameless reports whether a path leads to a descriptor or to the program that a process
// is, so that its last component says nothing: /dev/fd/3, /proc/self/exe.
func nameless(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if !strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/dev/fd/") || name == "" {
		return false
	}
	return name == "exe" || strings.Trim(name, "0123456789") == ""
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
	n, e := c.object(base, path, end, 0)
	if e != 0 {
		return -1, e
	}
	return n.object, regular(n.object)
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

// exe opens the program that the process has become.
func (c *call) exe() (int, bool) {
	fd, err := unix.Openat(c.procfs, c.proc("exe"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	return c.hold(fd), true
}

// fits judges the program that a process has become, which is to be the given file, and
// takes from it the variables that it may not have. It is judged by the name that it was
// started by as well, which may be another one of the same file.
func (c *call) fits(s *seized, want becoming, image int) bool {
	exe, ok := c.exe()
	switch {
	case !ok:
		return false
	case want.foreign:
		return c.mayStartAll([]int{exe})
	case !same(exe, image):
		return false
	case !want.listed:
		return c.mayStartAll([]int{exe}) && (!want.script() || c.interprets(s, want))
	}
	if c.where(exe) == "" {
		exe = want.file() // a copy is judged where the original is
	}
	rule, ok := c.started(s, want, exe)
	if ok && rule != nil && !rule.AllEnvs {
		ok = s.narrow(rule.Envs) == nil
	}
	return ok
}

// interprets reports whether a process has become the interpreter of the script that was
// judged: of its arguments the first say so, and their path still leads there. A name that
// was good for the call only, as that of a descriptor that is closed by now, leads nowhere.
func (c *call) interprets(s *seized, want becoming) bool {
	argv, err := s.arguments()
	if err != nil || len(argv) < len(want.head) || !slices.Equal(argv[:len(want.head)], want.head) {
		return false
	}
	script, e := c.image(unix.AT_FDCWD, want.path, 0)
	return e != 0 || same(script, want.file())
}

// started judges the program that a process has become, with the arguments that it has,
// and returns the rule.
func (c *call) started(s *seized, want becoming, exe int) (*ir.CommandRule, bool) {
	argv, err := s.arguments()
	if err != nil {
		return nil, false
	}
	if !want.script() {
		path, err := s.path()
		if err != nil {
			return nil, false
		}
		return c.mayStart(exe, path, argv)
	}
	return want.rule, slices.Equal(argv, want.argv) && c.interprets(s, want)
}

// same reports whether two descriptors are of one file.
func same(a, b int) bool {
	x, known := inode(a)
	y, ok := inode(b)
	return known && ok && x == y
}
