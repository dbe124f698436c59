package supervisor

import (
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/ir"
)

// grounds say why a call is refused. A later grant on the same call clears them.
type grounds struct {
	by      denial.By
	op      ir.Operation
	wants   ir.CapSet
	verdict ir.Verdict
	why     string
	// goesOn is true where the call is continued and the kernel refuses it.
	goesOn bool
}

// note records a verdict and reports whether it allows, so that the policy is asked once.
func (c *call) note(op ir.Operation, v ir.Verdict) bool {
	c.refused = nil
	if !v.Allowed() {
		c.refused = &grounds{by: denial.ByPolicy, op: op, verdict: v}
	}
	return v.Allowed()
}

// decide asks the policy about an operation of a call.
func (c *call) decide(op ir.Operation) ir.Verdict {
	v := c.view.Decide(op)
	c.note(op, v)
	return v
}

// may asks for capabilities on one place. The first denied one is the reason for the refusal.
func (c *call) may(p ir.Place, caps ...ir.Capability) bool {
	for _, one := range caps {
		if !c.decide(ir.Access{Cap: one, On: p}).Allowed() {
			c.refused.wants = ir.Caps(caps...)
			return false
		}
	}
	return true
}

// mayName asks whether a name may be made or removed.
func (c *call) mayName(need ir.Capability, p ir.Place, kind ir.NameKind) bool {
	return c.decide(ir.Access{Cap: need, On: p, Name: kind}).Allowed()
}

// mayAlter asks for update of mode, owner, times and attributes. Those of the system's own
// files never change, even where the base grants writing.
func (c *call) mayAlter(p ir.Place) bool {
	if !c.may(p, ir.Update) {
		return false
	}
	if p.At.Root.Kind == ir.System && !p.At.Under(ir.Sys(ir.LinuxShared)) {
		c.deny("mode, owner, times and attributes of the system's own files stay as they are")
		return false
	}
	return true
}

// mayReach asks for an address.
func (c *call) mayReach(a netip.AddrPort) bool {
	op, v, shown := c.mayConnect(a)
	if !c.note(op, v) {
		return false
	}
	if !shown {
		c.refused = &grounds{by: denial.BySupervisor, op: op, why: "the kernel sees an address, and no rule names this address and its port alone"}
	}
	return shown
}

// mayStartAs asks for a program with its arguments.
func (c *call) mayStartAs(at ir.Place, argv []string) (*ir.CommandRule, bool) {
	op, v := c.mayRun(at, argv)
	rule, _ := v.Rule.(*ir.CommandRule)
	return rule, c.note(op, v)
}

// deny records a refusal that the supervisor makes without asking the policy.
func (c *call) deny(why string) { c.refused = &grounds{by: denial.BySupervisor, why: why} }

// denies records such a refusal and returns its answer.
func (c *call) denies(e unix.Errno, why string) answer {
	c.deny(why)
	return fails(e)
}

// tell reports a refusal before the call gets its answer. An error that the kernel returned to
// the supervisor for a granted operation is not a refusal.
func (c *call) tell(a answer) {
	r := c.refused
	switch {
	case c.denied == nil || r == nil || c.trace != nil && !c.became.Load():
		return
	case a.on && r.goesOn:
		a.errno = unix.EPERM
	case a.on || !refuses(a.errno):
		return
	}
	d := &denial.Denial{
		Time: time.Now(), By: r.by, Operation: r.op, Wants: r.wants, Verdict: r.verdict, Why: r.why,
		Syscall: c.calls[c.nr], Errno: unix.ErrnoName(a.errno), Asked: c.asked,
		PID: c.process(), Name: c.comm(), View: c.view, Roots: &c.roots,
	}
	c.denied(d)
}

// comm is the name of the calling thread (proc(5)).
func (c *call) comm() string {
	name, _ := os.ReadFile("/proc/" + c.proc("comm"))
	return strings.TrimSuffix(string(name), "\n")
}

func refuses(e unix.Errno) bool { return e == unix.EACCES || e == unix.EPERM || e == unix.EXDEV }
