package compiler_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
)

// TestPathsAreTOML: the path of a finding can be written into a configuration. Cause: keys were
// quoted as in Go, which writes a bell as \a and a delete as \x7f; TOML has neither.
func TestPathsAreTOML(t *testing.T) {
	root := t.TempDir()
	key := "\a\x7f"
	text := "[conversation.tools.\"\\u0007\\u007F\"]\nsource = \"local\"\ncommand = \"ls\"\n"
	if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, d := range res.Findings {
		if d.Path == "" {
			continue
		}
		found++
		table, bad := source.Parse("", []byte(d.Path+" = 1"))
		if bad != nil {
			t.Errorf("%s is not TOML: %s", d.Path, bad.Label)
			continue
		}
		if tools := table.Get("conversation"); tools != nil {
			table = tools.Table
		}
		if table.Get("tools").Table.Entry(key) == nil {
			t.Errorf("%s does not name the tool", d.Path)
		}
	}
	if found == 0 {
		t.Error("a tool with such a name has no finding")
	}
}
