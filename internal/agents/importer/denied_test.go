package importer_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulediff"
)

// A deny that ends in a text and not in a word stays a deny for the part that words say, in each format.
func TestDeniedInPart(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for _, c := range []struct {
		from, text string
		denied     []string
	}{
		{"claude-code", `{"permissions": {"deny": ["Bash(git push --force*)", "Bash(curl*)", "Bash(*gcloud*)", "Bash(mkfs*)"]}}`,
			[]string{"git push --force", "git push --force-with-lease", "curl https://a.test", "gcloud x", "mkfs.ext4 x"}},
		{"opencode", `{"permission": {"bash": {"*": "ask", "git push*": "deny", "npm publish*": "deny"}}}`,
			[]string{"git push", "git push origin x", "npm publish"}},
		{"gemini", "[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"git push\"\ndecision = \"deny\"\npriority = 100\n",
			[]string{"git push", "git push origin x"}},
	} {
		res, err := w.Refusing(c.from, c.text, importer.RefuseDenies)
		if err != nil {
			t.Fatalf("%s: %v", c.from, err)
		}
		built, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range c.denied {
			set := built.Rulesets[0]
			d := set.Decide(ruleset.Operation{Command: line, Dir: set.Root}, rulediff.Host())
			if d.Outcome != ruleset.Deny {
				t.Errorf("%s: %s is %v\n%s", c.from, line, d.Outcome, res.Text)
			}
		}
		for _, e := range res.Entries {
			if strings.Contains(e.Why, "denies") && e.Fate != importer.DeniedInPart {
				t.Errorf("%s: %s is %s", c.from, e.Text, e.Fate)
			}
		}
	}
}

// A deny of which no rule says any part stops the import, unless a person is to decide.
func TestDeniesThatAreLost(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for from, text := range map[string]string{
		"claude-code": `{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Bash(grep * /etc/*)"]}}`,
		"opencode":    `{"permission": {"bash": {"*": "ask", "* --force": "deny"}}}`,
	} {
		if _, err := w.Refusing(from, text, importer.RefuseDenies); err == nil || !strings.Contains(err.Error(), "--denies ask") {
			t.Errorf("%s: got %v", from, err)
		}
		res, err := w.Refusing(from, text, importer.AskDenies)
		if err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		for _, e := range res.Entries {
			if strings.Contains(e.Why, "left to a person") && e.Fate == importer.Narrowed {
				t.Errorf("%s: %s is narrowed", from, e.Text)
			}
		}
	}
}

// A rule about cd does not stop an import: below the directory it is harmless in every format.
func TestImportOfCd(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for text, from := range map[string]string{
		`{"permission": {"bash": {"*": "ask", "cd": "allow"}}}`:                    "opencode",
		`{"permissions": {"ask": ["Bash(cd:*)"], "allow": ["Bash(ls:*)"]}}`:        "claude-code",
		`{"chat.tools.terminal.autoApprove": {"cd": false, "ls": true}}`:           "vscode",
		`{"permission": {"bash": {"*": "ask", "cd": "deny", "git log": "allow"}}}`: "opencode",
	} {
		if _, err := w.Refusing(from, text, importer.RefuseDenies); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
