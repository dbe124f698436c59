package supervisor

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/live"
)

// decision is the latest judgement of a call: refused is nil where that was a grant. granted are
// the grants of the call, where they are kept; uses are the grants given during the run that its
// judgements rest on, with their operations.
type decision struct {
	refused *judgement
	keeps   bool
	granted []judgement
	uses    []live.Use
	// own is true where the tool binds a socket file, or connects to a socket file that it has
	// bound.
	own bool
}

// permits notes a judgement and reports whether it is a grant.
func (d *decision) permits(j judgement) bool {
	d.refused = nil
	if j.allowed() {
		for _, id := range j.used {
			d.uses = append(d.uses, live.Use{ID: id, Op: j.op})
		}
		if d.keeps {
			d.granted = append(d.granted, j)
		}
		return true
	}
	kept := j // on the heap only for a refusal
	d.refused = &kept
	return false
}

// deny records a refusal that the supervisor makes without asking the policy.
func (d *decision) deny(why string) { d.refused = &judgement{by: denial.BySupervisor, why: why} }

// denies records such a refusal and returns its answer.
func (d *decision) denies(e unix.Errno, why string) answer {
	d.deny(why)
	return fails(e)
}

// note reports the grants of a call that is carried out, or that fails for another reason.
func (c *call) note(a answer) {
	if c.refused != nil && !c.refused.instead {
		return
	}
	for _, j := range c.granted {
		d := denial.Denial{By: j.by, Operation: j.op, Wants: j.wants, Verdict: j.verdict, View: c.policy.view,
			Roots: c.box.roots, Own: c.own, State: j.state, Once: j.once}
		if c.judged != nil && !c.early() {
			judged := d
			judged.Errno = errnoName(a.errno)
			judged.PID, judged.Name = c.worker.callers.of(c.box.procfs, c.tid)
			c.judged(&judged)
		}
		if c.used != nil && a.errno == 0 && c.became.Load() {
			c.used(&d)
		}
	}
}

// early reports whether the call is one by which the clone becomes the tool.
func (c *call) early() bool { return c.trace != nil && !c.became.Load() }

// errnoName is the name of an error, empty for none.
func errnoName(e unix.Errno) string {
	if e == 0 {
		return ""
	}
	return unix.ErrnoName(e)
}

// tell reports a refusal before the call gets its answer. An error that the kernel returned to
// the supervisor for a granted operation is not a refusal.
func (c *call) tell(a answer) {
	c.note(a)
	r := c.refused
	switch {
	case c.denied == nil || r == nil || c.early():
		return
	case a.on && r.goesOn:
		a.errno = unix.EPERM
	case r.instead != (a.errno == 0) || !r.instead && (a.on || !refuses(a.errno)):
		return
	}
	d := &denial.Denial{
		Time: time.Now(), By: r.by, Operation: r.op, Wants: r.wants, Verdict: r.verdict, Why: r.why,
		Syscall: c.calls[c.nr], Errno: unix.ErrnoName(a.errno), Asked: c.asked,
		PID: c.process(), Name: c.comm(), View: c.policy.now(), Roots: c.box.roots, Own: c.own,
		State: r.state,
	}
	c.denied(d)
}

// by is the process of the caller, for a report.
func (c *caller) by() process { return process{pid: c.process(), name: c.comm()} }

// comm is the name of the calling thread (proc(5)).
func (c *caller) comm() string {
	name, _ := os.ReadFile("/proc/" + c.proc("comm"))
	return strings.TrimSuffix(string(name), "\n")
}

func refuses(e unix.Errno) bool {
	return e == unix.EACCES || e == unix.EPERM || e == unix.EXDEV || e == unix.EDQUOT || e == errEnded
}
