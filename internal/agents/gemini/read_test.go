package gemini

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// drawPolicies draws a file of policies.
func drawPolicies(r *rand.Rand) string {
	var b strings.Builder
	word := func() string { return suite.Pick(r, "git", "npm", "ls", "make", "push", "log", "--force", "run") }
	line := func() string { return strings.Join(append([]string{word()}, suite.Some(r, 2, word)...), " ") }
	for range r.IntN(8) {
		fmt.Fprintf(&b, "[[rule]]\ndecision = %q\npriority = %d\n", suite.Pick(r, "allow", "allow", "ask_user", "deny"), suite.Pick(r, 0, 10, 10, 50, 100, 950, 999))
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "toolName = [%q, %q]\n", suite.Pick(r, "run_shell_command", "read_file", "web_fetch"), suite.Pick(r, "*", "replace", "run_*"))
			continue
		case 1:
			fmt.Fprintf(&b, "commandRegex = '%s'\n", suite.Pick(r, line(), line()+" ", word()+"?", word()+" ("+word()+"|"+word()+")", "("+word()+"|ls)", word()+"|"+word(), word()+".*", "[a-z]+ log", "git|npm (a|b)", `git\s+push`, "git push$", "ls(log"))
		case 2:
			fmt.Fprintf(&b, "argsPattern = '%s'\n", suite.Pick(r, `"command":"`+line(), `"command":"(git|npm)`, "push", `"command":"git|x`))
		case 3:
		case 4:
			fmt.Fprintf(&b, "commandPrefix = [%q, %q]\n", line(), line())
		default:
			fmt.Fprintf(&b, "commandPrefix = %q\n", line()+suite.Pick(r, "", "", "", " ", " *", `"`))
		}
		fmt.Fprintf(&b, "toolName = \"run_shell_command\"\n%s\n", suite.Pick(r, "", "", "", "", "modes = [\"yolo\"]", "modes = [\"default\", \"plan\"]", "interactive = true", "subagent = \"x\"", "mcpName = \"x\""))
	}
	return b.String()
}

// For any policies of Gemini CLI, the result permits nothing that they do not.
func TestGeminiNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var allowed, runs, done atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		runs.Add(1)
		text := drawPolicies(r)
		n, imported, err := w.OnlyLines(r, "rules.toml", policiesFormat.Name, text)
		allowed.Add(n)
		done.Add(imported)
		return err
	})
	if n := runs.Load(); n > suite.Several && (allowed.Load() == 0 || done.Load() < n*9/10) {
		t.Errorf("%d lines were allowed, %d of %d files were imported", allowed.Load(), done.Load(), runs.Load())
	}
}

// A rule that denies a command with two blanks alone, by a text that ends in one, stops no import: the command with
// one blank is permitted.
func TestGeminiBlanks(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	const rule = "[[rule]]\ntoolName = \"run_shell_command\"\n"
	res, err := w.RunAs(policiesFormat.Name, "rules.toml", rule+"decision = \"deny\"\npriority = 10\ncommandPrefix = \"log \"\n"+
		rule+"decision = \"allow\"\npriority = 999\ncommandPrefix = [\"log git\"]", importer.Refuse)
	if err != nil || !strings.Contains(res.Text, `prefix = ["log git"]`) {
		t.Errorf("got %+v, %v", res, err)
	}
}

func drawSettings(r *rand.Rand) string {
	tool := func() string {
		line := suite.Pick(r, "git", "git log", "npm run", "ls", "make", "git push --force", "", "ls *", "git ", "x(y")
		return suite.Pick(r, "run_shell_command("+line+")", "run_shell_command("+line+")", "ShellTool("+line+")", "run_shell_command", "ShellTool", "read_file", "web_fetch", "replace(x)", "(")
	}
	list := func(n int) string {
		out := suite.Some(r, n, tool)
		for i, s := range out {
			out[i] = fmt.Sprintf("%q", s)
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	var members []string
	for _, key := range importer.Without(suite.Some(r, 4, func() string { return suite.Pick(r, "core", "allowed", "exclude", "confirmationRequired") })) {
		members = append(members, fmt.Sprintf("%q: %s", key, list(4)))
	}
	return `{"general": {}, "tools": {` + strings.Join(members, ", ") + `}}`
}

// For any lists of tools in the settings of Gemini CLI, the result permits nothing that they do not.
func TestGeminiSettingsNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var allowed, runs atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		runs.Add(1)
		n, _, err := w.OnlyLines(r, "settings.json", settingsFormat.Name, drawSettings(r))
		allowed.Add(n)
		return err
	})
	if runs.Load() > suite.Several && allowed.Load() == 0 {
		t.Error("no line was allowed")
	}
}

// The evaluation tells what an expression matches, and of equal priorities takes the strictest.
func TestGeminiEvaluation(t *testing.T) {
	allow := Rule{Decision: "allow", Priority: 10, Prefix: "git log"}
	for line, want := range map[string]bool{"git log": true, "git log -3": true, "git logs": false, `git log"x`: true, "npm": false} {
		if (Model{allow}).Runs(line) != want {
			t.Errorf("%s: not %t", line, want)
		}
	}
	deny := Rule{Decision: "deny", Priority: 10, Expression: `"command":"git (log|x)`}
	if (Model{allow, deny}).Runs("git log") || (Model{deny, allow}).Runs("git log") {
		t.Error("the strictest of equal priority does not count")
	}
	if deny.Priority = 9; !(Model{deny, allow}).Runs("git log") {
		t.Error("a lower priority counts")
	}
}
