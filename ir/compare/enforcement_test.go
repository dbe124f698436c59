package compare

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestNewRestrictionHeldBadly: a limit or a list of programs that the old policy does not
// have at all permits less, also where a platform does not hold it.
func TestNewRestrictionHeldBadly(t *testing.T) {
	row := func(r ir.Resource, a ir.Aspect, is ir.Enforcement) ir.Row {
		return ir.Row{Resource: r, Aspects: []ir.Aspect{a}, Rules: []string{"x"}, Platform: ir.Darwin, Is: is}
	}
	free, bound := ir.NewTool("t"), ir.NewTool("t")
	bound.Commands = &ir.CommandSet{}
	bound.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1}}
	was := ir.Ledger{row(ir.Commands, ir.AspectProgram, ir.Exact)}
	is := ir.Ledger{row(ir.Commands, ir.AspectProgram, ir.Coarser), row(ir.Limits, "memory", ir.Coarser)}
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
