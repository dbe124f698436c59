package golden_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/ir"
)

// targets are those of other loaders whose artifacts carry their ledgers in texts.
var targets = []string{"landlockconfig", "kubernetes"}

// TestTargets compares the artifacts of other loaders for every policy of policy/, which has every construct, with
// targets/NAME.txt. They are without the base and without the rows of the ledger, which are long; goldens of the backends have
// them.
func TestTargets(t *testing.T) {
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
				if tool.Source.Kind == ir.SourceLocal {
					got.Files = append(got.Files, artifacts(t, c, tool)...)
				}
			}
			compareFile(t, "targets/"+name+".txt", txtar.Format(got))
		})
	}
}

func artifacts(t *testing.T, c *golden.Case, tool *ir.Tool) (out []txtar.File) {
	bare := *tool
	bare.Base, bare.Protects = ir.BaseNone, bare.Protects && len(tool.FS) == 1
	target := backends.Target{Form: backends.Portable}
	if c.Options.Resolve {
		target.Form, target.Facts = backends.Resolved, ir.Facts{Bindings: c.Bindings(tool)}
	}
	for _, b := range registry.Optional {
		if !slices.Contains(targets, b.Name()) {
			continue
		}
		made, err := b.Compile(&bare, target)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for line := range strings.Lines(string(made.Data)) {
			if !strings.Contains(line, `{\"resource\":`) {
				text.WriteString(line)
			}
		}
		for _, r := range made.Refusals {
			text.WriteString("refused: " + r.Why + "\n")
		}
		out = append(out, txtar.File{Name: tool.Name + "/" + b.File(), Data: []byte(c.Fold(text.String()))})
	}
	return out
}
