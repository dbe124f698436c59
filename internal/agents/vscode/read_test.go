package vscode

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// drawSettings draws settings of VS Code.
func drawSettings(r *rand.Rand) string {
	word := func() string {
		return suite.Pick(r, "git", "npm", "ls", "make", "push", "log", "--force", "run", "rm", "find", "sp", "sed", "test-x", "a.b", "-x")
	}
	line := func() string { return strings.Join(append([]string{word()}, suite.Some(r, 2, word)...), " ") }
	key := func() string {
		switch r.IntN(8) {
		case 0:
			return "/^" + line() + suite.Pick(r, "$", `\b`, `\b.*`, `\b.*$`, "", " ", "?", ".*") + "/" + suite.Pick(r, "", "", "i", "s", "m", "y")
		case 1:
			return suite.Pick(r, "/^"+word()+" ("+word()+"|"+word()+")/", "/^("+word()+"|ls)$/", "/"+word()+"/", "/.*/", "/^[a-z]+ log/", "/^git|npm/", `/\.ps1/i`, "/(/", "/^x/x", `/^git\s+(log|push)\b/`, "/^/")
		case 2:
			return suite.Pick(r, "bin/x", "./bin/x", `bin\x`, "", " ", "git ", "git*", "x(")
		}
		return line()
	}
	entries := map[string]any{}
	for _, k := range suite.Some(r, 7, key) {
		approve := r.IntN(3) > 0
		entries[k] = suite.Pick[any](r, approve, approve, approve, nil, map[string]any{"approve": approve}, map[string]any{"approve": approve, "matchCommandLine": r.IntN(2) == 0})
	}
	doc := map[string]any{"chat.tools.terminal.autoApprove": entries, "editor.fontSize": 7}
	if r.IntN(3) == 0 {
		doc["chat.tools.terminal.ignoreDefaultAutoApproveRules"] = r.IntN(4) > 0
	}
	if r.IntN(10) == 0 {
		doc["chat.tools.terminal.enableAutoApprove"] = r.IntN(2) == 0
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

// For any entries of VS Code, the result permits nothing that they do not.
func TestVSCodeNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var allowed, runs atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		runs.Add(1)
		text := drawSettings(r)
		n, _, err := w.OnlyLines(r, "settings.json", format.Name, text)
		allowed.Add(n)
		if err != nil {
			return fmt.Errorf("%w", err)
		}
		return nil
	})
	if runs.Load() > suite.Several && allowed.Load() == 0 {
		t.Error("no line was allowed")
	}
}

// The evaluation matches as VS Code's description of the setting says.
func TestVSCodeEvaluation(t *testing.T) {
	for _, c := range []struct {
		approve, ask, line string
		own, want          bool
	}{
		{"mkdir", "", "mkdir x", true, true},
		{"mkdir", "", "mkdirs x", true, false},
		{"npm run build", "", "npm run build-x", true, true},
		{"bin/test.sh", "", "./bin/test.sh -x", true, true},
		{`/^git (status|show\b.*)$/`, "", "git show x", false, true},
		{`/^git (status|show\b.*)$/`, "", "git status x", false, false},
		{"/.*/", "", "npm x", true, true},
		{"/.*/", "npm", "npm x", true, false},
		{"/.*/", `/NPM/i`, "npm x", true, false},
		{"/.*/", "", "rm x", true, false},
		{"/.*/", "", "rm x", false, true},
		{"git", "", "git -C x log --output=y", true, false},
		{"git", "", "X=1 git", true, false},
		{"", "", "x", true, false},
		{"/(/", "", "(", true, false},
		{"/.*/", "/(/", "x", true, false},
	} {
		if got := (Model{Approve: []string{c.approve}, Ask: []string{c.ask}, Own: c.own}).Runs(c.line); got != c.want {
			t.Errorf("%+v: got %t", c, got)
		}
	}
}
