package landlock

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestSteps: between two steps no cell is held otherwise, so the ledger asks only at the steps.
func TestSteps(t *testing.T) {
	changed := map[int]bool{}
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 4)
		tool.Net = irtest.NetRules(rt, 3)
		rules := newRuleset(ir.NewView(tool, ir.Linux, ir.Facts{}))
		w := rules.ledgerWriter()
		for _, c := range rules.view.Cells() {
			for abi := 2; abi <= MaxABI; abi++ {
				same := w.held(c, abi).Equal(w.held(c, abi-1))
				changed[abi] = changed[abi] || !same
				if !same && !slices.Contains(steps, abi) {
					rt.Fatalf("%s %s is held otherwise at ABI %d, which is no step", c.ID, c.Aspect, abi)
				}
			}
		}
	})
	for _, abi := range steps {
		if !changed[abi] {
			t.Errorf("no cell is held otherwise at ABI %d", abi)
		}
	}
}
