package supervisor

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/supervisor/clone"
)

// Child is the process that becomes the tool: a clone, or this process itself. Either inherits
// the descriptors and capabilities of this process, which must have dropped all that the tool
// must not have.
type Child struct {
	// Ruleset is the descriptor of the Landlock ruleset. Own, if not zero, is the set of rights
	// that the process gets on its own directory of /proc.
	Ruleset int
	Own     uint64
	Filter  []unix.SockFilter
	Limits  []Limit
	// Join, if not nil, is the list of processes of the cgroup that the child joins.
	Join *os.File
	// Unsupervised is set where the filter traps nothing and no supervisor listens.
	Unsupervised bool
	// Filtered is set where the thread that starts the child has the filter, which clones inherit.
	Filtered bool
	// Canary is a path that the ruleset must refuse to open; empty for none.
	Canary string
	// Dir is where the child starts, empty for where this process stands. Files, if not nil, become
	// its standard descriptors, and it gets no others.
	Dir       string
	Files     *[3]int
	File      string
	Argv, Env []string
}

// Limit is a resource limit (setrlimit(2)).
type Limit struct {
	Resource int
	Value    unix.Rlimit
}

// step is one system call of the child. A clone of a Go process has one thread and no runtime: it
// cannot allocate, grow its stack or take a signal, so everything is laid out before
// (supervisor/clone).
type step struct {
	name string
	nr   uintptr
	args [5]uintptr
	// want is the error that the call must end in.
	want syscall.Errno
	// keep stores the result; use passes the stored result as the first argument.
	keep bool
	use  bool
	// patch receives the stored result before the call.
	patch *int32
	// exactly, if not 0, is the result that the call must have.
	exactly uintptr
}

// report is a message of the child: the step that failed and its error, or that the filter is
// in force and, as errno, the number of its listener.
type report struct {
	step  int32
	errno int32
}

// ready is the step of the report that the filter is in force.
const ready = -1

// program is the steps of a child with everything that they point to.
type program struct {
	steps []step
	alive []any
	task  clone.Task
	// here is set where this process takes the steps itself. Otherwise the clone writes its
	// reports to out, and waits for a byte from in, which permit receives.
	here    bool
	in, out uintptr
	permit  byte
	said    report
	// kept is the stored result of a step.
	kept uintptr
	pid  int
	// process is a descriptor of the clone (CLONE_PIDFD in clone(2)), where it was asked for.
	process int32
	// alone is set where the clone has no supervisor and this thread waits until it has executed
	// the tool or ended. It then notes a failed step in fault, memory that both have.
	alone bool
	fault *report
	// failed is the failure of such a clone.
	failed error
}

func (p *program) add(s step) { p.steps = append(p.steps, s) }

func (p *program) text(s string) (uintptr, error) {
	b, err := syscall.BytePtrFromString(s)
	p.alive = append(p.alive, b)
	return uintptr(unsafe.Pointer(b)), err
}

func (p *program) texts(list []string) (uintptr, error) {
	b, err := syscall.SlicePtrFromStrings(list)
	if err != nil {
		return 0, err
	}
	p.alive = append(p.alive, b)
	return uintptr(unsafe.Pointer(&b[0])), nil
}

// join has the process join the cgroup whose list of processes is given.
func (p *program) join(procs *os.File) {
	zero := []byte("0")
	p.alive = append(p.alive, &zero[0])
	p.add(step{name: "joining the cgroup", nr: unix.SYS_WRITE,
		args: [5]uintptr{procs.Fd(), uintptr(unsafe.Pointer(&zero[0])), 1}, exactly: 1})
}

// beneath is struct landlock_path_beneath_attr, which is packed.
type beneath struct {
	access uint64
	parent int32
}

// sigaction is struct kernel_sigaction of the architectures that this runs on; all
// zero it is SIG_DFL.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// confinementOrder lists the parts of the program by which a child confines itself and becomes the
// tool, in their order. Some are only for clones, and some of these only for a clone that is
// waited for here.
var confinementOrder = [...]struct {
	cloned, attended bool
	add              func(*Child, *program) error
}{
	{true, false, (*Child).endWithParent},
	{true, false, (*Child).takeFiles},
	{true, false, (*Child).enter},
	{true, false, (*Child).grantOwn},
	{false, false, (*Child).restrict},
	// Before the filter, under which a supervisor may answer the open and the setting of limits.
	// The limits come late: they bind the Go runtime of this process as well.
	{false, false, (*Child).checkRuleset},
	{false, false, (*Child).joinGroup},
	{false, false, (*Child).limit},
	{false, false, (*Child).filter},
	{true, true, (*Child).wait},
	{false, false, (*Child).checkFilter},
	// In this process the runtime handles signals up to the end, and package syscall executes the
	// tool, which keeps the runtime from making threads meanwhile; see Become.
	{true, false, (*Child).resetSignals},
	{true, false, (*Child).execute},
}

