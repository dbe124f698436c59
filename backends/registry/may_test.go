package registry

import (
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestMayIsStated: every backend states how it holds a rule that can be granted while the tool
// runs, none permits more for it, and no artifact mentions it.
func TestMayIsStated(t *testing.T) {
	plain, asking := ir.NewTool("t"), ir.NewTool("t")
	asking.May = []ir.FSRule{{At: ir.In("secrets"), Caps: ir.All}}
	asking.MayNet = []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "a.example"}, Allow: true}}
	for _, b := range All {
		level := map[ir.Platform]int{ir.Linux: 6, ir.Windows: ir.BestTier}[b.Platform()]
		with, err := b.Compile(asking, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		without, err := b.Compile(plain, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		if string(with.Data) != string(without.Data) {
			t.Errorf("%s: the artifact differs", b.Name())
		}
		for id, of := range map[ir.RuleID]ir.Resource{ir.MayRuleID(0): ir.FS, ir.MayNetRuleID(0): ir.Net} {
			row, ok := with.Ledger.Cell(of, id, ir.AspectAsk, b.Platform(), level)
			want := ir.Stricter
			if b.Platform() == ir.Linux {
				want = ir.Exact
			}
			if !ok || row.Is != want || len(row.Causes) == 0 {
				t.Errorf("%s: %s: %+v", b.Name(), id, row)
			}
		}
	}
}
