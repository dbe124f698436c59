package broker

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/broker/denial"
)

// Broker answers the trapped calls of one tool.
type Broker struct {
	*judge
	listener listener
	handlers map[uint32]handler
	traps    traps
	// self is this process, procfs and root its views of /proc and "/".
	self         int
	procfs, root int
	// names is held by whoever relies on where something is, and exclusively by
	// moves: what was judged at its place must still be there when it is acted on.
	names sync.RWMutex
	// idle counts the workers that wait for a call, patient those whose call waits for
	// somebody else, all every one.
	idle, patient, all atomic.Int32
	// shares is true where threads have their working directory and umask in common;
	// shared is then held by whoever sets them.
	shares atomic.Bool
	shared sync.Mutex
	// byPort leaves connections that no address allows to the ruleset's ports.
	byPort bool
	// tool is the process that the tool starts in, became whether it has.
	tool   int
	became atomic.Bool
	// stops are the events of threads that were seized, returns the calls that they are
	// made to make.
	stops   stops
	returns returns
	// grants say what the ruleset lets be started, images are copies of what it does not.
	grants    Grants
	images    images
	stoneOnce sync.Once
	// join is the list of processes of the tool's cgroup, nil for none.
	join     *os.File
	stone    int
	stoneErr error
	// domains are the tool's own rulesets, nil where it can have none.
	domains *domains
	// wall is how long the tool may run, 0 for any time.
	wall time.Duration
	// denied takes what is refused, nil for nobody; calls names the system calls.
	denied func(*denial.Denial)
	calls  map[uint32]string
	// trace foresees what the kernel refuses by itself, nil where nobody asks.
	trace *trace
}

// traps are the classes of calls that the filter hands over, as far as an answer
// depends on them.
type traps struct{ reads bool }

// Bounds on what a tool can make the broker hold: workers are threads, and what is
// not received yet waits in the kernel.
const (
	maxWorkers = 32
	maxPatient = 256
)

// Options are what a start decides beside the specification.
type Options struct {
	// Temp is the temporary directory of the run.
	Temp string
	// ByPort is set where the ports of the specification were accepted.
	ByPort bool
	// Wall is how long the tool may run, 0 for any time.
	Wall time.Duration
	// Denied, where not nil, takes every refusal before the tool learns of it. It is
	// called by many threads. Calls are the names of the system calls by number.
	Denied func(*denial.Denial)
	Calls  map[uint32]string
	// Grants are what the ruleset was made of.
	Grants Grants
	// Join is the list of processes of the tool's cgroup, nil for none.
	Join *os.File
	// Trace, where not nil, has Denied told as well what the kernel refuses by itself.
	Trace *Tracing
}

// New prepares a broker for the tool of a specification. It listens once the tool has
// been started.
func New(s *landlock.Spec, o Options) (*Broker, error) {
	j, err := newJudge(s, o.Temp)
	if err != nil {
		return nil, err
	}
	b := &Broker{judge: j, self: unix.Getpid(), handlers: handlers(), byPort: o.ByPort, wall: o.Wall, denied: o.Denied, calls: o.Calls, grants: o.Grants, join: o.Join}
	if b.trace = newTrace(s, o.Trace); b.trace != nil {
		b.watch()
	}
	if markable() {
		b.domains = newDomains()
	}
	for _, t := range s.Supervision.Traps {
		b.traps.reads = b.traps.reads || t.Group == "open" && t.Syscalls[0] == "openat" && len(t.When) == 1
	}
	if err := seizes(s.Supervision.Traps); err != nil {
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

// spawn starts a worker where the number of those that have something to do allows it.
func (b *Broker) spawn() {
	if b.all.Add(1)-b.patient.Load() > maxWorkers {
		b.all.Add(-1)
		return
	}
	b.idle.Add(1)
	go b.work()
}

// settle makes this thread one that answers calls: without any capability, never
// running other code and, where nothing forbids unshare(2), as container profiles do,
// with a working directory and a umask of its own. Signals, among them those by which
// the Go runtime preempts, go to other threads: SECCOMP_IOCTL_NOTIF_ADDFD with SEND that
// is interrupted answers the call with descriptor 0 and adds none
// (seccomp_notify_addfd() in kernel/seccomp.c marks the call as replied before it waits).
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

// work answers calls. A worker that cannot go on ends the supervisor, and with it the
// tool: nobody may be left to wait for an answer.
func (b *Broker) work() {
	if err := b.settle(); err != nil {
		fatal("a thread of the supervisor", err)
	}
	var n notification
	for {
		switch e := b.listener.receive(&n); e {
		case 0:
		case unix.EINTR:
			continue
		case unix.ENOENT:
			// The call has gone before it could be received, or every caller has.
			if b.listener.poll()&unix.POLLHUP != 0 {
				return
			}
			continue
		default:
			fatal("the listener", e)
		}
		if b.idle.Add(-1) == 0 && b.listener.poll()&unix.POLLIN != 0 {
			b.spawn()
		}
		b.answer(&n)
		b.idle.Add(1)
	}
}

// fatal ends this process, with which the tool dies.
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
func (b *Broker) answer(n *notification) {
	c := &call{Broker: b, id: n.id, tid: int(n.pid), nr: uint32(n.nr), args: n.args}
	a := fails(unix.ENOSYS)
	if refused, ok := c.blocked(); ok {
		a = refused
	} else if !c.bounded() {
		a = fails(unix.EACCES)
	} else if handle := b.handlers[c.nr]; handle != nil {
		a = handle(c)
	}
	c.tell(a)
	b.listener.send(c.id, a)
	if a.then != nil {
		a.then()
	}
	c.release()
}

// patiently runs what may wait for another process, such as opening a fifo.
func (c *call) patiently(act func() answer) answer {
	if !c.await() {
		return fails(unix.EAGAIN)
	}
	defer c.awaited()
	return act()
}

// await begins to wait for another process, unless too many calls do. Others are
// answered meanwhile: among them the call that is waited for.
func (c *call) await() bool {
	if c.patient.Add(1) > maxPatient {
		c.patient.Add(-1)
		return false
	}
	if c.idle.Load() == 0 {
		c.spawn()
	}
	return true
}

// awaited ends the wait.
func (c *call) awaited() { c.patient.Add(-1) }