// assemble lays out the steps.
func (c *Child) assemble(p *program) error {
	p.alive = append(make([]any, 0, 16), c)
	p.steps = make([]step, 0, 2*64) // a step for each signal, and the others
	for _, part := range confinementOrder {
		if part.cloned && p.here || part.attended && p.alone {
			continue
		}
		if err := part.add(c, p); err != nil {
			return &StartError{Step: "the command", Exec: true, Err: err}
		}
	}
	return nil
}

// endWithParent has the kernel kill a clone when its parent ends, and ends a clone whose parent has
// ended before.
func (c *Child) endWithParent(p *program) error {
	p.add(step{name: "PR_SET_PDEATHSIG", nr: unix.SYS_PRCTL,
		args: [5]uintptr{unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL)}})
	p.add(step{name: "the parent", nr: unix.SYS_GETPPID, exactly: uintptr(os.Getpid())})
	return nil
}

// takeFiles gives a clone its standard descriptors. Of all others only those stay until it executes
// the tool that it needs itself.
func (c *Child) takeFiles(p *program) error {
	if c.Files == nil {
		return nil
	}
	for n, fd := range c.Files {
		p.add(step{name: "dup3", nr: unix.SYS_DUP3, args: [5]uintptr{uintptr(fd), uintptr(n), 0}})
	}
	p.add(step{name: "close_range", nr: unix.SYS_CLOSE_RANGE,
		args: [5]uintptr{3, ^uintptr(0) >> 32, unix.CLOSE_RANGE_CLOEXEC}})
	return nil
}

// enter takes a clone to the directory that the tool starts in.
func (c *Child) enter(p *program) error {
	if c.Dir == "" {
		return nil
	}
	dir, err := p.text(c.Dir)
	p.add(step{name: stepEnter, nr: unix.SYS_CHDIR, args: [5]uintptr{dir}})
	return err
}

const stepEnter = "the working directory"

// grantOwn adds the directory of a clone in /proc to the ruleset, where its parent could not.
func (c *Child) grantOwn(p *program) error {
	if c.Own == 0 {
		return nil
	}
	path, err := p.text("/proc/self")
	attr := &beneath{access: c.Own}
	p.alive = append(p.alive, attr)
	at := unix.AT_FDCWD
	p.add(step{name: "/proc/self", nr: unix.SYS_OPENAT,
		args: [5]uintptr{uintptr(at), path, unix.O_PATH | unix.O_CLOEXEC}, keep: true})
	p.add(step{
		name: "landlock_add_rule", nr: unix.SYS_LANDLOCK_ADD_RULE, patch: &attr.parent,
		args: [5]uintptr{uintptr(c.Ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(attr))},
	})
	p.add(step{name: "close", nr: unix.SYS_CLOSE, use: true})
	return err
}

// restrict puts the ruleset in force.
func (c *Child) restrict(p *program) error {
	p.add(step{name: "no_new_privs", nr: unix.SYS_PRCTL, args: [5]uintptr{unix.PR_SET_NO_NEW_PRIVS, 1}})
	p.add(step{name: "landlock_restrict_self", nr: unix.SYS_LANDLOCK_RESTRICT_SELF,
		args: [5]uintptr{uintptr(c.Ruleset)}})
	return nil
}

// checkRuleset opens a file that the ruleset must refuse by now.
func (c *Child) checkRuleset(p *program) error {
	if c.Canary == "" {
		return nil
	}
	path, err := p.text(c.Canary)
	at := unix.AT_FDCWD
	p.add(step{
		name: "canary of the ruleset (open)", nr: unix.SYS_OPENAT, want: syscall.EACCES,
		args: [5]uintptr{uintptr(at), path, unix.O_RDONLY | unix.O_CLOEXEC},
	})
	return err
}

func (c *Child) joinGroup(p *program) error {
	if c.Join != nil {
		p.join(c.Join)
	}
	return nil
}

func (c *Child) limit(p *program) error {
	if len(c.Limits) > 0 && c.Files != nil && !p.here {
		// A host has many descriptors, and the listener has to get a number below the limit of files.
		free := uintptr(c.spare(p))
		p.add(step{name: "dup3", nr: unix.SYS_DUP3, args: [5]uintptr{0, free, unix.O_CLOEXEC}})
		p.add(step{name: "close", nr: unix.SYS_CLOSE, args: [5]uintptr{free}})
	}
	for i := range c.Limits {
		p.add(step{
			name: "setrlimit", nr: unix.SYS_PRLIMIT64,
			args: [5]uintptr{0, uintptr(c.Limits[i].Resource), uintptr(unsafe.Pointer(&c.Limits[i].Value))},
		})
	}
	return nil
}

// spare is a low number that is no descriptor which a clone still needs.
func (c *Child) spare(p *program) int {
	needed := []int{c.Ruleset, int(p.in), int(p.out)}
	if c.Join != nil {
		needed = append(needed, int(c.Join.Fd()))
	}
	free := 3
	for slices.Contains(needed, free) {
		free++
	}
	return free
}

// filter puts the filter in force.
func (c *Child) filter(p *program) error {
	if c.Filtered {
		return nil
	}
	prog := &unix.SockFprog{Len: uint16(len(c.Filter)), Filter: &c.Filter[0]}
	p.alive = append(p.alive, prog)
	flags := uintptr(filterFlags)
	if c.Unsupervised {
		flags = 0
	}
	p.add(step{
		name: "seccomp", nr: unix.SYS_SECCOMP, keep: true,
		args: [5]uintptr{unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(prog))},
	})
	return nil
}

