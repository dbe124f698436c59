package landlock

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestKinds: the ledger that asks about one rule of each kind is the ledger that asks about every rule.
func TestKinds(t *testing.T) {
	shared := 0
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 12)
		w := newRuleset(ir.NewView(tool, ir.Linux, ir.Facts{})).ledgerWriter()
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

// TestRightsAreShared: grants share the lists of rights, so a grant that is written for a terminal leaves the others as
// they are.
func TestRightsAreShared(t *testing.T) {
	for c := range ir.All + 1 {
		before := slices.Clone(rightsOf(c))
		_ = append(access(ir.Sys(ir.LinuxTerminal), c), MakeChar)
		_ = append(rightsOf(c), MakeChar)
		if got := rightsOf(c); !slices.Equal(got, before) || !slices.Equal(got, listRights(c)) {
			t.Errorf("%s: %v, want %v", c, got, before)
		}
	}
}
