package supervisor

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/undo"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// Supervisor answers the trapped calls of one tool.
type Supervisor struct {
	policy   *judge
	sandbox  sandbox
	listener listener
	handlers map[uint32]handler
	// names is held while a call relies on the place of a file, and exclusively by moves: a
	// file that was judged at its place must still be there when it is acted on.
	names sync.RWMutex
	// seats are the seats of the workers that receive calls. Worker counts: pending are blocked
	// on another process, all is the total.
	seats        seats
	pending, all atomic.Int32
	// busy are the goroutines of the run; polls is set where a worker must not wait in the kernel
	// for calls that will not come.
	busy  sync.WaitGroup
	polls bool
	// shares is true where threads share their working directory and umask; the thread that
	// sets them then holds common.
	shares atomic.Bool
	common sync.Mutex
	// egress is the way to the egress proxy, nil where no rule names a host.
	egress *egress
	// pairs are the supervisor's ends of pairs that stand for sockets.
	pairs pairs
	// peers are the addresses that the tool has in view, asks the names that it was refused.
	peers peers
	asks  names
	// listeners are the sockets at which the tool accepts connections.
	listeners listeners
	// socketFiles are the socket files that it has bound, where uses are kept.
	socketFiles socketFiles
	// tool is the process that the tool starts in, became whether it has.
	tool   int
	became atomic.Bool
	// stops are the events of seized threads, returns the calls that they are made to make.
	stops   stops
	returns returns
	// grants are the files that the ruleset lets be started by rules of their own, images are
	// copies of others. carried is true once the tool has given one of these files another
	// place, uncompared once a program was started that the supervisor could not inspect. Both
	// change with the lock on names held.
	grants              Grants
	carried, uncompared atomic.Bool
	images              images
	objects             objects
	queues              queues
	locked              locks
	trampoline          trampoline
	// placements are the directories and files that the ruleset grants as wholes, absent the
	// granted paths that were not there at the start. whole is the set of capabilities that the
	// ruleset grants on the workspace, where the workspace and the targets of external rules
	// are the only placements. crowded is true where there are more than are looked for at an open.
	placements []Placement
	absent     []string
	whole      ir.CapSet
	crowded    bool
	// intruded is the epoch of the list of mounts times two, plus 1 where a file system of the kernel is below a
	// placement. polled is when that was found out.
	intruded atomic.Uint64
	polled   atomic.Int64
	// interpreters are the interpreters of listed scripts at the start: canonical path of the
	// script to canonical path of its interpreter.
	interpreters map[string]string
	// narrows is set where some program gets fewer variables than the tool.
	narrows bool
	// domains are the tool's own rulesets, nil where processes cannot be marked.
	domains *domains
	// ends is when the tool is killed, zero for never.
	ends time.Time
	// denied receives every refusal, nil for no report; calls are the names of system calls.
	denied func(*denial.Denial)
	calls  map[uint32]string
	// used receives every granted operation that is carried out, nil where none are kept.
	used func(*denial.Denial)
	// judged receives every judged operation, nil for no evidence log.
	judged func(*denial.Denial)
	// sought receives the names that it looks for in its home and that are not there, nil where none are kept.
	sought func(string)
	// keeper keeps the originals of what the tool changes, nil where none are kept.
	keeper *undo.Keeper
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
// that is left to the kernel: judging costs less than looking for more of them.
// See decision D46.
const maxPlacements = 3

// Options are settings of a start that are not in the specification.
type Options struct {
	// Policy is the policy of the specification, nil where it is still to be read.
	Policy *Policy
	// Temp is the temporary directory of the run, Shared the directory that stands for its
	// shared memory; empty for none.
	Temp, Shared string
	// Dir is the directory of the run. The tool may write in it, and not beside it.
	Dir string
	// Files are the standard descriptors of the tool, nil for the descriptors of this process.
	Files *[3]int
	// Egress is the egress proxy of the run, nil where no rule names a host.
	Egress *Egress
	// Ends is when the tool is killed, zero for never.
	Ends time.Time
	// Denied, if not nil, receives every refusal before the tool learns of it. Many threads
	// call it. Calls are the names of the system calls by number.
	Denied func(*denial.Denial)
	Calls  map[uint32]string
	// Used, if not nil, receives every granted operation whose call is carried out. Many threads
	// call it.
	Used func(*denial.Denial)
	// Judged, if not nil, receives every operation that is refused, before the tool learns of it, and every operation
	// that is granted, before its call is answered. Many threads call it.
	Judged func(*denial.Denial)
	// Sought, if not nil, receives the name of every file that the tool looks for in its home and that is not
	// there. Many threads call it.
	Sought func(string)
	// Keeper, if not nil, keeps the originals of what the tool changes. The specification must have been made for it.
	Keeper *undo.Keeper
	// Grants are the rules of the ruleset, Placements the rules of whole directories and files,
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
	// Live, if not nil, has the user grant operations that the policy's list May covers.
	Live *live.Options
}

// Placement is a directory or file that the ruleset grants: a descriptor of it, and the
// path that it had.
type Placement struct {
	FD   int
	Path string
}

// New prepares a supervisor for the tool of a specification. It listens once the tool has
// been started.
func New(spec *landlock.Spec, o Options) (*Supervisor, error) {
	if o.Policy == nil {
		var err error
		if o.Policy, err = ReadPolicy(spec); err != nil {
			return nil, err
		}
	}
	policy := o.Policy.judge(spec, o.Temp)
	s := &Supervisor{
		policy: policy, handlers: handlers(), egress: newEgress(o.Egress), ends: o.Ends, denied: o.Denied,
		calls: o.Calls, used: o.Used, sought: o.Sought, judged: o.Judged, keeper: o.Keeper,
		grants: o.Grants, placements: o.Placements, absent: o.Absent, images: images{join: o.Join}, trace: o.Trace,
		objects: objects{list: objectList{path: ListOfObjects(o.Dir)}},
	}
	if o.Judged != nil {
		s.denied = func(d *denial.Denial) {
			if o.Denied != nil {
				o.Denied(d)
			}
			o.Judged(d)
		}
	}
	if o.Live != nil {
		s.grantsLive(*o.Live)
	}
	s.surveys(spec)
	s.interpreters = interpreted(spec.Programs)
	s.narrows = policy.view.Tool.Commands.Narrows()
	if s.egress == nil && spec.Supervision.Egress {
		return nil, errNoEgress
	}
	if o.Mark != nil {
		s.domains = newDomains(o.Mark.mark)
	}
	if err := seizes(spec.Supervision.Traps); err != nil {
		return nil, err
	}
	return s, s.sandbox.open(&policy.roots, o.Policy.facts.Base, o)
}

// surveys finds out which opens may be left to the kernel, and on which condition.
func (s *Supervisor) surveys(spec *landlock.Spec) {
	workspace := s.policy.roots.Workspace
	caps := wholly(spec, workspace)
	granted := slices.ContainsFunc(s.placements, func(p Placement) bool { return p.Path == workspace })
	// within reports whether the rule on the workspace lets all be opened that the rule on a path
	// in it does.
	within := func(path string) bool {
		return granted && strings.HasPrefix(path, strings.TrimSuffix(workspace, "/")+"/") &&
			caps.Contains(wholly(spec, path))
	}
	s.absent = slices.DeleteFunc(slices.Clone(s.absent), within)
	s.crowded = len(s.placements)+len(s.absent) > maxPlacements
	if granted && len(s.absent) == 0 &&
		!slices.ContainsFunc(s.placements, func(p Placement) bool {
			return s.policy.roots.Locate(p.Path).Path != "" && !within(p.Path)
		}) {
		s.whole = caps
	}
}

// serve starts answering the calls of a tool.
func (s *Supervisor) serve(l listener, tool int) {
	s.listener, s.tool = l, tool
	if s.egress != nil {
		s.busy.Go(func() { s.egress.listen(s.told) })
	}
	s.seats.given.L = &s.seats.mu
	s.arrange()
	s.spawn()
}

// everySignal is a set of all signals.
var everySignal = func() (s unix.Sigset_t) {
	for i := range s.Val {
		s.Val[i] = ^s.Val[i]
	}
	return s
}()

// spawn starts a worker unless maxWorkers do not wait for another process already.
func (s *Supervisor) spawn() {
	if s.all.Add(1)-s.pending.Load() > maxWorkers {
		s.all.Add(-1)
		return
	}
	s.busy.Add(1)
	job := func(shares bool) {
		defer s.busy.Done()
		if shares {
			s.shares.Store(true)
		}
		s.work()
	}
	select {
	case resting <- job:
	default:
		go workFor(job)
	}
}

// resting gives jobs to workers of tools that have ended: a thread is made and settled once for tools that
// follow each other soon.
var resting = make(chan func(shares bool))

// rests is how long a worker waits for another tool.
const rests = time.Second

// workFor has a thread do a job, and others that come while it rests.
func workFor(job func(shares bool)) {
	shares, err := settle()
	if err != nil {
		fatal("a thread of the supervisor", err)
	}
	for job != nil {
		job(shares)
		timer := time.NewTimer(rests)
		select {
		case job = <-resting:
			timer.Stop()
		case <-timer.C:
			job = nil
		}
	}
}

// settle makes this thread fit to answer calls: without any capability, never running other
// code and, unless unshare(2) is refused, as by container profiles, with a working directory
// and a umask of its own. Signals, among them the signals by which the Go runtime preempts, go to
// other threads: SECCOMP_IOCTL_NOTIF_ADDFD with SEND that is interrupted answers the call with
// descriptor 0 and adds none (seccomp_notify_addfd() in kernel/seccomp.c marks the call as
// replied before it waits). Nothing of a call stays with the thread: a call that changes the working directory
// takes it back, and a call that makes a file sets the umask. shares is true where it shares these two.
func settle() (shares bool, err error) {
	runtime.LockOSThread()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &everySignal, nil); err != nil {
		return false, err
	}
	shares = unix.Unshare(unix.CLONE_FS) != nil
	unhurried()
	return shares, ClearCapabilities()
}

