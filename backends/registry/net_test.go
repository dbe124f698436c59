package registry

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// levels are the feature levels of the systems; the Context has one ledger for all of them.
var levels = map[ir.Platform]ir.Levels{
	0: {}, ir.Linux: {From: 1, To: landlock.MaxABI}, ir.Darwin: {}, ir.Windows: {To: ir.BestTier},
}

// TestEveryNetRuleIsStated: whatever fields a rule of the network has, every backend says once for
// each feature level how it is held, with a cause where that differs from the policy, and with a
// gap where a start is to accept it. The ledger of mxc is in its artifact (see package mxc).
func TestEveryNetRuleIsStated(t *testing.T) {
	irtest.Check(t, 2500, 1, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Command, tool.Net = &ir.Command{Program: "true"}, irtest.NetRules(rt, 5)
		for _, b := range All {
			out, err := b.Compile(tool, backends.Target{Form: backends.Portable})
			if err != nil || out.Data == nil {
				rt.Fatalf("%s: %v %+v", b.Name(), err, out.Refusals)
			}
			for _, c := range ir.NewView(tool, b.Platform(), ir.Facts{}).Cells() {
				if c.Resource != ir.Net {
					continue
				}
				for level := levels[b.Platform()].From; level <= levels[b.Platform()].To; level++ {
					checkCell(rt, b, out.Ledger, c, level)
				}
			}
		}
	})
}

// checkCell checks the rows of one cell at one feature level.
func checkCell(t *rapid.T, b backends.Backend, l ir.Ledger, c ir.Cell, level int) {
	var rows []ir.Row
	for _, row := range l.On(b.Platform(), level) {
		if row.Resource == c.Resource && slices.Contains(row.Rules, c.ID) && slices.Contains(row.Aspects, c.Aspect) {
			rows = append(rows, row)
		}
	}
	if len(rows) != 1 {
		t.Fatalf("%s: %s %s at level %d has %d rows: %+v", b.Name(), c.ID, c.Aspect, level, len(rows), c.Rule)
	}
	row := rows[0]
	if row.Is == ir.Unstated || row.Is != ir.Exact && len(row.Causes) == 0 || b.Platform() != 0 && !row.Is.Held() && !row.Gap.Known() {
		t.Fatalf("%s: %s %s at level %d: %+v of %+v", b.Name(), c.ID, c.Aspect, level, row, c.Rule)
	}
	for _, cause := range row.Causes {
		said := slices.ContainsFunc(Sentences(), func(s backends.Sentences) bool { return s.Of(cause) != cause.String() })
		if !said {
			t.Fatalf("%s: %s has no sentence", b.Name(), cause)
		}
	}
}
