package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir/compare"
)

// BenchmarkCompare compares a thousand tools of fifty rules, one rule of each of which
// has changed, against compiling them once.
func BenchmarkCompare(b *testing.B) {
	text := configuration(1000, 50)
	policies := func(text string) []compare.Policy {
		root := b.TempDir()
		if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: root}, State: userdir.Dir(filepath.Join(root, "state"))})
		if err != nil || res.Program == nil {
			b.Fatal(err, res.Findings)
		}
		var out []compare.Policy
		for _, t := range res.Program.Tools {
			out = append(out, compare.Policy{Tool: t})
		}
		return out
	}
	old, new := policies(text), policies(strings.ReplaceAll(text, "src/dir12", "src/other12"))
	race(b,
		contender{"compile", func(*testing.B) { policies(text) }},
		contender{"compare", func(b *testing.B) {
			if !explain.Widened(explain.Changes(old, new)) {
				b.Fatal("nothing was widened")
			}
		}},
	)
}