// work answers calls until no process is left that makes any. A worker that cannot go on ends
// the supervisor, and with it the tool: no call may be left without an answer.
func (s *Supervisor) work() {
	w := &worker{Supervisor: s}
	defer w.close()
	var n notification
	for {
		w.lead()
		if s.polls {
			s.listener.await()
		}
		switch e := s.listener.receive(&n); e {
		case 0:
		case unix.EINTR:
			continue
		case unix.ENOENT:
			// The call was gone before it could be received, or all callers have ended.
			if s.listener.poll()&unix.POLLHUP != 0 {
				w.leave()
				return
			}
			continue
		default:
			fatal("the listener", e)
		}
		text := w.read(&n)
		points.Reach(points.Read)
		if len(text) > 0 && w.answers(&n, text) {
			continue
		}
		w.share()
		s.answer(w, &n, string(text))
		s.seats.busy.Add(-1)
	}
}

// fatal ends this process; the kernel then kills the tool.
func fatal(what string, err error) {
	_, _ = os.Stderr.WriteString("accessc: " + what + ": " + err.Error() + "\n")
	_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
}

// ClearCapabilities takes every capability from this thread, the ambient capabilities with the
// permitted capabilities (capabilities(7)).
func ClearCapabilities() error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&hdr, &none[0])
}

// answer judges and ends one call. Its path may have been read already.
func (s *Supervisor) answer(w *worker, n *notification, path string) {
	c := s.newCall(w, n)
	c.known = path
	a := c.handled()
	for tries := 0; tries < maxAsked; tries++ {
		again := c.reconsidered(a, n)
		if again == nil {
			break
		}
		c = again
		a = c.handled()
	}
	if a.wait != nil {
		a = c.patiently(a.wait)
	}
	c.tell(a)
	c.tellUses()
	points.Reach(points.Answering)
	s.listener.send(c.id, a)
	if a.then != nil {
		a.then()
	}
	c.release()
}

// handled judges a call and makes it.
func (c *call) handled() answer {
	if refused, ok := c.blocked(); ok {
		return refused
	}
	if !c.bounded() {
		return fails(unix.EACCES)
	}
	if handle := c.handlers[c.nr]; handle != nil {
		return handle(c)
	}
	return fails(unix.ENOSYS)
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
	} else if c.seats.parked.Load() == 0 {
		// spawn may have found too many workers when this worker yielded; from now on it does
		// not count.
		c.spawn()
	}
	return true
}

// awaited ends the wait.
func (c *call) awaited() { c.pending.Add(-1) }
