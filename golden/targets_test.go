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
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/ir"
)

// TestSettings compares the settings of agents for every policy of policy/, which has every construct, with
// elsewhere/NAME.txt.
func TestSettings(t *testing.T) {
	forEachPolicy(t, "elsewhere", []string{"srt", "codex", "claude-code", "cursor", "gemini", "vscode"}, func(t *testing.T, made backends.Output) string {
		if made.Data == nil {
			t.Fatalf("%+v", made.Refusals)
		}
		return string(made.Data)
	})
}

// TestTargets compares the artifacts of other loaders, whose ledgers are in texts, with targets/NAME.txt. They are without
// the rows of the ledger, which are long; goldens of the backends have them.
func TestTargets(t *testing.T) {
	forEachPolicy(t, "targets", []string{"landlockconfig", "kubernetes"}, func(_ *testing.T, made backends.Output) string {
		var text strings.Builder
		for line := range strings.Lines(string(made.Data)) {
			if !strings.Contains(line, `{\"resource\":`) {
				text.WriteString(line)
			}
		}
		for _, r := range made.Refusals {
			text.WriteString("refused: " + r.Why + "\n")
		}
		return text.String()
	})
}

// forEachPolicy compares the artifacts of some optional targets for every policy with DIR/NAME.txt. They are without the base,
// and mostly without the protected paths, which are long lists.
func forEachPolicy(t *testing.T, dir string, names []string, show func(*testing.T, backends.Output) string) {
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
				if tool.Source.Kind != ir.SourceLocal {
					continue
				}
				for _, b := range registry.Optional {
					if slices.Contains(names, b.Name()) {
						text := c.Fold(show(t, bare(t, c, b, tool)))
						got.Files = append(got.Files, txtar.File{Name: tool.Name + "/" + b.File(), Data: []byte(text)})
					}
				}
			}
			compareFile(t, dir+"/"+name+".txt", txtar.Format(got))
		})
	}
}

// bare compiles a tool without the long lists.
func bare(t *testing.T, c *golden.Case, b backends.Backend, tool *ir.Tool) backends.Output {
	t.Helper()
	bare := *tool
	bare.Base, bare.Protects = ir.BaseNone, bare.Protects && len(tool.FS) == 1
	target := backends.Target{Form: backends.Portable}
	if c.Options.Resolve {
		target.Form, target.Facts = backends.Resolved, ir.Facts{Bindings: c.Bindings(tool)}
	}
	made, err := b.Compile(&bare, target)
	if err != nil {
		t.Fatalf("%s: %v", b.Name(), err)
	}
	return made
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
