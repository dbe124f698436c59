package external_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestEveryCellIsStated: whatever a program states, each cell of the policy is in one row, and what it does not mention is
// held by nothing.
func TestEveryCellIsStated(t *testing.T) {
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		tool := irtest.Tool(rt, irtest.Names, 5)
		tool.Net = irtest.NetRules(rt, 3)
		request, err := external.CompileRequest(tool)
		if err != nil {
			rt.Fatal(err)
		}
		var reply bytes.Buffer
		if err := external.Serve(bytes.NewReader(request), &reply, names{}); err != nil {
			rt.Fatal(err)
		}
		made, err := external.ReadCompiled(reply.Bytes(), tool, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range ir.NewView(tool, ir.Linux, ir.Facts{}).Cells() {
			n := 0
			for _, r := range made.Ledger {
				if r.Resource == c.Resource && slices.Contains(r.Rules, c.ID) && slices.Contains(r.Aspects, c.Aspect) {
					n++
					if (r.Is == ir.Unenforced) != (c.Resource != ir.Env) {
						rt.Fatalf("%s %s is %s", c.ID, c.Aspect, r.Is)
					}
				}
			}
			if n != 1 {
				rt.Fatalf("%s %s is in %d rows", c.ID, c.Aspect, n)
			}
		}
	})
}

// TestReadCompiled: a reply that cannot be used is refused by the part that is wrong with it.
func TestReadCompiled(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In("src"), Caps: ir.Caps(ir.Read)}}
	const file = `"files": [{"name": "a.txt", "text": "a"}]`
	row := func(s string) string { return file + `, "rows": [` + s + `]` }
	for _, c := range []struct{ members, want string }{
		{file, ""},
		{file + `, "platform": "linux"`, ""},
		{row(`{"resource": "fs", "rules": ["fs[0]"], "aspects": ["read"], "is": "weaker", "gap": "fs.names", "why": "x"}`), ""},
		{`"refusals": [{"rule": "fs[0]", "why": "no form"}]`, ""},
		{`"refusals": [{"rule": "fs[7]", "why": "no form"}]`, "does not have"},
		{`"refusals": [{}]`, "no reason"},
		{file + `, "platform": "plan9"`, "platform"},
		{file + `, "verdicts": ["allow"]`, "not asked for"},
		{file + `, "files": []`, "files"},
		{`"rows": []`, "found 0 files"},
		{`"files": [{"name": "a.txt", "text": ""}, {"name": "A.TXT", "text": ""}]`, "another file"},
		{`"files": [{"name": "own.json", "text": ""}]`, "another file"},
		{`"files": [{"name": "a/b", "text": ""}]`, "file name"},
		{`"files": [{"name": "com1.txt", "text": ""}]`, "file name"},
		{`"files": [{"name": "a.", "text": ""}]`, "file name"},
		{`"files": [{"name": "a.txt", "text": "\u202e"}]`, "control character"},
		{row(`{"resource": "disk", "rules": [], "aspects": [], "is": "exact"}`), "resource"},
		{row(`{"resource": "fs", "rules": ["fs[0]"], "aspects": ["read"], "is": "supervised", "why": "x"}`), "supervised"},
		{row(`{"resource": "fs", "rules": ["fs[0]"], "aspects": ["connect"], "is": "exact"}`), "does not have"},
		{row(`{"resource": "fs", "rules": ["fs[0]"], "aspects": ["read"], "is": "none"}`), "no reason"},
		{row(`{"resource": "fs", "rules": ["fs[0]"], "aspects": ["read"], "is": "none", "why": "` + strings.Repeat("x", 501) + `"}`), "more than"},
		{row(`{"resource": "fs", "rules": ["fs[0]"], "aspects": ["read"], "is": "none", "gap": "fs.all", "why": "x"}`), "gap"},
		{row(`{"resource": "fs", "rules": ["fs[0]"], "aspects": ["read"], "is": "stricter", "gap": "fs.names", "why": "x"}`), "gap"},
	} {
		text := fmt.Sprintf(`{"format": "accessc/backend", "format_version": 1, %s}`, c.members)
		_, err := external.ReadCompiled([]byte(text), tool, []string{"own.json"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, expected %q", c.members, err, c.want)
		}
	}
}

// FuzzReadCompiled: no reply stops the reader, and what it takes states each cell.
func FuzzReadCompiled(f *testing.F) {
	f.Add([]byte(`{"format": "accessc/backend", "format_version": 1, "files": [{"name": "a.txt", "text": "a"}], "rows": [` +
		`{"resource": "fs", "rules": ["fs[0]", "default"], "aspects": ["read"], "is": "weaker", "gap": "fs.names", "why": "x"}]}`))
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In("src"), Caps: ir.Caps(ir.Read)}}
	cells := len(ir.NewView(tool, ir.Linux, ir.Facts{}).Cells())
	f.Fuzz(func(t *testing.T, data []byte) {
		made, err := external.ReadCompiled(data, tool, nil)
		if err != nil || len(made.Refusals) > 0 || made.Platform > ir.Linux {
			return
		}
		n := 0
		for _, r := range made.Ledger {
			n += len(r.Rules) * len(r.Aspects)
		}
		if n != cells {
			t.Errorf("%d cells of %d are stated", n, cells)
		}
	})
}
