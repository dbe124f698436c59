package supervisor

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/ir"
)

// Broker is the supervisor: it answers the trapped calls of one tool.
type Broker struct {
	*judge
	listener listener
	handlers map[uint32]handler
	// self is this process, procfs and root its views of /proc and "/".
	self         int
	procfs, root int
	// names is held while a call relies on the place of a file, and exclusively by moves: a
	// file that was judged at its place must still be there when it is acted on.
	names sync.RWMutex
	// receiver is held by the worker that waits for the next call. Worker counts: parked wait
	// for their turn to receive, pending are blocked on another process, all is the total.
	receiver             sync.Mutex
	parked, pending, all atomic.Int32
	// shares is true where threads share their working directory and umask; the thread that
	// sets them then holds common.
	shares atomic.Bool
	common sync.Mutex
	// byPort leaves connections that no listed address allows to the ruleset's ports.
	byPort bool
	// tool is the process that the tool starts in, became whether it has.
	tool   int
	became atomic.Bool
	// stops are the events of seized threads, returns the calls that they are made to make.
	stops   stops
	returns returns
	// grants are the files that the ruleset lets be started by rules of their own, images are
	// copies of others. carried is true once the tool has given one of those files another
	// place, uncompared once a program was started that the supervisor could not inspect. Both
	// change with the lock on names held.
	grants              Grants
	carried, uncompared atomic.Bool
	images              images
	stoneOnce           sync.Once
	stone               int
	stoneErr            error
	// placements are the directories and files that the ruleset grants as wholes, absent the
	// granted paths that were not there at the start. whole is the set of capabilities that the
	// ruleset grants on the workspace, where the workspace and the targets of external rules
	// are the only placements.
	placements []Placement
	absent     []string
	whole      ir.CapSet
	// interpreters are those of listed scripts at the start: canonical path of the script to
	// canonical path of its interpreter.
	interpreters map[string]string
	// narrows is set where some program gets fewer variables than the tool.
	narrows bool
	// Places that are other files for every tool: the controlling terminal, the standard
	// descriptors that it was started with, the shared memory of the run.
	terminal terminal
	given    [3]Inode
	shared   private
	kinds    filesystems
	// join is the list of processes of the tool's cgroup, nil for none.
	join *os.File
	// marks identifies the processes of the tool, domains are its own rulesets; nil where
	// processes cannot be marked.
	marks   *mark
	domains *domains
	// wall is how long the tool may run, 0 for any time.
	wall time.Duration
	// denied receives every refusal, nil for no report; calls are the names of system calls.
	denied func(*denial.Denial)
	calls  map[uint32]string
	// trace names the refusals of the kernel itself, nil without --trace.
	trace *Tracing
}

// Bounds on the resources that a tool can take from the supervisor: workers are threads, and
// calls that are not received yet wait in the kernel.
const (
	maxWorkers = 32
	maxPatient = 256
)

// maxPlacements is the largest number of directories and files that are looked for at an open
// that is left to the kernel.
const maxPlacements = 8

// Options are settings of a start that are not in the specification.
type Options struct {
	// Temp is the temporary directory of the run, Shared the directory that stands for its
	// shared memory; empty for none.
	Temp, Shared string
	// ByPort is set where the gap net.host was accepted, so that connections go by port.
	ByPort bool
	// Wall is how long the tool may run, 0 for any time.
	Wall time.Duration
	// Denied, if not nil, receives every refusal before the tool learns of it. Many threads
	// call it. Calls are the names of the system calls by number.
	Denied func(*denial.Denial)
	Calls  map[uint32]string
	// Grants are the rules of the ruleset, Placements those of whole directories and files,
	// Absent the granted paths that are not there. The supervisor takes over the descriptors.
	Grants     Grants
	Placements []Placement
	Absent     []string
	// Mark is the mark of the tool's processes, nil where they have none.
	Mark *Mark
	// Join is the list of processes of the tool's cgroup, nil for none.
	Join *os.File
	// Trace, if not nil, reports refusals of the kernel itself to Denied, too.
	Trace *Tracing
}

// Placement is a directory or file that the ruleset grants: a descriptor of it, and the
// path that it had.
type Placement struct {
	FD   int
	Path string
}

// New prepares a supervisor for the tool of a specification. It listens once the tool has
// been started.
func New(s *landlock.Spec, o Options) (*Broker, error) {
	j, err := newJudge(s, o.Temp)
	if err != nil {
		return nil, err
	}
	b := &Broker{
		judge: j, self: unix.Getpid(), handlers: handlers(), byPort: o.ByPort, wall: o.Wall, denied: o.Denied, calls: o.Calls,
		grants: o.Grants, placements: o.Placements, absent: o.Absent, join: o.Join, trace: o.Trace, terminal: runTerminal(),
	}
	if len(b.placements) > maxPlacements {
		// Judging costs less than looking for them at every open.
		b.classes.Reads, b.classes.Updates = true, true
	}
	b.interpreters = interpreted(s.Programs)
	b.narrows = b.view.Tool.Commands.Narrows()
	if len(b.absent) == 0 && slices.ContainsFunc(b.placements, func(p Placement) bool { return p.Path == b.roots.Workspace }) &&
		!slices.ContainsFunc(b.placements, func(p Placement) bool { return b.roots.Locate(p.Path).Path != "" }) {
		b.whole = wholly(s, b.roots.Workspace)
	}
	for fd := range b.given {
		b.given[fd], _ = inode(fd)
	}
	if b.trace != nil {
		b.watch()
	}
	if o.Mark != nil {
		b.marks, b.domains = &o.Mark.mark, newDomains(o.Mark.mark)
	}
	if err := seizes(s.Supervision.Traps); err != nil {
		return nil, err
	}
	if b.shared, err = openPrivate(o.Shared); err != nil {
		return nil, err
	}
	if b.procfs, err = unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	if !isProc(b.procfs, true) {
		return nil, unix.ENODEV
	}
	b.root, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return b, err
}

