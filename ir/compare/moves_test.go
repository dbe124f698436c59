package compare

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestMovesWithoutTable: where programs are listed a move into a directory of programs gains nothing, and without
// the list it does. So a policy that drops the list permits fewer moves, although its rules on files are the same.
func TestMovesWithoutTable(t *testing.T) {
	tool := func(commands *ir.CommandSet) *ir.Tool {
		out := ir.NewTool("t")
		out.FS, out.Commands = []ir.FSRule{
			{At: ir.In("in"), Caps: ir.All.Without(ir.Execute)}, {At: ir.In("out"), Caps: ir.All},
		}, commands
		return out
	}
	ds := Policies(Policy{Tool: tool(&ir.CommandSet{})}, Policy{Tool: tool(nil)})
	for _, d := range filter(ds, ir.FS) {
		if !d.Wider && strings.Contains(d.What, "rename") && d.Where == "in → out" {
			return
		}
	}
	t.Errorf("no difference says that files stay out of the directory of programs: %+v", ds)
}
