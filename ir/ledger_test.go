package ir_test

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestLedgerBuilder: each cell joins the row that is held like it, also where rows of an aspect are held in several
// ways and come in turn.
func TestLedgerBuilder(t *testing.T) {
	b := ir.NewLedger(ir.Linux)
	held := []ir.Held{{Is: ir.Exact}, ir.Because(ir.Stricter, "", "a"), ir.Because(ir.Stricter, "", "b")}
	const rules = 30
	for i := range rules {
		b.Add(ir.Cell{Resource: ir.Net, ID: ir.NetRuleID(i), Aspect: ir.AspectConnect}, ir.Levels{}, held[i%len(held)])
	}
	l := b.Ledger()
	if len(l) != len(held) {
		t.Fatalf("%d rows, want %d", len(l), len(held))
	}
	for i := range rules {
		row, ok := l.Cell(ir.Net, ir.NetRuleID(i), ir.AspectConnect, ir.Linux, 0)
		if !ok || !row.Equal(held[i%len(held)]) || len(row.Rules) != rules/len(held) {
			t.Errorf("rule %d: %+v", i, row)
		}
	}
}
