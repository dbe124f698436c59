package codex

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// TestSiblings: where several places of a directory are narrower than it and no rule is about the directory, it has
// the one entry for all of them; a single place has its own.
func TestSiblings(t *testing.T) {
	for places, want := range map[string]string{"sub/a": `"sub/a"`, "sub/a sub/b": `"sub"`,
		"sub/a sub/b sub/c": `"sub"`} {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}}
		for _, p := range strings.Fields(places) {
			tool.FS = append(tool.FS, ir.FSRule{At: ir.In(p), Caps: ir.Caps(ir.Read)})
		}
		out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(out.Data)) {
			if key, _, ok := strings.Cut(line, " = "); ok && strings.HasPrefix(key, `"sub`) {
				got = append(got, key)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: entries for %q, want %s\n%s", places, got, want, out.Data)
		}
	}
}

// TestLeastAccess: a path of two places has the narrower access of them, whatever their order.
func TestLeastAccess(t *testing.T) {
	for _, order := range [][]writer.Access{{writer.Write, writer.Read}, {writer.Read, writer.Write}} {
		var paths table
		for _, is := range order {
			paths.add("/data", is)
		}
		if len(paths) != 1 || paths[0].is != writer.Read {
			t.Errorf("%v: %+v", order, paths)
		}
	}
}