// serve starts answering the calls of a tool.
func (b *Broker) serve(l listener, tool int) {
	b.listener, b.tool = l, tool
	l.takeTurns()
	b.spawn()
}

// everySignal is a set of all signals.
var everySignal = func() (s unix.Sigset_t) {
	for i := range s.Val {
		s.Val[i] = ^s.Val[i]
	}
	return s
}()

// spawn starts a worker unless maxWorkers do not wait for another process already.
func (b *Broker) spawn() {
	if b.all.Add(1)-b.pending.Load() > maxWorkers {
		b.all.Add(-1)
		return
	}
	go b.work()
}

// settle makes this thread one that answers calls: without any capability, never running other
// code and, unless unshare(2) is refused, as by container profiles, with a working directory
// and a umask of its own. Signals, among them those by which the Go runtime preempts, go to
// other threads: SECCOMP_IOCTL_NOTIF_ADDFD with SEND that is interrupted answers the call with
// descriptor 0 and adds none (seccomp_notify_addfd() in kernel/seccomp.c marks the call as
// replied before it waits).
func (b *Broker) settle() error {
	runtime.LockOSThread()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &everySignal, nil); err != nil {
		return err
	}
	if unix.Unshare(unix.CLONE_FS) != nil {
		b.shares.Store(true)
	}
	return clearCapabilities()
}

// work answers calls. One worker at a time waits for them: the kernel would wake several in
// turn, each with a cold cache. A worker lets another wait when a further call is ready, and
// while it waits for another process itself. A worker that cannot go on ends the supervisor,
// and with it the tool: no call may be left without an answer.
func (b *Broker) work() {
	if err := b.settle(); err != nil {
		fatal("a thread of the supervisor", err)
	}
	w := worker{Broker: b}
	var n notification
	for {
		w.lead()
		switch e := b.listener.receive(&n); e {
		case 0:
		case unix.EINTR:
			continue
		case unix.ENOENT:
			// The call was gone before it could be received, or all callers have ended.
			if b.listener.poll()&unix.POLLHUP != 0 {
				w.yield()
				return
			}
			continue
		default:
			fatal("the listener", e)
		}
		if b.listener.poll()&unix.POLLIN != 0 {
			w.yield()
		}
		b.answer(&w, &n)
	}
}

// worker is a thread that answers calls; leads is true while it is the one to receive the next.
type worker struct {
	*Broker
	leads bool
}

// lead waits until this worker is the one to receive calls.
func (w *worker) lead() {
	if w.leads {
		return
	}
	w.parked.Add(1)
	w.receiver.Lock()
	w.parked.Add(-1)
	w.leads = true
}

// yield lets another worker receive calls while this one is busy.
func (w *worker) yield() {
	if !w.leads {
		return
	}
	w.leads = false
	w.receiver.Unlock()
	if w.parked.Load() == 0 {
		w.spawn()
	}
}

// fatal ends this process; the kernel then kills the tool.
func fatal(what string, err error) {
	_, _ = os.Stderr.WriteString("accessc: " + what + ": " + err.Error() + "\n")
	_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
}

// clearCapabilities takes every capability from this thread.
func clearCapabilities() error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&hdr, &none[0])
}

// answer judges and ends one call.
func (b *Broker) answer(w *worker, n *notification) {
	c := &call{Broker: b, worker: w, id: n.id, tid: int(n.pid), nr: uint32(n.nr), args: n.args}
	a := fails(unix.ENOSYS)
	if refused, ok := c.blocked(); ok {
		a = refused
	} else if !c.bounded() {
		a = fails(unix.EACCES)
	} else if handle := b.handlers[c.nr]; handle != nil {
		a = handle(c)
	}
	if a.wait != nil {
		a = c.patiently(a.wait)
	}
	c.tell(a)
	b.listener.send(c.id, a)
	if a.then != nil {
		a.then()
	}
	c.release()
}

// patiently makes a call that may wait for another process, such as opening a fifo.
func (c *call) patiently(act func() answer) answer {
	if !c.await() {
		return fails(unix.EAGAIN)
	}
	defer c.awaited()
	return act()
}

// await begins to wait for another process, unless too many calls do. Other workers go on
// answering, since the awaited process may need that.
func (c *call) await() bool {
	if c.pending.Add(1) > maxPatient {
		c.pending.Add(-1)
		return false
	}
	if c.worker.leads {
		c.worker.yield()
	} else if c.parked.Load() == 0 {
		// spawn may have found too many workers when this one yielded; from now on it does not
		// count.
		c.spawn()
	}
	return true
}

// awaited ends the wait.
func (c *call) awaited() { c.pending.Add(-1) }
