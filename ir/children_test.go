package ir_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestNamesInADirectory: rules are found and listed in order, however many names their directory has. A few are looked
// for one by one, more of them in an index.
func TestNamesInADirectory(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 10, 500} {
		tool := &ir.Tool{Name: "t", Source: ir.Source{Kind: ir.SourceLocal}, Base: ir.BaseNone, Home: ir.HomeReal}
		for i := range n {
			caps := ir.Caps(ir.Read)
			if i%2 == 0 {
				caps = ir.Caps(ir.Update)
			}
			tool.FS = append(tool.FS, ir.FSRule{At: ir.In(fmt.Sprintf("dir/%d", (i*7919)%1009)), Caps: caps})
		}
		v := ir.NewView(tool, ir.Linux, ir.Facts{})
		for i := range tool.FS {
			r := &tool.FS[i]
			for _, at := range []ir.Location{r.At, r.At.Child("below")} {
				got := v.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)})
				if got.Rule != r || got.Allowed() != r.Caps.Has(ir.Read) {
					t.Errorf("%d names: %s is governed by %v, want %v", n, at, got.Rule, r)
				}
			}
		}
		if got := v.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("dir/none"))}); got.Allowed() {
			t.Errorf("%d names: another one may be read", n)
		}
		below := v.Regions(ir.Root{Kind: ir.Workspace}).Below[0].Below
		if len(below) != n || !slices.IsSortedFunc(below, func(a, b *ir.Region) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%d names: %d are listed, or not in order", n, len(below))
		}
	}
}
