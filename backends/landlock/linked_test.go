package landlock

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestLinkableTarget: the target of an external rule may be a file, which keeps its rights under a further name
// that the tool gives it where less is granted.
func TestLinkableTarget(t *testing.T) {
	for _, tt := range []struct {
		target, workspace, want ir.CapSet
	}{
		{ir.Caps(ir.Read, ir.Update), ir.Caps(ir.Create), ir.Caps(ir.Read, ir.Update)},
		{ir.Caps(ir.Read, ir.Update), ir.Caps(ir.Read, ir.Create), ir.Caps(ir.Update)},
		{ir.Caps(ir.Read, ir.Update), ir.Caps(ir.Read), 0},
		{ir.Caps(ir.Read), ir.Caps(ir.Create), 0},
	} {
		tool := ir.NewTool("t")
		tool.Base, tool.Home, tool.Protects = ir.BaseNone, ir.HomeReal, false
		at := ir.Location{Root: ir.Root{Kind: ir.External, Name: "data"}}
		tool.FS = []ir.FSRule{{At: ir.In(""), Caps: tt.workspace}, {At: at, Caps: tt.target, External: true}}
		if got := newRuleset(ir.NewView(tool, ir.Linux, ir.Facts{})).linkable(); got != tt.want {
			t.Errorf("%s beside a workspace with %s: %s can be linked, want %s", tt.target, tt.workspace, got,
				tt.want)
		}
	}
}
