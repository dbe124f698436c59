package start

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// supervise starts the tool as a child of this process, which stays: it answers the calls that
// the specification traps, if that needs a supervisor, and waits. It returns only when the tool
// did not start.
func (r *run) supervise() error {
	child, err := r.child()
	if err == nil {
		err = dropPrivileges()
	}
	if err != nil {
		r.egress.end()
		return err
	}
	points.Reach(points.Becoming)
	t, err := supervisor.Clone(child)
	if err != nil {
		r.egress.end()
		return r.childFailed(err)
	}
	log := denial.NewLog(r.report)
	if r.observes() {
		log.Observe()
	}
	r.begun = time.Now()
	attend, err := r.attendant(t, log)
	if err != nil {
		t.Kill()
		r.egress.end()
		return err
	}
	late := r.endsLater()
	status, err := attend()
	late()
	ended := time.Now()
	limit := r.endedBy(status, ended, childTime())
	r.discard()
	_ = log.Close()
	if err != nil {
		return r.childFailed(err)
	}
	r.sayRefused(log, status, ended)
	r.evidenced(log, status, ended)
	r.sayLimit(limit)
	r.write(status, ended, log, limit)
	r.req.ended(exitStatus(status))
	supervisor.Exit(status)
	return nil
}

// attendant prepares the supervision of a running tool, and returns the function that lets the
// tool go.
func (r *run) attendant(t *supervisor.Tool, log *denial.Log) (func() (syscall.WaitStatus, error), error) {
	if err := r.sweepAfter(); err != nil {
		return nil, failed("%w", err)
	}
	if !r.supervised {
		return t.Attend, nil
	}
	b, err := r.supervisor(log)
	if err != nil {
		return nil, err
	}
	r.by = b
	stop, err := r.converse(b)
	if err != nil {
		return nil, failed("--ask: %w", err)
	}
	return func() (syscall.WaitStatus, error) {
		defer stop()
		return b.Run(t)
	}, nil
}

// supervisor is that of the run, which writes refusals to a log.
func (r *run) supervisor(log *denial.Log) (*supervisor.Supervisor, error) {
	proxy, err := r.egress.greeted()
	if err != nil {
		return nil, failed("%w", err)
	}
	o := supervisor.Options{
		Dir: r.dir, Temp: r.tmp, Shared: r.shared, Egress: proxy, Ends: r.ends(), Denied: log.Add, Calls: callNames(),
		Trace: r.tracing(), Grants: r.grants.by, Placements: r.grants.placements, Absent: r.grants.absent, Mark: r.id.Mark,
		Join: r.joined(), Live: r.asks(), Files: r.files, Policy: r.policy,
	}
	if r.observes() {
		o.Used, o.Sought = log.Use, log.Sought
	}
	b, err := supervisor.New(r.spec, o)
	if err != nil {
		return nil, failed("the supervisor: %w", err)
	}
	return b, nil
}

// child is the process that becomes the tool. Before it does, this process must have lost every
// privilege and descriptor that the tool must not have.
func (r *run) child() (supervisor.Child, error) {
	c := supervisor.Child{
		Ruleset: r.ruleset, Own: r.own, Filter: r.filter, Join: r.joined(), Unsupervised: !r.supervised,
		Canary: r.canary, File: r.file, Argv: r.argv, Env: r.env, Files: r.files,
	}
	var err error
	if c.Limits, err = limits(r.perProcess(), r.site.files()); err == nil && r.narrows() {
		// A core file has the variables of its process (core(5)).
		c.Limits = append(c.Limits, supervisor.Limit{Resource: unix.RLIMIT_CORE})
	}
	if err != nil {
		return c, failed("limits: %w", err)
	}
	if r.id.Mark != nil {
		c.Limits = append(c.Limits, r.id.Mark.Limits()...)
	}
	return c, nil
}

// joined is the list of processes of the cgroup of this run, nil for none.
func (r *run) joined() *os.File {
	if r.group == nil {
		return nil
	}
	return r.group.procs
}

// perProcess are the limits that no cgroup enforces.
func (r *run) perProcess() []backends.Limit {
	return slices.DeleteFunc(slices.Clone(r.spec.Limits), func(l backends.Limit) bool { return r.group.enforces(l.Kind) })
}

// tracing names the refusals of the kernel, nil without --trace.
func (r *run) tracing() *supervisor.Tracing {
	if !r.req.Trace {
		return nil
	}
	_, answered := landlock.Traced(r.blocks(), r.abi)
	return &supervisor.Tracing{ABI: r.abi, Blocks: answered}
}

