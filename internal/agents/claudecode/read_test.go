package claudecode

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

func drawSettings(r *rand.Rand) string {
	word := func() string { return suite.Pick(r, "git", "push", "log", "--force", "npm", "run", "ls", "make", "-x") }
	bash := func() string {
		spec := strings.Join(append([]string{suite.Pick(r, "git", "npm", "ls", "make")}, suite.Some(r, 2, word)...), " ")
		switch r.IntN(6) {
		case 0:
			return "Bash(" + spec + ":*)"
		case 1:
			return "Bash(" + spec + " *)"
		case 2:
			return "Bash(" + spec + "*)"
		case 3:
			return "Bash(" + strings.Replace(spec, " ", suite.Pick(r, " * ", "* ", " *"), 1) + ")"
		case 4:
			return suite.Pick(r, "Bash", "Bash(*)", "Bash(* "+word()+")")
		}
		return "Bash(" + spec + ")"
	}
	file := func() string {
		spec := suite.Pick(r, suite.SomePlace(r), "/src/**", "//"+strings.TrimPrefix("etc/x", "/"), "~/x/**", "./a/**",
			"**/.env", ".env", "*.pem", "/a/b", "**", "src/*", "/docs", "/Docs/**", "docs/*", "~/X",
			"/{src,docs}", "./a/{b,{x,y}/**}", "src/{*.pem,x}", "{a,b}")
		return suite.Pick(r, "Read", "Edit", "Edit", "Write") + suite.Pick(r, "("+spec+")", "("+spec+")", "("+spec+")", "")
	}
	rule := func() string {
		return suite.Pick(r, bash(), bash(), file(), file(), "WebFetch(domain:"+suite.Pick(r, "a.test", "b.a.test", "*.a.test")+")", "WebFetch", "mcp__x__y")
	}
	doc := map[string]any{"permissions": map[string]any{
		"allow": suite.Some(r, 6, rule), "ask": suite.Some(r, 3, rule), "deny": suite.Some(r, 3, rule),
		"defaultMode":           suite.Pick(r, "default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"),
		"additionalDirectories": suite.Some(r, 1, func() string { return "~/x" }),
	}}
	if r.IntN(2) == 0 {
		var box map[string]any
		_ = json.Unmarshal([]byte(suite.SandboxSettings(r)), &box)
		box["enabled"], box["autoAllowBashIfSandboxed"] = r.IntN(4) > 0, r.IntN(4) > 0
		doc["sandbox"] = box
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

// For any settings of Claude Code, random command lines, places and hosts are never permitted by the
// result alone.
func TestClaudeNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var allowed atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		text, patterns := drawSettings(r), suite.Pick(r, importer.Existing, importer.Close)
		res, err := w.Run("settings.json", text, patterns)
		if err != nil && (strings.Contains(err.Error(), "as the file is spelled") || strings.Contains(err.Error(), "folds case")) {
			return nil // rules cannot be about two spellings
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if err := w.Agrees(r, res, text, res.Policy); err != nil {
			return err
		}
		n, err := suite.LinesAgree(r, w.Home, res.Text, text, res.Policy)
		allowed.Add(n)
		return err
	})
	if allowed.Load() == 0 {
		t.Error("no line was allowed")
	}
}
