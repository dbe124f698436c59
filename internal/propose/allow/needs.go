package allow

import (
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// Ask is an operation that shall be permitted.
type Ask struct {
	// Operation is the question to the policy; Needs are the capabilities that it needs besides.
	Operation ir.Operation
	Needs     ir.CapSet
	// At, unless nil, is the directory that the rule is on.
	At *ir.Location
	// own are the capabilities that the refused call needed, where a rule would grant more.
	own ir.CapSet
	// question are the words that it was read from, entry is the index of the record that it is of.
	question []string
	entry    int
	// recorded is true for operations of runs that are learned from.
	recorded bool
	// bound is true for a connection to a socket file that the tool had bound itself, sought for a file of the user's
	// home that it looked for in its own.
	bound, sought bool
	// external, unless nil, is the place outside of the workspace that the rule is on.
	external *outer
	// extends is the preset that permits the operation, empty for none.
	extends string
}

// Question reads an operation as "accessc can" takes it, and as a call of the kernel is judged.
func (p *Policy) Question(words []string) (Ask, error) {
	q, err := resolve.ParseQuestion(words)
	if err != nil {
		return Ask{}, err
	}
	op, err := p.asker.Operation(q)
	return Ask{Operation: op, question: words}, err
}

// again is the operation as a changed policy is asked about it: a further external rule gives places
// another root.
func (a Ask) again(p *Policy) (Ask, error) {
	if a.external == nil && a.extends == "" {
		return a, nil
	}
	out, err := p.Question(a.question)
	out.Needs = a.Needs
	return out, err
}

// operations are those that all have to be permitted.
func (a Ask) operations() []ir.Operation {
	op, ok := a.Operation.(ir.Access)
	if !ok {
		return []ir.Operation{a.Operation}
	}
	var out []ir.Operation
	for _, c := range a.Needs.With(op.Cap).List() {
		out = append(out, ir.Access{Cap: c, On: op.On, Name: op.Name})
	}
	return out
}

// Allowed reports whether a view permits the operation.
func (a Ask) Allowed(v *ir.View) bool { return a.denied(v) == nil }

// denied is the verdict that refuses the operation, nil where it is permitted.
func (a Ask) denied(v *ir.View) *ir.Verdict {
	for _, op := range a.operations() {
		verdict := v.Decide(op)
		if c, ok := op.(ir.Connect); ok && c.To.Port == 0 {
			verdict = v.Named(c.To.Host)
		}
		if !verdict.Allowed() {
			return &verdict
		}
	}
	return nil
}

// alone is the operation as the run needed it, without the capabilities for its directory.
func (a Ask) alone() Ask {
	if op, ok := a.Operation.(ir.Access); ok {
		return Ask{Operation: op, Needs: a.own}
	}
	return a
}

// withoutPort is the operation without a port that the kernel has chosen: the next run gets another.
func (a Ask) withoutPort() ir.Operation {
	if l, ok := a.Operation.(ir.Listen); ok && a.recorded && chosen(l) {
		l.Port = 0
		return l
	}
	return a.Operation
}

// chosen reports whether a port is of those that the kernel chooses from (ip_local_port_range, as Linux is delivered).
func chosen(op ir.Listen) bool {
	const from, to = 32768, 60999
	return op.Port >= from && op.Port <= to
}

// single is the group of one refusal.
func (p *Policy) single(i int, e denial.Entry) group {
	g := group{denials: []int{i}}
	if e.Question == nil {
		g.broken = "no rule permits it"
		return g
	}
	for _, word := range e.Question {
		if g.broken = unsayable(word); g.broken != "" {
			return g
		}
	}
	a, err := p.Question(e.Question)
	if err != nil {
		g.broken = err.Error()
		return g
	}
	a.entry = i
	for _, n := range e.Needs {
		if c, ok := ir.ParseCapability(n); ok {
			a.Needs = a.Needs.With(c)
		}
	}
	if op, ok := a.Operation.(ir.Access); ok {
		a.Needs = a.Needs.With(op.Cap)
		if a.own = a.Needs; op.Cap == ir.Create && (op.Name == ir.NameDir || temporary(op.On.At.Base())) {
			// A program fills a directory that it makes, and renames or removes a file whose name it makes up.
			a.Needs |= ir.Write.With(ir.Read)
		}
	}
	g.asks = []Ask{a}
	return g
}

// needs are what runs that are learned from need, an operation in a group each, with what the next run will need besides.
// An operation that programs do without has an empty group. moved are the files that were renamed in their directory.
func (p *Policy) needs(entries []denial.Entry) (out []group, moved map[ir.Location]bool) {
	moved, strangers := p.moved(entries), strangers(entries)
	for i, e := range entries {
		if e.Probe != "" {
			out = append(out, group{})
			continue
		}
		g := p.single(i, e)
		for i := range g.asks {
			g.asks[i].recorded, g.asks[i].sought = true, e.Sought
			g.asks[i].bound = e.Own && !strangers[e.Question[1]]
		}
		if !e.Sought && !e.Own && (len(e.Question) < 2 || !strangers[e.Question[1]]) {
			g.repeats()
		}
		if at, ok := g.file(); ok && !e.Sought && moved[at] {
			// No rule on the file lets it be renamed, so that a rule on its directory has to.
			g.asks[0].Needs |= ir.Write.With(ir.Read)
		}
		out = append(out, g)
	}
	return out, moved
}

// strangers are the socket files at which programs were met that are not known to be the tool's own.
func strangers(entries []denial.Entry) map[string]bool {
	out := map[string]bool{}
	for _, e := range entries {
		if len(e.Question) > 1 && e.Question[0] == "dial" && !e.Own {
			out[e.Question[1]] = true
		}
	}
	return out
}

// moved are the files of the workspace that were renamed within their directory: programs write a
// file under another name first, so that no other program reads half of it.
func (p *Policy) moved(entries []denial.Entry) map[ir.Location]bool {
	out := map[ir.Location]bool{}
	for i, e := range entries {
		g := p.single(i, e)
		if g.broken != "" {
			continue
		}
		op, ok := g.asks[0].Operation.(ir.Rename)
		if !ok || op.Src.Fault != 0 || op.Dst.Fault != 0 || op.Src.At.Root.Kind != ir.Workspace {
			continue
		}
		from, _ := op.Src.At.Parent()
		to, _ := op.Dst.At.Parent()
		if from == to && !g.asks[0].alone().Allowed(p.View) {
			out[op.Src.At] = true
		}
	}
	return out
}

// repeats adds the changing of a file to its creation, and the creation to the changing: the next run finds the file
// that this one has made, or finds that a clean has removed it. To change a socket is to connect to it.
// See decision D187.
func (g group) repeats() {
	at, ok := g.file()
	if !ok || at.Root.Kind != ir.Workspace {
		return
	}
	switch g.asks[0].Operation.(ir.Access).Cap {
	case ir.Create:
		g.asks[0].Needs = g.asks[0].Needs.With(ir.Update)
	case ir.Update:
		g.asks[0].Needs = g.asks[0].Needs.With(ir.Create)
	case ir.Read, ir.Delete, ir.Execute:
	}
}