// wall is how long the tool may run, 0 for any time.
func (r *run) wall() time.Duration {
	var out time.Duration
	if r.req.For > 0 {
		out = r.req.For + patience
	}
	for _, l := range r.spec.Limits {
		if wall := time.Duration(l.Value) * time.Millisecond; l.Kind == ir.LimitWallTime.String() && (out == 0 || wall < out) {
			out = wall
		}
	}
	return out
}

// ends is when the time of the run is over, zero for never. Supervisor and sweeper have one time: a supervisor that is
// woken at the end would let a stopped tool go on until its own later one.
func (r *run) ends() time.Time {
	if wall := r.wall(); wall > 0 {
		return r.begun.Add(wall)
	}
	return time.Time{}
}

// patience is how long a tool may take to end itself once its time is over.
const patience = 5 * time.Second

// endsLater sends the tool SIGTERM, which this process passes on, after the time that the caller
// gives it, unless the returned function is called before.
func (r *run) endsLater() (stop func()) {
	if r.req.For <= 0 {
		return func() {}
	}
	timer := time.AfterFunc(r.req.For, func() { _ = unix.Kill(unix.Getpid(), unix.SIGTERM) })
	return func() { timer.Stop() }
}

// childFailed gives the errors of a start the form of an unsupervised start's.
func (r *run) childFailed(err error) error {
	var e *supervisor.StartError
	if errors.As(err, &e) && e.Exec {
		return r.notStarted(e.Err)
	}
	if errors.Is(err, unix.EBUSY) {
		return failed("%w: this process is supervised already, %s%s", err, holder(), r.without())
	}
	return failed("%w", err)
}

// without is advice how to start the tool where it can have no supervisor of its own.
func (r *run) without() string {
	if r.req.remedy() != "" {
		return ""
	}
	cells := slices.DeleteFunc(slices.Clone(r.spec.Supervision.Gaps), func(c string) bool { return slices.Contains(r.accepted, c) })
	if len(cells) == 0 {
		return ""
	}
	return "; without a supervisor of its own it starts with --accept " + strings.Join(cells, " --accept ")
}

// supervision is that of the specification. Where the network stays closed, refusals name the host.
func (r *run) supervision() *landlock.Supervision {
	if r.opens(ir.GapNetHost) {
		return r.spec.Supervision
	}
	return r.spec.Supervision.Named()
}

// blocks are the calls that the filter of this start refuses: those of every filter, and those
// that the policy adds. Where net.host was accepted and the specification has ports, these are
// the network; otherwise a supervised tool has the sockets that its supervisor judges.
func (r *run) blocks() []landlock.Block {
	out := r.spec.Filter
	replaced := func(groups ...string) {
		out = slices.DeleteFunc(slices.Clone(out), func(b landlock.Block) bool { return slices.Contains(groups, b.Group) })
	}
	if r.supervised {
		s := r.supervision()
		replaced(s.Replaces...)
		out = slices.Concat(out, s.Filter)
	}
	if r.opens(ir.GapNetHost) {
		replaced("network")
		out = append(out, landlock.Network()...)
	}
	always := landlock.Always()
	if r.supervised && r.spec.Supervision.Answers(landlock.Objects) {
		always = slices.DeleteFunc(always, func(b landlock.Block) bool { return b.Group == landlock.Objects })
	}
	return append(always, out...)
}

// rules are the parts of this start's filter. Under a trace the supervisor answers in place of
// the blocks that refuse.
func (r *run) rules() rules {
	out := rules{blocks: r.blocks()}
	if !r.supervised {
		return out
	}
	out.traps = r.supervision().Traps
	if r.req.Trace {
		stay, answered := landlock.Traced(out.blocks, r.abi)
		var first []landlock.Trap
		for _, b := range answered {
			first = append(first, b.Trap())
		}
		out.blocks, out.traps = stay, slices.Concat(first, out.traps)
	}
	return out
}

// narrows reports whether some program is to have fewer variables than the tool.
func (r *run) narrows() bool {
	return slices.ContainsFunc(r.spec.Needs, func(n backends.Row) bool { return n.Gap == string(ir.GapCommandsEnvs) })
}

// limits are those that setrlimit(2) can enforce, and the limit on descriptors that this
// process was started with: the Go runtime has raised it for itself.
func limits(in []backends.Limit, files syscall.Rlimit) ([]supervisor.Limit, error) {
	out := []supervisor.Limit{{Resource: unix.RLIMIT_NOFILE, Value: unix.Rlimit(files)}}
	for _, l := range in {
		resource, value, err := rlimit(l)
		if err != nil {
			return nil, err
		}
		if resource < 0 {
			continue
		}
		var have unix.Rlimit // which can only be lowered
		if err := unix.Getrlimit(resource, &have); err != nil {
			return nil, err
		}
		value = min(value, have.Max)
		out = append(out, supervisor.Limit{Resource: resource, Value: unix.Rlimit{Cur: value, Max: value}})
	}
	return out, nil
}
