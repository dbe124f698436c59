package golden_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/ir"
)

// agents are the targets whose artifacts are settings of agents.
var agents = []string{"srt", "codex", "claude-code", "cursor"}

// TestSettings compares the settings of agents for every policy of policy/, which has every construct, with
// elsewhere/NAME.txt. They are those without the base, and mostly
// without the protected paths, which are long lists.
func TestSettings(t *testing.T) {
	paths, err := filepath.Glob("policy/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c := golden.Lay(t, a)
			out := c.Run(t)
			if out.Result.Program == nil {
				return // a mistake
			}
			got := &txtar.Archive{}
			for _, tool := range out.Result.Program.Tools {
				got.Files = append(got.Files, settingsOf(t, c, tool)...)
			}
			compareFile(t, "elsewhere/"+name+".txt", txtar.Format(got))
		})
	}
}

func settingsOf(t *testing.T, c *golden.Case, tool *ir.Tool) []txtar.File {
	if tool.Source.Kind != ir.SourceLocal {
		return nil
	}
	bare := *tool
	bare.Base, bare.Protects = ir.BaseNone, bare.Protects && len(tool.FS) == 1
	target := backends.Target{Form: backends.Portable}
	if c.Options.Resolve {
		target.Form, target.Facts = backends.Resolved, ir.Facts{Bindings: c.Bindings(tool)}
	}
	var out []txtar.File
	for _, b := range registry.Optional {
		if !slices.Contains(agents, b.Name()) {
			continue
		}
		made, err := b.Compile(&bare, target)
		if err != nil || made.Data == nil {
			t.Fatalf("%s: %v %+v", b.Name(), err, made.Refusals)
		}
		out = append(out, txtar.File{Name: tool.Name + "/" + b.File(), Data: []byte(c.Fold(string(made.Data)))})
	}
	return out
}

func compareFile(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}
