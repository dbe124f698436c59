package explain

import (
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/ir"
)

// Declared returns what the ledger says where a system answers otherwise than the policy, or cannot tell; empty where
// it says nothing of it. Where an operation has two places, a row about an access to either is enough.
func (a *Answer) Declared(p ir.Platform, allowed, known bool) string {
	for _, x := range append([]*Answer{a}, a.accesses()...) {
		row, ok := x.cell(p, 0)
		said := row.Is == ir.Stricter
		switch {
		case !known:
			said = row.Is != ir.Exact
		case allowed:
			said = !row.Is.Held()
		}
		if ok && said {
			return row.Is.String() + ": " + registry.Why(row.Causes)
		}
	}
	return ""
}

// accesses are the answers to the accesses that an operation on two places may need.
func (a *Answer) accesses() []*Answer {
	var from, to ir.Place
	switch op := a.Operation.(type) {
	case ir.Copy:
		from, to = op.Src, op.Dst
	case ir.Rename:
		from, to = op.Src, op.Dst
	case ir.Link:
		from, to = op.Src, op.Dst
	case ir.Exchange:
		from, to = op.A, op.B
	default:
		return nil
	}
	var out []*Answer
	for _, op := range []ir.Operation{
		ir.Access{Cap: ir.Read, On: from}, ir.Access{Cap: ir.Delete, On: from},
		ir.Access{Cap: ir.Create, On: to}, ir.Access{Cap: ir.Update, On: to},
	} {
		v := a.View.Decide(op)
		x := &Answer{View: a.View, Operation: op, Verdict: v, Considered: a.View.Trace(op, v), Ledger: a.Ledger}
		out = append(out, x)
	}
	return out
}
