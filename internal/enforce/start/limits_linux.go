package start

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// limits hold a run to the limits of its policy: its cgroup, what each process gets, and its time.
type limits struct {
	*run
	// group is the cgroup of the run, nil for none.
	group *group
}

// enter makes the cgroup.
func (l *limits) enter() (err error) {
	l.group, err = makeGroup(l.place, filepath.Base(l.dir), l.spec.Limits)
	return err
}

// joined is the list of processes of the cgroup of this run, nil for none.
func (l *limits) joined() *os.File {
	if l.group == nil {
		return nil
	}
	return l.group.procs
}

// join says that this process is the first of the cgroup.
func (l *limits) join() {
	if l.group != nil {
		l.group.joined = true
	}
}

// ofChild are the limits of the process that becomes the tool.
func (l *limits) ofChild() ([]supervisor.Limit, error) {
	out, err := rlimits(l.perProcess(), l.site.files())
	if err != nil {
		return nil, failed("limits: %w", err)
	}
	if l.narrows() {
		// A core file has the variables of its process (core(5)).
		out = append(out, supervisor.Limit{Resource: unix.RLIMIT_CORE})
	}
	if l.id.Mark != nil {
		out = append(out, l.id.Mark.Limits()...)
	}
	return out, nil
}

// perProcess are the limits that no cgroup enforces.
func (l *limits) perProcess() []backends.Limit {
	return slices.DeleteFunc(slices.Clone(l.spec.Limits), func(limit backends.Limit) bool {
		return l.group.enforces(limit.Kind)
	})
}

// narrows reports whether some program is to have fewer variables than the tool.
func (l *limits) narrows() bool {
	return slices.ContainsFunc(l.spec.Needs, func(n backends.Row) bool { return n.Gap == string(ir.GapCommandsEnvs) })
}

// wall is how long the tool may run, 0 for any time.
func (l *limits) wall() time.Duration {
	var out time.Duration
	if l.req.For > 0 {
		out = l.req.For + patience
	}
	for _, limit := range l.spec.Limits {
		wall := time.Duration(limit.Value) * time.Millisecond
		if limit.Kind == ir.LimitWallTime.String() && (out == 0 || wall < out) {
			out = wall
		}
	}
	return out
}

// ends is when the time of the run is over, zero for never. Supervisor and sweeper have one time: a supervisor that is
// woken at the end would let a stopped tool go on until its own later one.
func (l *limits) ends() time.Time {
	if wall := l.wall(); wall > 0 {
		return l.begun.Add(wall)
	}
	return time.Time{}
}

// patience is how long a tool may take to end itself once its time is over.
const patience = 5 * time.Second

// endsLater sends the tool SIGTERM, which this process passes on, after the time that the caller
// gives it, unless the returned function is called before.
func (l *limits) endsLater() (stop func()) {
	if l.req.For <= 0 {
		return func() {}
	}
	timer := time.AfterFunc(l.req.For, func() { _ = unix.Kill(unix.Getpid(), unix.SIGTERM) })
	return func() { timer.Stop() }
}

// endedBy finds the limit that ended a tool, nil for none. used is the processor time of its processes.
// It is asked before the cgroup of the run goes, which counts the processes that the kernel has killed for memory.
func (l *limits) endedBy(status syscall.WaitStatus, ended time.Time, used time.Duration) *backends.Limit {
	signal := status.Signal()
	if status.Exited() {
		// A shell exits so when a signal has ended its command.
		signal = syscall.Signal(status.ExitStatus() - shellSignal)
	}
	if signal != unix.SIGKILL && signal != unix.SIGXCPU {
		return nil
	}
	for i, by := range l.spec.Limits {
		value := time.Duration(by.Value) * time.Millisecond
		reached := false
		switch by.Kind {
		case ir.LimitWallTime.String():
			reached = l.supervised && signal == unix.SIGKILL && ended.Sub(l.begun) >= value
		case ir.LimitCPUTime.String():
			// The kernel kills by a count of whole ticks, which is coarser than the time that it
			// reports: 0.87 to 0.92 s for 1 s, 0.70 to 0.88 s where ten processes wait for each
			// processor (measured on Linux 6.18, 2026-11-23).
			reached = signal == unix.SIGXCPU || used >= value/2
		case ir.LimitMemory.String():
			reached = l.group.enforces(by.Kind) && l.group.killed()
		}
		if reached {
			return &l.spec.Limits[i]
		}
	}
	return nil
}

// childTime is the processor time of the tool's processes that have ended.
func childTime() time.Duration {
	var use unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// say tells a person which limit has ended the tool.
func (l *limits) say(by *backends.Limit) {
	if by == nil {
		return
	}
	value := strconv.FormatUint(by.Value, 10) + " bytes"
	if by.Kind != ir.LimitMemory.String() {
		value = (time.Duration(by.Value) * time.Millisecond).String()
	}
	text := visible.Text(l.spec.Tool) + " was ended by its limit " + by.Kind + ", " + value
	_, _ = l.req.Messages.Write([]byte("accessc: " + text + "\n"))
}

// means is the means that enforces a limit, empty for none.
func (l *limits) means(kind string) string {
	switch {
	case l.group.enforces(kind):
		return meansCgroup
	case kind != ir.LimitWallTime.String():
		return meansRlimit
	case l.supervised:
		return meansSupervisor
	default:
		return ""
	}
}
