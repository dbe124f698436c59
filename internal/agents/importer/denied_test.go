package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulediff"
)

// A deny that ends in a text and not in a word stays a deny for the part that words say, in each format.
func TestDeniedInPart(t *testing.T) {
	w := newWorld(t)
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
		res, err := w.refusing(c.from, c.text, RefuseDenies)
		if err != nil {
			t.Fatalf("%s: %v", c.from, err)
		}
		built, err := compiled(res.Text, w.home)
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
			if strings.Contains(e.Why, "denies") && e.Fate != DeniedInPart {
				t.Errorf("%s: %s is %s", c.from, e.Text, e.Fate)
			}
		}
	}
}

// A deny of which no rule says any part stops the import, unless a person is to decide.
func TestDeniesThatAreLost(t *testing.T) {
	w := newWorld(t)
	for from, text := range map[string]string{
		"claude-code": `{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Bash(grep * /etc/*)"]}}`,
		"opencode":    `{"permission": {"bash": {"*": "ask", "* --force": "deny"}}}`,
	} {
		if _, err := w.refusing(from, text, RefuseDenies); err == nil || !strings.Contains(err.Error(), "--denies ask") {
			t.Errorf("%s: got %v", from, err)
		}
		res, err := w.refusing(from, text, AskDenies)
		if err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		for _, e := range res.Entries {
			if strings.Contains(e.Why, "left to a person") && e.Fate == Narrowed {
				t.Errorf("%s: %s is narrowed", from, e.Text)
			}
		}
	}
}

// Keys of the version and keys of none are no reason to stop; one that may be part of the permissions is.
func TestClaudeKeys(t *testing.T) {
	w := newWorld(t)
	for key, good := range map[string]bool{
		"tui": true, "autoMode": true, "skipWorkflowUsageWarning": true, "allow": false, "permisions": false, "network": false,
	} {
		text := fmt.Sprintf(`{"permissions": {"allow": ["Bash(ls:*)"]}, %q: []}`, key)
		if _, err := w.refusing("claude-code", text, RefuseDenies); (err == nil) != good {
			t.Errorf("%s: got %v", key, err)
		}
	}
	if n := len(otherSettings); n != 182 {
		t.Errorf("%d keys, and the types of the version have 182 beside permissions and sandbox", n)
	}
}

// A rule about cd does not stop an import: below the directory it is harmless in every format.
func TestImportOfCd(t *testing.T) {
	w := newWorld(t)
	for text, from := range map[string]string{
		`{"permission": {"bash": {"*": "ask", "cd": "allow"}}}`:                    "opencode",
		`{"permissions": {"ask": ["Bash(cd:*)"], "allow": ["Bash(ls:*)"]}}`:        "claude-code",
		`{"chat.tools.terminal.autoApprove": {"cd": false, "ls": true}}`:           "vscode",
		`{"permission": {"bash": {"*": "ask", "cd": "deny", "git log": "allow"}}}`: "opencode",
	} {
		if _, err := w.refusing(from, text, RefuseDenies); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// refusing imports a text with an answer to denies that are lost.
func (w *world) refusing(from, text string, denies Denies) (*Result, error) {
	file := filepath.Join(w.in, fmt.Sprintf("denied%d", w.next.Add(1)))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return Import(Request{
		Files: []string{file}, From: from, Tool: "agent", Ruleset: "agent", Denies: denies, Patterns: Existing, Dir: w.dir, Home: w.home,
	})
}
