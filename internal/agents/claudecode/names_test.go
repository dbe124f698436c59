package claudecode

import (
	"os"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// A name that is a symlink stands for its target: a rule on it is about that place, as soon as the
// configuration is compiled in the workspace.
func TestNameIsSymlink(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	res, err := w.Run("settings.json", `{"permissions": {"allow": ["Edit"], "deny": ["Read(link)"], "ask": ["Read(.env)"]}}`, importer.Existing)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Text, "path = \"a\"\n\n") || strings.Contains(res.Text, "path = \"link\"") {
		t.Errorf("a is not denied:\n%s", res.Text)
	}
}

// Claude Code compares names without their case, and no rules can be about two spellings: an existing file in
// another case is no hole in the result.
func TestNamesInAnotherCase(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	if err := os.WriteFile(w.Dir+"/Docs/DOCS", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"permissions": {"deny": ["Read(/docs/**)"]}}`:                                         "it denies Docs as well as docs",
		`{"permissions": {"ask": ["Edit(/SRC/a)"], "allow": ["Edit"]}}`:                         "it denies src/a as well as SRC/a",
		`{"permissions": {"deny": ["Read(**/DOCS/x)"]}}`:                                        "",
		`{"permissions": {"deny": ["Edit(~/X)"], "allow": ["Edit(~/x/**)"]}}`:                   "",
		`{"permissions": {"deny": ["Read(docs/*)"], "defaultMode": "acceptEdits"}}`:             "",
		`{"permissions": {"deny": ["Read(.ENV)"], "allow": ["Edit(/a/**)"]}}`:                   "",
		`{"permissions": {"deny": ["Read(/Docs/**)"]}, "sandbox": {"filesystem": {}}}`:          "",
		`{"permissions": {"allow": ["Edit(/docs/**)"], "deny": ["Edit(src/B/k.pem)"]}}`:         "it denies src/b/K.PEM as well as src/B/k.pem",
		`{"permissions": {"deny": ["Read(/none/**)"], "additionalDirectories": ["~/x"]}}`:       "",
		`{"permissions": {"deny": ["Read(//` + strings.ToUpper(w.Dir[1:]) + `/src/**)"]}}`:      "",
		`{"permissions": {"deny": ["Read(//` + w.Dir[1:] + `/SRC)"], "allow": ["Edit(/a/b)"]}}`: "it denies src as well as SRC",
	} {
		res, err := w.Run("settings.json", text, importer.Existing)
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)), want == "" && err != nil:
			t.Errorf("%s\ngot %v, expected %q", text, err, want)
		case err == nil && strings.Contains(text, "DOCS/x") && !strings.Contains(res.Text, "path = \"Docs/x\"\n"),
			strings.Contains(text, ".ENV") && !strings.Contains(res.Text, `names = [".ENV", ".env"]`):
			t.Errorf("%s\nits name in another case is not denied:\n%s", text, res.Text)
		}
	}
}
