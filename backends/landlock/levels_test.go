package landlock_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestLevels states each cell for every version of the ABI that is known, and for no other.
func TestLevels(t *testing.T) {
	_, ledger := portable(t, []ir.FSRule{{At: ir.In(""), Caps: ir.All}})
	for _, row := range ledger {
		if row.Levels.From < 0 || row.Levels.To > landlock.MaxABI || row.Levels.From > row.Levels.To {
			t.Errorf("%v %v: levels %+v", row.Rules, row.Aspects, row.Levels)
		}
	}
	for _, a := range ir.Aspects(ir.FS) {
		for abi := 1; abi <= landlock.MaxABI; abi++ {
			row, ok := ledger.Cell(ir.FS, ir.DefaultRule, a, ir.Linux, abi)
			if !ok || a != ir.AspectMetadata && row.Is != ir.Exact || a == ir.AspectMetadata && row.Is == ir.Exact {
				t.Errorf("without a rule, %s at ABI %d: %v, %v", a, abi, row.Is, ok)
			}
		}
	}
}

// TestCausesNamed has a cause that is about a single capability or kernel there and nowhere else.
func TestCausesNamed(t *testing.T) {
	env := ir.FSRule{At: ir.In(".env")}
	_, all := portable(t, []ir.FSRule{{At: ir.In(""), Caps: ir.All}, env})
	_, reading := portable(t, []ir.FSRule{{At: ir.In(""), Caps: ir.Caps(ir.Read, ir.Update)}, env})
	for _, c := range []struct {
		ledger ir.Ledger
		aspect ir.Aspect
		abi    int
		cause  ir.CauseID
		want   bool
	}{
		{all, ir.AspectExecute, landlock.MaxABI, "landlock.started-from-memory", true},
		{all, ir.AspectRead, landlock.MaxABI, "landlock.started-from-memory", false},
		{all, ir.AspectUpdate, 2, "landlock.truncate", true},
		{all, ir.AspectUpdate, 3, "landlock.truncate", false},
		{all, ir.AspectCreate, 2, "landlock.truncate", false},
		{reading, ir.AspectRead, landlock.MaxABI, "landlock.list", true},
		{reading, ir.AspectUpdate, landlock.MaxABI, "landlock.list", false},
	} {
		row, ok := c.ledger.Cell(ir.FS, ir.FSRuleID(0), c.aspect, ir.Linux, c.abi)
		got := slices.ContainsFunc(row.Causes, func(x ir.Cause) bool { return x.ID == c.cause })
		if !ok || got != c.want {
			t.Errorf("%s at ABI %d: %v, want %s: %v", c.aspect, c.abi, row.Causes, c.cause, c.want)
		}
	}
	row, _ := all.Cell(ir.FS, ir.FSRuleID(0), ir.AspectOthers, ir.Linux, landlock.MaxABI)
	if row.Is != ir.Assumed || !slices.Equal(row.Causes, []ir.Cause{{ID: "landlock.held"}}) {
		t.Errorf("files that others move, where every call is judged: %v %v", row.Is, row.Causes)
	}
}
