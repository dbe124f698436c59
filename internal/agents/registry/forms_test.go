package registry

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestFormsAgree: the portable ledger, which is reviewed, is that of a host on which no root lies in another.
func TestFormsAgree(t *testing.T) {
	host := func(volume string) ir.Facts {
		return ir.Facts{Bindings: &ir.Bindings{
			Workspace: volume + "/ws/p", Home: volume + "/state/h", Temp: volume + "/run/t",
			External: map[string]string{irtest.Elsewhere.Name: volume + "/users/u"},
		}}
	}
	levels := map[ir.Platform]ir.Levels{ir.Linux: {From: 1, To: landlock.MaxABI}, ir.Windows: {To: ir.BestTier}}
	volumes := map[ir.Platform]string{ir.Windows: "C:"}
	irtest.Check(t, 3000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 4)
		tool.Command, tool.Net = &ir.Command{Program: "true"}, irtest.NetRules(rt, 3)
		for _, r := range tool.FS {
			if r.At.Root.Kind == ir.External && r.At.Root != irtest.Elsewhere {
				rt.Skip("a root that lies in another")
			}
		}
		for _, b := range Every {
			portable, err := b.Compile(tool, backends.Target{Form: backends.Portable})
			if err != nil {
				rt.Fatal(err)
			}
			resolved, err := b.Compile(tool, backends.Target{Form: backends.Resolved, Facts: host(volumes[b.Platform()])})
			if err != nil {
				rt.Fatal(err)
			}
			level := levels[b.Platform()]
			for _, c := range ir.NewView(tool, b.Platform(), ir.Facts{}).Cells() {
				for l := level.From; l <= level.To; l++ {
					says, _ := portable.Ledger.Cell(c.Resource, c.ID, c.Aspect, b.Platform(), l)
					holds, _ := resolved.Ledger.Cell(c.Resource, c.ID, c.Aspect, b.Platform(), l)
					// Of several places that a move could escalate from, a cause names the first.
					if says.Is != holds.Is || says.Gap != holds.Gap {
						rt.Errorf("%s: %s %s at level %d is\n%+v,\non a host %+v", b.Name(), c.ID, c.Aspect, l, says.Held, holds.Held)
					}
				}
			}
		}
	})
}
