package compare

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestNewRestrictionHeldBadly: a limit or a list of programs that the old policy does not have
// at all permits less, also where a platform does not enforce it.
func TestNewRestrictionHeldBadly(t *testing.T) {
	row := func(r ir.Resource, a ir.Aspect, is ir.Enforcement) ir.Row {
		return ir.Row{Resource: r, Aspects: []ir.Aspect{a}, Rules: []ir.RuleID{"x"}, Platform: ir.Darwin, Held: ir.Held{Is: is}}
	}
	free, bound := ir.NewTool("t"), ir.NewTool("t")
	bound.Commands = &ir.CommandSet{}
	bound.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1}}
	was := ir.Ledger{row(ir.Commands, ir.AspectProgram, ir.Exact)}
	is := ir.Ledger{row(ir.Commands, ir.AspectProgram, ir.Weaker), row(ir.Limits, "memory", ir.Weaker)}
	if ds := Policies(Policy{free, was}, Policy{bound, is}); Sum(ds) != Narrowed {
		t.Errorf("got %v: %+v", Sum(ds), ds)
	}
	if ds := Policies(Policy{bound, is}, Policy{free, was}); Sum(ds) != Widened {
		t.Errorf("the other way: got %v: %+v", Sum(ds), ds)
	}
	held := ir.Ledger{row(ir.Commands, ir.AspectProgram, ir.Exact), row(ir.Limits, "memory", ir.Exact)}
	if ds := Policies(Policy{bound, held}, Policy{bound, is}); Sum(ds) != Widened || len(ds) != 2 {
		t.Errorf("held less: got %v: %+v", Sum(ds), ds)
	}
}

// TestRestrictionHeldLess: taking a capability away is no widening where a platform cannot
// enforce the exception; weaker enforcement while nothing is taken away is a widening.
func TestRestrictionHeldLess(t *testing.T) {
	tool := func(delete bool) *ir.Tool {
		x := ir.NewTool("t")
		caps := ir.Caps(ir.Read, ir.Create, ir.Update)
		if delete {
			caps = caps.With(ir.Delete)
		}
		x.FS = []ir.FSRule{{At: ir.In("build"), Caps: caps}, {At: ir.In("src"), Caps: ir.Caps(ir.Read)}}
		return x
	}
	cell := func(a ir.Aspect, is ir.Enforcement) ir.Ledger {
		return ir.Ledger{{Resource: ir.FS, Aspects: []ir.Aspect{a}, Rules: []ir.RuleID{"fs[0]"}, Platform: ir.Darwin, Held: ir.Held{Is: is}}}
	}
	for _, c := range []struct {
		name     string
		old, new bool
		aspect   ir.Aspect
		want     Verdict
	}{
		{"what is taken away", true, false, ir.AspectDelete, Narrowed},
		{"something else than is taken away", true, false, ir.AspectRead, Changed},
		{"nothing is taken away", true, true, ir.AspectDelete, Widened},
		{"something is added", false, true, ir.AspectDelete, Widened},
	} {
		ds := Policies(Policy{tool(c.old), cell(c.aspect, ir.Exact)}, Policy{tool(c.new), cell(c.aspect, ir.Weaker)})
		if got := Sum(ds); got != c.want {
			t.Errorf("%s: got %v, want %v: %+v", c.name, got, c.want, ds)
		}
	}
}
