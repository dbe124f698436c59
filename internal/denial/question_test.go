package denial

import (
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// TestQuestionIsTheRefusal: asked again by its words, an operation that was refused is refused. The question had no kind of
// a name but a directory, so it was answered about a file.
func TestQuestionIsTheRefusal(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Protects, tool.FS = false, []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("a/b/c"), Caps: ir.All}, {At: ir.In("a"), Caps: ir.All}, {At: ir.In("a/b/c/d")},
	}
	at := &ir.Bindings{Workspace: filepath.ToSlash(t.TempDir())}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: at, Base: []ir.FSRule{}})
	r, err := resolve.New(at.Workspace, resolve.Through(hostview.Now))
	if err != nil {
		t.Fatal(err)
	}
	asker, refusals := resolve.Asker{Resolver: r, Bindings: at, Kernel: true}, 0
	for _, path := range []string{"a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/e", "x"} {
		for name := ir.NameDir; name <= ir.NameLink; name++ {
			op := ir.Access{Cap: ir.Create, On: ir.Direct(ir.In(path)), Name: name}
			d := &Denial{By: ByPolicy, Operation: op, Wants: ir.Caps(ir.Create), Verdict: v.Decide(op), View: v, Roots: at}
			q, err := resolve.ParseQuestion(d.question())
			if err != nil {
				t.Fatal(err)
			}
			again, err := asker.Operation(q)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Decide(again).Reason; got != d.Verdict.Reason {
				t.Errorf("kind %d of %s: refused by %v, and %v by %v", name, path, d.Verdict.Reason, d.question(), got)
			}
			if !d.Verdict.Allowed() {
				refusals++
			}
		}
	}
	if refusals < 6 {
		t.Errorf("%d refusals", refusals)
	}
}
