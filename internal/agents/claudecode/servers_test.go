package claudecode

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// TestServerRules: the tools of a server that Claude Code's rules deny or ask about cannot be called, in every
// spelling; those that they allow can.
func TestServerRules(t *testing.T) {
	for _, c := range []struct{ rules, may string }{
		{`"allow": ["mcp__s"]`, "a b get_x"},
		{`"allow": ["mcp__s__*"]`, "a b get_x"},
		{`"allow": ["mcp__s__a"]`, "a"},
		{`"allow": ["mcp__s__a", "mcp__s"]`, "a b get_x"},
		{`"allow": ["mcp__s__get_*", "mcp__s__a"]`, "a"},
		{`"allow": ["mcp__s__b(x)", "mcp__s__a"]`, "a"},
		{`"deny": ["mcp__s"]`, ""},
		{`"deny": ["mcp__s__*"]`, ""},
		{`"deny": ["mcp__s__a"]`, ""},
		{`"deny": ["mcp__s__a(x)"], "allow": ["mcp__s"]`, ""},
		{`"deny": ["mcp__s__a"], "allow": ["mcp__s"]`, ""},
		{`"deny": ["mcp__s__a"], "allow": ["mcp__s__a", "mcp__s__b"]`, "b"},
		{`"deny": ["mcp__s__get_*"], "allow": ["mcp__s__get_x", "mcp__s__b"]`, "b"},
		{`"deny": ["mcp__s__get_*"]`, ""},
		{`"ask": ["mcp__s"], "allow": ["mcp__s__a"]`, ""},
		{`"ask": ["mcp__s__a"], "allow": ["mcp__s__b", "mcp__s__a"]`, "b"},
		{`"deny": ["mcp__*"], "allow": ["mcp__s__a"]`, ""},
		{`"deny": ["mcp__*__a"], "allow": ["mcp__s__a", "mcp__s__b"]`, "b"},
		{`"deny": ["mcp__*__a"], "allow": ["mcp__s"]`, ""},
		{`"defaultMode": "plan", "deny": ["mcp__s__b"], "allow": ["mcp__s__a"]`, ""},
	} {
		w := suite.NewWorld(t, Agent.Formats...)
		text := `{"permissions": {` + c.rules + `}}`
		denies := importer.RefuseDenies
		if strings.Contains(text, "mcp__*") {
			if _, err := w.Refusing("claude-code", text, denies); err == nil {
				t.Errorf("%s: a rule is lost in silence", c.rules)
			}
			denies = importer.AskDenies
		}
		res, err := w.Refusing("claude-code", text, denies)
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
			continue
		}
		if got := suite.Called(t, w, res.Text, "s", "a", "b", "get_x"); got != c.may {
			t.Errorf("%s: %q may be called, not %q\n%s", c.rules, got, c.may, res.Text)
		}
		for _, e := range res.Entries {
			if e.Fate == 0 {
				t.Errorf("%s: %s has no fate", c.rules, e.Text)
			}
		}
	}
}

// TestServerOfToolsName: a server that is called as the tool is, in either case, stops the import with the way out.
func TestServerOfToolsName(t *testing.T) {
	for _, name := range []string{"agent", "Agent"} {
		_, err := suite.NewWorld(t, Agent.Formats...).Refusing("claude-code", `{"permissions": {"deny": ["mcp__`+name+`"]}}`, importer.AskDenies)
		if err == nil || !strings.Contains(err.Error(), "--tool gives that another name") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServerRulesDrawn: the proof finds no random rules about servers whose result would permit more.
func TestServerRulesDrawn(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	suite.Drawn(t, 500, func(r *rand.Rand) error {
		rule := func() string {
			return fmt.Sprintf("%q", "mcp__"+suite.Pick(r, "s", "s__t", "s-u", "*", "s*")+
				suite.Pick(r, "", "__a", "__b", "__a__b", "__*", "__a*", "__", "__a(x)"))
		}
		list := func(n int) string { return "[" + strings.Join(suite.Some(r, n, rule), ", ") + "]" }
		text := fmt.Sprintf(`{"permissions": {"allow": %s, "ask": %s, "deny": %s}}`, list(4), list(2), list(3))
		if _, err := w.Refusing("claude-code", text, importer.AskDenies); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		return nil
	})
}
