package compare

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestNamesOfLayers: a tool that may write one directory has none of the listed paths in it, and may change the names
// of layers there once its policy protects nothing.
func TestNamesOfLayers(t *testing.T) {
	tool := func(protects bool) Policy {
		out := ir.NewTool("t")
		out.Protects, out.Declared.FS = protects, true
		out.FS = []ir.FSRule{{Written: "src", At: ir.In("src"), Caps: ir.All}}
		return Policy{Tool: out}
	}
	wider := Policies(tool(true), tool(false))
	if len(wider) == 0 {
		t.Fatal("no difference")
	}
	if d := wider[0]; !d.Wider || d.What != "create update delete" || d.Where != "src/accessc.toml" || !d.OfProtected() {
		t.Errorf("got %+v", d)
	}
	for _, d := range Policies(tool(false), tool(true)) {
		if d.Wider {
			t.Errorf("taking it away is wider: %+v", d)
		}
	}
}
