package explain

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestSpellings: a name that macOS or Windows takes for a rule's has the answer about that one besides. Cause: the
// answer was that of a system which tells the two apart, and macOS was said to hold it exactly.
func TestSpellings(t *testing.T) {
	tool := &ir.Tool{Name: "t", Declared: ir.Declared{FS: true}, FS: []ir.FSRule{
		{Written: ".", At: ir.In(""), Caps: ir.All}, {Written: ".env", At: ir.In(".env")},
		{Written: "caf\u00e9", At: ir.In("caf\u00e9")}, {Written: "out", At: ir.In("out"), Caps: ir.All},
	}}
	view := ir.NewView(tool, ir.Linux, ir.Facts{})
	for name, rule := range map[string]string{
		".ENV": ".env", ".env.": ".env", ".env .": ".env", ".env::$DATA": ".env", ".Env/x": ".env", "cafe\u0301": "caf\u00e9",
		".env": "", ".env/X": "", ".envx": "", "...": "", "x/.ENV": "", "OUT": "",
	} {
		op := ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(name))}
		a := &Answer{View: view, Operation: op, Verdict: view.Decide(op)}
		said := ""
		for _, o := range a.others() {
			said += o.Where + ": " + o.Verdict
		}
		want := "where it is another spelling of " + rule + " (macOS, Windows): deny"
		if rule == "" {
			want = ""
		}
		if said != want {
			t.Errorf("%q: %q, want %q", name, said, want)
		}
	}
}