// wait has a clone report the number of its listener, and wait for its parent.
func (c *Child) wait(p *program) error {
	p.said = report{step: ready}
	p.add(step{
		name: "write", nr: unix.SYS_WRITE, patch: &p.said.errno,
		args: [5]uintptr{p.out, uintptr(unsafe.Pointer(&p.said)), unsafe.Sizeof(p.said)},
	})
	p.add(step{name: "read", nr: unix.SYS_READ,
		args: [5]uintptr{p.in, uintptr(unsafe.Pointer(&p.permit)), 1}, exactly: 1})
	return nil
}

// checkFilter makes calls that the filter must refuse by now. The socket is of a family that
// every filter refuses: a supervised tool may make the others, and its supervisor judges them.
// Without the filter the kernel would answer EPERM (packet(7), CAP_NET_RAW).
func (c *Child) checkFilter(p *program) error {
	none := ^uintptr(0)
	p.add(step{name: "canary of the filter (setns)", nr: unix.SYS_SETNS, args: [5]uintptr{none}, want: syscall.EPERM})
	p.add(step{
		name: "canary of the network (socket)", nr: unix.SYS_SOCKET, want: syscall.EACCES,
		args: [5]uintptr{unix.AF_PACKET, unix.SOCK_RAW},
	})
	return nil
}

// resetSignals undoes the signal handling of the Go runtime in a clone, which must not run a
// handler before it executes the tool.
func (c *Child) resetSignals(p *program) error {
	normal := &sigaction{}
	p.alive = append(p.alive, normal)
	for s := 1; s <= 64; s++ {
		if sig := syscall.Signal(s); sig != unix.SIGKILL && sig != unix.SIGSTOP && !inheritsIgnored(sig) {
			p.add(step{
				name: "rt_sigaction", nr: unix.SYS_RT_SIGACTION,
				args: [5]uintptr{uintptr(s), uintptr(unsafe.Pointer(normal)), 0, 8},
			})
		}
	}
	p.add(step{
		name: "rt_sigprocmask", nr: unix.SYS_RT_SIGPROCMASK,
		args: [5]uintptr{unix.SIG_SETMASK, uintptr(unsafe.Pointer(&p.task.Mask)), 0, 8},
	})
	return nil
}

const stepExec = "execve"

func (c *Child) execute(p *program) error {
	file, err1 := p.text(c.File)
	argv, err2 := p.texts(c.Argv)
	env, err3 := p.texts(c.Env)
	p.add(step{name: stepExec, nr: unix.SYS_EXECVE, args: [5]uintptr{file, argv, env}})
	return cmp.Or(err1, err2, err3)
}

// filterFlags ask for a listener, and for calls that only a deadly signal interrupts once the
// supervisor has received them: otherwise the kernel would restart a call that is already
// carried out (seccomp(2), Linux 5.19). No flag lets a tool have a listener of its own below.
// See decision D50.
const filterFlags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV

// clone starts the child.
func (p *program) clone(flags uintptr) syscall.Errno {
	p.task.Run, p.task.Arg, p.task.Flags = enter, unsafe.Pointer(p), flags
	pid, e := p.task.Start()
	p.pid = pid
	return e
}

//go:norace
//go:nosplit
func enter(p unsafe.Pointer) { (*program)(p).run() }

// run takes the steps in the child and does not return.
//
//go:norace
//go:noinline
//go:nosplit
func (p *program) run() {
	for i := range p.steps {
		if e, ok := p.take(&p.steps[i]); !ok {
			p.said = report{int32(i), int32(e)}
			if p.fault != nil {
				*p.fault = p.said
				break
			}
			syscall.RawSyscall(unix.SYS_WRITE, p.out, uintptr(unsafe.Pointer(&p.said)), unsafe.Sizeof(p.said))
			break
		}
	}
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 125, 0, 0)
	}
}

// take takes a step, in the clone or in this process, and reports whether it ended as it must.
//
//go:norace
//go:nosplit
func (p *program) take(s *step) (syscall.Errno, bool) {
	first := s.args[0]
	if s.use {
		first = p.kept
	}
	if s.patch != nil {
		*s.patch = int32(p.kept)
	}
	r, _, e := syscall.RawSyscall6(s.nr, first, s.args[1], s.args[2], s.args[3], s.args[4], 0)
	if e != s.want || s.exactly != 0 && r != s.exactly {
		return e, false
	}
	if s.keep {
		p.kept = r
	}
	return 0, true
}

// failure is the error of a step.
func (s *step) failure(e syscall.Errno) error {
	err := error(e)
	if s.want != 0 {
		err = fmt.Errorf("not denied (%w)", e)
	}
	return &StartError{Step: s.name, Exec: s.name == stepExec, Err: err}
}

// byDefault restores the default effect of a signal.
func byDefault(s syscall.Signal) {
	normal := sigaction{}
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&normal)), 0, 8, 0, 0)
}
