package start

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// endedBy finds the limit that ended a tool, nil for none. used is the processor time of its processes.
// It is asked before the cgroup of
// the run goes, which counts the processes that the kernel has killed for memory.
func (r *run) endedBy(status syscall.WaitStatus, ended time.Time, used time.Duration) *backends.Limit {
	signal := status.Signal()
	if status.Exited() {
		const shells = 128 // a shell exits so when a signal has ended its command
		signal = syscall.Signal(status.ExitStatus() - shells)
	}
	if signal != unix.SIGKILL && signal != unix.SIGXCPU {
		return nil
	}
	for i, l := range r.spec.Limits {
		value := time.Duration(l.Value) * time.Millisecond
		reached := false
		switch l.Kind {
		case ir.LimitWallTime.String():
			reached = r.supervised && signal == unix.SIGKILL && ended.Sub(r.begun) >= value
		case ir.LimitCPUTime.String():
			// The kernel kills by a count of whole ticks, which is coarser than the time that it
			// reports: 0.87 to 0.92 s for 1 s, 0.70 to 0.88 s where ten processes wait for each
			// processor (measured on Linux 6.18, 2026-11-23).
			reached = signal == unix.SIGXCPU || used >= value/2
		case ir.LimitMemory.String():
			reached = r.group.enforces(l.Kind) && r.group.killed()
		}
		if reached {
			return &r.spec.Limits[i]
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

// killed reports whether the kernel has killed processes of the group for its memory
// (cgroup-v2.rst, memory.events).
func (g *group) killed() bool {
	events, _ := os.ReadFile(g.dir + "/memory.events")
	return slices.ContainsFunc(strings.Split(string(events), "\n"), func(l string) bool {
		n, counts := strings.CutPrefix(l, "oom_kill ")
		return counts && n != "0"
	})
}

// sayLimit tells a person which limit has ended the tool.
func (r *run) sayLimit(l *backends.Limit) {
	if l == nil {
		return
	}
	value := strconv.FormatUint(l.Value, 10) + " bytes"
	if l.Kind != ir.LimitMemory.String() {
		value = (time.Duration(l.Value) * time.Millisecond).String()
	}
	_, _ = r.req.Messages.Write([]byte("accessc: " + visible.Text(r.spec.Tool) + " was ended by its limit " + l.Kind + ", " + value + "\n"))
}
