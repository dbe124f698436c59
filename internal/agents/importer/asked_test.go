package importer_test

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulediff"
)

// The heads of rules and settings.
const (
	geminiShell   = "[[rule]]\ntoolName = \"run_shell_command\"\npriority = 9\n"
	vscodeEntries = `{"chat.tools.terminal.autoApprove": {"make": true, "git push": false, "/deploy/": false}}`
)

// questions are settings with commands that they allow, ask about, deny, or leave open.
var questions = []struct {
	from, text string
	lines      map[string]string // line: allow, ask, deny, open
}{
	{"claude-code", `{"permissions": {"deny": ["Bash"], "allow": ["Bash(ls:*)"]}}`,
		map[string]string{"ls": "deny", "$X y": "deny", "cd a": "deny", "make": "deny", "nice ls": "deny"}},
	{"claude-code", `{"permissions": {"ask": ["Bash"], "deny": ["Bash(rm:*)"]}}`,
		map[string]string{"ls": "ask", "rm x": "deny", "$X": "ask"}},
	{"claude-code", `{"permissions": {"ask": ["Bash(git push:*)", "Bash(npm * publish)"], "allow": ["Bash(git log:*)"]}}`,
		map[string]string{
			"git push x": "ask", "npm x publish": "ask",
			"git log": "allow", "make": "open", "git -C . push": "ask",
		}},
	{"claude-code", `{"permissions": {"deny": ["Bash(git push --force*)"], "allow": ["Bash(git status)"]}}`,
		map[string]string{
			"git push --force": "deny", "git push --forced": "ask",
			"git status": "allow", "make": "open",
		}},
	{"claude-code", `{"permissions": {"deny": ["Bash(grep * /etc/*)"]}}`,
		map[string]string{"grep x /etc/y": "ask", "make": "open"}},
	{"claude-code", `{"permissions": {"deny": ["Bash(* --force)"]}}`, map[string]string{"make --force": "ask"}},
	{"claude-code", `{"permissions": {"defaultMode": "plan", "allow": ["Bash(ls:*)"]}}`,
		map[string]string{"ls": "ask", "make": "ask"}},
	{"claude-code", `{"permissions": {"defaultMode": "dontAsk", "allow": ["Bash(ls:*)"], "ask": ["Bash(git * x)"]}}`,
		map[string]string{
			"ls": "allow", "make": "deny", "cd a": "allow",
			"nice ls": "allow", "nice make": "deny", "git a x": "ask",
		}},
	{"opencode", `{"permission": {"bash": {"*": "ask", "git push*": "deny", "ls *": "allow"}}}`,
		map[string]string{"ls a": "allow", "git push": "deny", "make": "ask"}},
	{"opencode", `{"permission": {"bash": {"git push": "deny", "*": "deny"}}}`,
		map[string]string{"make": "deny", "cd a": "deny"}},
	{"codex-rules", `prefix_rule(pattern=["git", "push"], decision="prompt")`,
		map[string]string{"git push x": "ask", "make": "open"}},
	{"gemini", geminiShell + "commandPrefix = \"git push\"\ndecision = \"ask_user\"\n",
		map[string]string{"git push": "ask", "make": "open"}},
	{"gemini", geminiShell + "decision = \"deny\"\n",
		map[string]string{"make": "deny"}},
	{"gemini", geminiShell + "commandRegex = \".*x\"\ndecision = \"deny\"\n",
		map[string]string{"make": "ask"}},
	{"vscode", vscodeEntries, map[string]string{"git push": "ask", "x deploy": "ask"}},
}

// TestQuestionsAreAsked: the settings of each format have a person asked about some commands, and refuse others. A
// report that says "left to a person" was not enough: the hook asks nobody about a command that no rule decides.
func TestQuestionsAreAsked(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for _, c := range questions {
		res, err := w.Refusing(c.from, c.text, importer.AskDenies)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		built, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			t.Fatal(err)
		}
		set := built.Rulesets[0]
		for line, want := range c.lines {
			d := set.Decide(ruleset.Operation{Command: line, Dir: set.Root}, rulediff.Host())
			got := d.Outcome.String()
			switch {
			case got == "unknown" && set.MayStop(ruleset.Execute, &d):
				got = "ask"
			case got == "unknown":
				got = "open"
			}
			if got != want {
				t.Errorf("%s: %s: %s, want %s\n%s", c.text, line, got, want, res.Text)
			}
		}
	}
}

// TestFetchesAreAsked: so it is with pages.
func TestFetchesAreAsked(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for from, text := range map[string]string{
		"claude-code": `{"permissions": {"ask": ["WebFetch(domain:a.test)"]}}`,
		"opencode":    `{"permission": {"webfetch": "ask"}}`,
		"gemini":      "[[rule]]\ntoolName = \"web_fetch\"\ndecision = \"ask_user\"\npriority = 9\n",
	} {
		res, err := w.Refusing(from, text, importer.RefuseDenies)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		built, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			t.Fatal(err)
		}
		set := built.Rulesets[0]
		op := ruleset.Operation{Kind: ruleset.Fetch, URL: "https://a.test/x", Dir: set.Root}
		if d := set.Decide(op, rulediff.Host()); d.Outcome != ruleset.Ask {
			t.Errorf("%s: %v\n%s", text, d.Outcome, res.Text)
		}
	}
}
