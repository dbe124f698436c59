package writer_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/codex"
	"github.com/accessc/accessc/internal/agents/cursor"
	"github.com/accessc/accessc/internal/agents/gemini"
	"github.com/accessc/accessc/internal/agents/srt"
	"github.com/accessc/accessc/internal/agents/vscode"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// TestRulesByName: each program has the names of a rule as its own patterns, or a row of its ledger says that they
// stay open. Cause: settings that were written from the tree of regions dropped rules by name, which are none.
func TestRulesByName(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Protects = false
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.All}, {At: ir.In(""), Names: []string{"*.pem", ".env"}},
		{At: ir.In("src"), Names: []string{"[A-Z]*.lock"}, Caps: ir.Caps(ir.Read, ir.Execute)},
	}
	for _, c := range []struct {
		b        backends.Backend
		patterns []string
		is       ir.Enforcement // of what the first rule by name denies to read
	}{
		{claudecode.Backend{}, []string{
			`"Read(/**/.env)"`, `"Edit(/**/*.pem)"`, `"Edit(/src/**/?*.lock)"`, `"./**/.env"`,
		}, ir.Weaker},
		{srt.Backend{}, []string{`"./**/.env"`, `"./**/*.pem"`, `"./src/**/?*.lock"`}, ir.Weaker},
		{codex.Backend{}, []string{`"**/.env" = "deny"`, `"src/**/?*.lock" = "deny"`}, ir.Weaker},
		{vscode.Backend{}, []string{`"**/.env": false`, `"**/src/**/?*.lock/**": false`}, ir.Weaker},
		{gemini.Backend{}, []string{
			`(?:\./|)(?:[^"]*/|)\.env(?:/`, `(?:\./|)src/(?:[^"]*/|)[^/"][^/"]*\.lock(?:/`,
		}, ir.Exact},
		{cursor.Backend{}, []string{`"workspace_readonly"`}, ir.Weaker},
	} {
		out, err := c.b.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.patterns {
			if !strings.Contains(string(out.Data), p) {
				t.Errorf("%s has no %s:\n%s", c.b.Name(), p, out.Data)
			}
		}
		row, ok := out.Elsewhere.Cell(ir.FS, ir.FSRuleID(1), ir.AspectRead, 0, 0)
		open := row.Is == ir.Weaker && row.Gap == ir.GapFSNames
		if !ok || open != (c.is == ir.Weaker) {
			t.Errorf("%s: %+v", c.b.Name(), row)
		}
	}
}

// TestGlobs: a part that other languages of patterns do not have, or read as something else, covers more.
func TestGlobs(t *testing.T) {
	for name, want := range map[string]struct {
		glob  string
		wider bool
	}{
		".env.*": {".env.*", false}, "a?": {"a?", false}, "[a-c]x": {"?x", true},
		`\*`: {"?", true}, "{a}": {"?a?", true}, "ü": {"ü", false},
	} {
		got, wider := writer.Globs([]string{name}, `*?[]{}\`)
		if len(got) != 1 || got[0] != want.glob || wider != want.wider {
			t.Errorf("%s: got %q %v, want %v", name, got, wider, want)
		}
	}
}
