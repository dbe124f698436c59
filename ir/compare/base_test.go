package compare

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestBase: another base is a difference of files, although no rule is about any outside of the workspace.
func TestBase(t *testing.T) {
	tool := func(b ir.BaseName) Policy {
		out := ir.NewTool("t")
		out.Base = b
		return Policy{Tool: out}
	}
	for _, tt := range []struct {
		old, new ir.BaseName
		want     Verdict
	}{{ir.BaseSystem, ir.BaseNone, Narrowed}, {ir.BaseNone, ir.BaseSystem, Widened}, {ir.BaseSystem,
		ir.BaseMinimal, Narrowed}, {ir.BaseNone, ir.BaseNone, Equivalent}} {
		if got := Sum(filter(Policies(tool(tt.old), tool(tt.new)), ir.FS)); got != tt.want {
			t.Errorf("from %v to %v: %v, want %v", tt.old, tt.new, got, tt.want)
		}
	}
}
