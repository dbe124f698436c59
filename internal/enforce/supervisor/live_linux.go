package supervisor

import (
	"slices"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/ir"
)

// maxAsked is how often one call asks: each answer may lead to a question about another place,
// since the call is resolved anew.
const maxAsked = 16

// grantsLive has the user grant refused operations while the tool runs.
func (s *Supervisor) grantsLive(o live.Options) {
	o.Roots = &s.policy.roots
	// Calls are judged and carried out under the lock on names. So a grant that is exchanged with
	// the lock held is not in use by any of them.
	o.Exchange = func(change func()) {
		s.names.Lock()
		defer s.names.Unlock()
		change()
	}
	if s.egress != nil {
		o.Hosts = s.egress
	}
	s.policy.session = live.New(s.policy.live(), o)
}

// Session has the grants of the run, nil where none are given.
func (s *Supervisor) Session() *live.Session { return s.policy.session }

// Ours reports whether a process belongs to the tool.
func (s *Supervisor) Ours(pid int) bool { return s.sandbox.ours(pid) }

// reconsidered waits for the user where a call was refused that can be granted. It returns the call to
// be made anew after a grant, nil where the answer stands. The arguments are read and resolved
// again, so the grant is compared with the operations that the call then needs.
func (c *call) reconsidered(a answer, n *notification) *call {
	r, session := c.refused, c.policy.session
	if session == nil || r == nil || r.by != denial.ByPolicy || r.why != "" || a.on || a.wait != nil ||
		!refuses(a.errno) {
		return nil
	}
	ops := r.operations()
	if !session.Asks(ops) || !c.current() || !c.await() {
		return nil
	}
	c.release()
	again, once := session.Ask(live.Call{Ops: ops, PID: c.process(), Name: c.comm(), Pending: c.current})
	c.awaited()
	if !again {
		return nil
	}
	next := c.newCall(c.worker, n)
	if once != nil {
		own := *c.policy
		own.once = once
		next.policy = &own
	}
	return next
}

// operations are the operations that all have to be permitted.
func (j *judgement) operations() []ir.Operation {
	op, ok := j.op.(ir.Access)
	if !ok {
		return []ir.Operation{j.op}
	}
	var out []ir.Operation
	for _, c := range j.wants.With(op.Cap).List() {
		out = append(out, ir.Access{Cap: c, On: op.On, Name: op.Name})
	}
	return out
}

// tellUses notes the grants that a permitted call rests on.
func (c *call) tellUses() {
	if len(c.uses) == 0 || c.refused != nil {
		return
	}
	c.policy.session.Used(slices.Compact(c.uses), c.process(), c.comm())
}
