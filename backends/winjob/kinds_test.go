package winjob

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestKinds: the ledger that asks about one rule of each kind is the ledger that asks about every rule.
func TestKinds(t *testing.T) {
	shared := 0
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 12)
		w := newLayout(ir.NewView(tool, ir.Windows, ir.Facts{}), backends.Target{}).ledgerWriter()
		kinds := map[kind]bool{}
		each := ledgerBy(w, func(id ir.RuleID, r *ir.FSRule) ir.RuleID {
			if k := w.kind(id, r); kinds[k] {
				shared++
			} else {
				kinds[k] = true
			}
			return id
		})
		if diff := cmp.Diff(each, ledgerBy(w, w.kind)); diff != "" {
			rt.Fatalf("asked about every rule (-), about every kind (+):\n%s", diff)
		}
	})
	if shared == 0 {
		t.Error("no two rules were of one kind")
	}
}
