package winjob

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestNetworkAgainstPolicy puts connections and listeners to random policies and to their emitted
// artifacts. An artifact opens nothing, so each that the policy grants has a row that says
// so.
func TestNetworkAgainstPolicy(t *testing.T) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Net = irtest.NetRules(rt, 5)
		out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		spec, err := Parse(out.Data)
		if err != nil {
			rt.Fatal(err)
		}
		if n, c := spec.Network, spec.Container.Security.Capabilities; n.Mode != modeClosed || !slices.Equal(n.Services, services) || len(c) > 0 {
			rt.Fatalf("the network is open: %+v, %q", n, c)
		}
		view := ir.NewView(tool, ir.Windows, ir.Facts{})
		for range per {
			op := irtest.NetOp(rt, tool.Net)
			v := view.Decide(op)
			rule, aspect := irtest.NetCell(tool.Net, op, v)
			row, ok := out.Ledger.Cell(ir.Net, rule, aspect, ir.Windows, ir.BestTier)
			seen[fmt.Sprintf("%s %v %s", aspect, v.Allowed(), row.Is)]++
			if !ok || v.Allowed() && row.Is != ir.Stricter || !v.Allowed() && row.Is != ir.Exact {
				rt.Fatalf("%+v: policy %v, row %+v\nrules %+v", op, v.Allowed(), row, tool.Net)
			}
			if none, _ := out.Ledger.Cell(ir.Net, ir.DefaultRule, aspect, ir.Windows, 0); none.Is != ir.Unenforced || none.Gap != ir.GapNetDefault {
				rt.Fatalf("without an AppContainer: %+v", none)
			}
		}
	})
	irtest.Happened(t, seen, "connect true stricter", "connect false exact", "listen true stricter", "listen false exact")
}
