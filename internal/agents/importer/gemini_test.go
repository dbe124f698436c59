package importer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
)

// geminiPolicies draws a file of policies.
func geminiPolicies(r *rand.Rand) string {
	var b strings.Builder
	word := func() string { return pick(r, "git", "npm", "ls", "make", "push", "log", "--force", "run") }
	line := func() string { return strings.Join(append([]string{word()}, some(r, 2, word)...), " ") }
	for range r.IntN(8) {
		fmt.Fprintf(&b, "[[rule]]\ndecision = %q\npriority = %d\n", pick(r, "allow", "allow", "ask_user", "deny"), pick(r, 0, 10, 10, 50, 100, 950, 999))
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "toolName = [%q, %q]\n", pick(r, "run_shell_command", "read_file", "web_fetch"), pick(r, "*", "replace", "run_*"))
			continue
		case 1:
			fmt.Fprintf(&b, "commandRegex = '%s'\n", pick(r, line(), line()+" ", word()+"?", word()+" ("+word()+"|"+word()+")", "("+word()+"|ls)", word()+"|"+word(), word()+".*", "[a-z]+ log", "git|npm (a|b)", `git\s+push`, "git push$", "ls(log"))
		case 2:
			fmt.Fprintf(&b, "argsPattern = '%s'\n", pick(r, `"command":"`+line(), `"command":"(git|npm)`, "push", `"command":"git|x`))
		case 3:
		case 4:
			fmt.Fprintf(&b, "commandPrefix = [%q, %q]\n", line(), line())
		default:
			fmt.Fprintf(&b, "commandPrefix = %q\n", line()+pick(r, "", "", "", " ", " *", `"`))
		}
		fmt.Fprintf(&b, "toolName = \"run_shell_command\"\n%s\n", pick(r, "", "", "", "", "modes = [\"yolo\"]", "modes = [\"default\", \"plan\"]", "interactive = true", "subagent = \"x\"", "mcpName = \"x\""))
	}
	return b.String()
}

// For any policies of Gemini CLI, the result permits nothing that they do not.
func TestGeminiNothingWider(t *testing.T) {
	w := newWorld(t)
	var allowed, runs, done atomic.Int64
	drawn(t, 2_000, func(r *rand.Rand) error {
		runs.Add(1)
		text := geminiPolicies(r)
		n, imported, err := w.onlyLines(r, "rules.toml", geminiFormat, text)
		allowed.Add(n)
		done.Add(imported)
		return err
	})
	if n := runs.Load(); n > several && (allowed.Load() == 0 || done.Load() < n*9/10) {
		t.Errorf("%d lines were allowed, %d of %d files were imported", allowed.Load(), done.Load(), runs.Load())
	}
}

// A rule that denies a command with two blanks alone, by a text that ends in one, stops no import: the command with
// one blank is permitted.
func TestGeminiBlanks(t *testing.T) {
	w := newWorld(t)
	const rule = "[[rule]]\ntoolName = \"run_shell_command\"\n"
	res, err := w.runAs(geminiFormat.name, "rules.toml", rule+"decision = \"deny\"\npriority = 10\ncommandPrefix = \"log \"\n"+
		rule+"decision = \"allow\"\npriority = 999\ncommandPrefix = [\"log git\"]", Refuse)
	if err != nil || !strings.Contains(res.Text, `prefix = ["log git"]`) {
		t.Errorf("got %+v, %v", res, err)
	}
}

// onlyLines imports settings that are about commands alone, and asks about random ones.
func (w *world) onlyLines(r *rand.Rand, name string, f format, text string) (lines, imported int64, err error) {
	d := &document{name: name, path: w.in + "/" + name, text: []byte(text), version: f.name}
	if !f.text {
		if err := d.json(); err != nil {
			return 0, 0, err
		}
	}
	tr := &translation{req: &Request{Patterns: Refuse}, host: w.host(Refuse), draft: draft{tool: "agent", ruleset: "agent"}}
	policy := f.read(tr, []*document{d})
	res, err := w.runAs(f.name, name, text, Refuse)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", text, err)
	}
	lines, err = linesAgree(r, w.home, res.Text, text, policy)
	return lines, 1, err
}

func geminiSettingsOf(r *rand.Rand) string {
	tool := func() string {
		line := pick(r, "git", "git log", "npm run", "ls", "make", "git push --force", "", "ls *", "git ", "x(y")
		return pick(r, "run_shell_command("+line+")", "run_shell_command("+line+")", "ShellTool("+line+")", "run_shell_command", "ShellTool", "read_file", "web_fetch", "replace(x)", "(")
	}
	list := func(n int) string {
		out := some(r, n, tool)
		for i, s := range out {
			out[i] = fmt.Sprintf("%q", s)
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	var members []string
	for _, key := range without(some(r, 4, func() string { return pick(r, "core", "allowed", "exclude", "confirmationRequired") })) {
		members = append(members, fmt.Sprintf("%q: %s", key, list(4)))
	}
	return `{"general": {}, "tools": {` + strings.Join(members, ", ") + `}}`
}

// For any lists of tools in the settings of Gemini CLI, the result permits nothing that they do not.
func TestGeminiSettingsNothingWider(t *testing.T) {
	w := newWorld(t)
	var allowed, runs atomic.Int64
	drawn(t, 2_000, func(r *rand.Rand) error {
		runs.Add(1)
		n, _, err := w.onlyLines(r, "settings.json", geminiSettings, geminiSettingsOf(r))
		allowed.Add(n)
		return err
	})
	if runs.Load() > several && allowed.Load() == 0 {
		t.Error("no line was allowed")
	}
}

// The evaluation tells what an expression matches, and of equal priorities takes the strictest.
func TestGeminiEvaluation(t *testing.T) {
	allow := foreign.GeminiRule{Decision: "allow", Priority: 10, Prefix: "git log"}
	for line, want := range map[string]bool{"git log": true, "git log -3": true, "git logs": false, `git log"x`: true, "npm": false} {
		if (foreign.Gemini{allow}).Runs(line) != want {
			t.Errorf("%s: not %t", line, want)
		}
	}
	deny := foreign.GeminiRule{Decision: "deny", Priority: 10, Expression: `"command":"git (log|x)`}
	if (foreign.Gemini{allow, deny}).Runs("git log") || (foreign.Gemini{deny, allow}).Runs("git log") {
		t.Error("the strictest of equal priority does not count")
	}
	if deny.Priority = 9; !(foreign.Gemini{deny, allow}).Runs("git log") {
		t.Error("a lower priority counts")
	}
}
