package landlockconfig

import (
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestByName: a capability that a rule by name takes away is granted in no directory that it is about, and what
// it gives stays closed.
func TestByName(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read, ir.Update)}, {At: ir.In("src"), Names: []string{".env", "*.pem"},
			Caps: ir.Caps(ir.Update)},
		{At: ir.In("doc"), Names: []string{"out"}, Caps: ir.All},
	}
	q := &question{view: ir.NewView(tool, ir.Linux, ir.Facts{}), bind: bindings(tool)}
	c, err := parse(compile(t, tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: q.bind}}))
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := stated(c)
	if err != nil {
		t.Fatal(err)
	}
	kernel := load(c, 6, directories)
	for _, name := range []string{"src/.env", "src/a/b.pem", "src/a/b.pem/c", "doc/out", "doc/a/out/b"} {
		abs, _ := q.bind.Path(ir.In(name))
		for _, capability := range ir.Capabilities {
			v := q.view.Decide(ir.Access{Cap: capability, On: ir.Direct(ir.In(name))})
			all, some := kernel.permits(capability, abs)
			for _, e := range q.view.Entries() {
				row, _ := ledger.Cell(ir.FS, e.ID, ir.AspectOf(capability), ir.Linux, 6)
				if v.Rule == ir.Rule(e.Rule) && (some && !v.Allowed() || v.Allowed() && !all &&
					!permitsLess(row.Held)) {
					t.Errorf("%s %s: policy %v, configuration %v %v, row %+v", capability, name, v.Allowed(), all,
						some, row)
				}
			}
		}
	}
}
