package supervisor

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// programs answers the calls that start a program.
type programs struct{ *call }

// startFlags are the flags of execveat(2).
const startFlags = unix.AT_EMPTY_PATH | unix.AT_SYMLINK_NOFOLLOW | executeCheck

// invocation holds the arguments of a call that starts a program.
type invocation struct {
	dir              int
	path, argv, envp uint64
	flags            uint64
}

// execve answers execve(2) and execveat(2). Only the kernel can replace a process by a program,
// and it reads the path and the arguments again, from memory that other threads may write to.
// So a granted start is continued with the thread seized (ptrace(2)): it stops as the new
// program, in memory that no other process has, before the first instruction of that program.
// There the supervisor judges the file and the arguments that the program really has, and kills
// the process where they differ from the granted ones.
func (c programs) execve(in invocation) answer {
	if c.first() {
		return proceed
	}
	if a, ok := c.returned(); ok {
		return a
	}
	if in.flags&^startFlags != 0 {
		return fails(unix.EINVAL)
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

// debugged answers the start of a thread that a debugger of the tool traces, so that the supervisor cannot
// seize it. The kernel decides by itself as long as the ruleset starts no more than the policy: while no file
// with a rule of its own has been moved, and as long as no directory is carried to where nothing may be
// started, and no rule by name takes starting away. Where programs are listed the filter refuses ptrace(2). A
// debugger from outside, such as strace around accessc, has the start refused.
func (c programs) debugged(want becoming, e unix.Errno) answer {
	tracer := c.tracer()
	switch {
	case tracer == 0:
		return fails(e)
	case want.listed || !c.box.ours(tracer):
		return c.denies(unix.EACCES,
			"a debugger from outside of the sandbox keeps the supervisor from looking at the program")
	}
	c.names.Lock()
	defer c.names.Unlock()
	if c.policy.startsByName() {
		return c.denies(unix.EACCES, "a debugger keeps the supervisor from looking at the program, "+
			"and a rule by name says which may be started")
	}
	if c.carried.Load() || !c.placed() {
		return c.denies(unix.EACCES,
			"a debugger keeps the supervisor from looking at the program, after files were moved")
	}
	c.uncompared.Store(true)
	return proceed
}

// tracer is the process that traces the caller, 0 if none does.
func (c programs) tracer() int {
	pid, _ := strconv.Atoi(status(c.tid, "TracerPid")) // a thread that has ended has none
	return pid
}

// first reports whether this is the call by which the clone becomes the tool: the memory of
// that call is the supervisor's own.
func (c programs) first() bool { return c.tid == c.tool && !c.became.Swap(true) }

// becoming is the effect of a granted call on its process.
type becoming struct {
	// chain are the files that the kernel opens, each script before its interpreter: the call
	// names the first file, and the last file runs.
	chain []int
	// path is the kernel's name for the first file; head are the words that replace the first
	// argument of the call.
	path string
	head []string
	// name is the path that the call gave, argv are the arguments that the program will have.
	name string
	argv []string
	// called is the final name of the process (comm in proc(5)).
	called string
	// rule is the rule that granted the file, nil for none.
	rule *ir.CommandRule
	// listed is set where a list of programs grants the start.
	listed bool
	// foreign is set for a file that is neither an ELF image nor a script: a handler that
	// root has registered (binfmt_misc) may start it.
	foreign bool
	// copy is the copy that runs in place of the last of the chain, where that is not the file
	// handed out; -1 for none.
	copy int
}

func (b *becoming) file() int  { return b.chain[0] }
func (b *becoming) image() int { return b.chain[len(b.chain)-1] }

// script reports whether the file has an interpreter.
func (b *becoming) script() bool { return len(b.chain) > 1 }

// result is the file that the process finally runs after it was handed a file.
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
func (c programs) granted(in invocation) (becoming, unix.Errno) {
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
		chain: []int{obj}, path: invoked(in.dir, name), name: name,
		listed: c.policy.view.Tool.Commands != nil, copy: -1,
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
func (c programs) grantedArguments(b *becoming, in invocation) unix.Errno {
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

// mayStartAll judges each file that a start opens at its place: the program, or a script with
// its interpreters. A file without a place is memory of the tool's own.
func (c programs) mayStartAll(chain []int) bool {
	c.names.RLock()
	defer c.names.RUnlock()
	for i, f := range chain {
		name := where(f)
		if name == "" {
			continue
		}
		at := c.box.at(name)
		if !c.permits(c.policy.decide(ir.Start{On: at})) ||
			i+1 < len(chain) && !c.permits(c.policy.access(at, ir.Read)) {
			return false
		}
	}
	return true
}

// mayStart judges a file at its place, or a copy of the supervisor's at the place of its
// original, by both names that the program gets: the first argument and the path, which a
// script finds as its first argument and any program as AT_EXECFN (getauxval(3)). A file
// without a place, such as a file of memory, is not listed.
func (c programs) mayStart(obj int, path string, argv []string) (*ir.CommandRule, bool) {
	place := where(obj)
	if place == "" {
		if place = c.images.place(obj); place == "" {
			return nil, false
		}
	}
	at := c.box.at(place)
	if !nameless(path) {
		if !c.permits(c.policy.run(at, slices.Concat([]string{path}, argv[1:]))) {
			return nil, false
		}
	}
	j := c.policy.run(at, argv)
	rule, _ := j.verdict.Rule.(*ir.CommandRule)
	return rule, c.permits(j)
}

// nameless reports whether a path leads through a descriptor or the program of a process, as
// /dev/fd/3 and /proc/self/exe do, so that its last component is not a program's name.
func nameless(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if !strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/dev/fd/") || name == "" {
		return false
	}
	return name == "exe" || strings.Trim(name, "0123456789") == ""
}

// image opens the file that a call would start.
func (c programs) image(dir int, path string, flags uint64) (int, unix.Errno) {
	if path == "" && flags&unix.AT_EMPTY_PATH != 0 {
		obj, e := c.descriptor(dir)
		if e != 0 {
			return -1, e
		}
		return obj, regular(obj)
	}
	base, e := c.paths.base(dir, path)
	if e != 0 {
		return -1, e
	}
	end := followed
	if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		end = kept
	}
	n, e := c.paths.object(base, path, end, 0)
	if e != 0 {
		return -1, e
	}
	return n.object, regular(n.object)
}

// regular is the kernel's error for starting an object that is not a regular file.
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

// interpret follows the interpreters of scripts and collects their arguments.
func (c programs) interpret(b *becoming) unix.Errno {
	name := b.path
	for range maxInterpreters + 1 { // the last of which is no script
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
		if b.script() {
			b.head = b.head[1:]
		} else {
			b.head = []string{}
		}
		b.head = slices.Concat([]string{k.interpreter}, k.args, []string{name}, b.head)
		next, e := c.image(unix.AT_FDCWD, k.interpreter, 0)
		if e != 0 {
			return e
		}
		b.chain = append(b.chain, next)
		name = k.interpreter
	}
	return unix.ELOOP
}

// follow handles a thread that has stopped after its call: as the new program, or as the old
// program where the kernel could not start the new program.
func (c programs) follow(s *seized, want becoming) {
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
func (c *caller) exe() (int, bool) {
	fd, err := unix.Openat(c.box.procfs, c.proc("exe"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	return c.hold(fd), true
}

// fits judges the program that a process has become, which must be the given file, and removes
// the variables that it may not have. It also judges the name that the program was started by,
// since one file may have several.
func (c programs) fits(s *seized, want becoming, image int) bool {
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
	if where(exe) == "" {
		exe = want.file() // a copy is judged where the original is
	}
	rule, ok := c.started(s, want, exe)
	if ok && rule != nil && !rule.AllEnvs {
		ok = s.narrow(rule.Envs) == nil
	}
	return ok
}

// interprets reports whether a process has become the interpreter of the judged script: its
// first arguments are head, and the path among them still leads to the script. A path that was
// good for the call only, such as the path of a descriptor closed since, leads nowhere.
func (c programs) interprets(s *seized, want becoming) bool {
	argv, err := s.arguments()
	if err != nil || len(argv) < len(want.head) || !slices.Equal(argv[:len(want.head)], want.head) {
		return false
	}
	script, e := c.image(unix.AT_FDCWD, want.path, 0)
	return e != 0 || same(script, want.file())
}

// started judges the program that a process has become, with its real arguments, and returns
// the rule.
func (c programs) started(s *seized, want becoming, exe int) (*ir.CommandRule, bool) {
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

// same reports whether two descriptors refer to one file.
func same(a, b int) bool {
	x, known := inode(a)
	y, ok := inode(b)
	return known && ok && x == y
}
