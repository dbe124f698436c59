package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// shown are all texts in the output of a hook, but the inputs of the call.
func shown(t *rapid.T, r Reply) []string {
	out := []string{r.Err}
	if len(r.Out) == 0 {
		return out
	}
	var doc any
	if err := json.Unmarshal(r.Out, &doc); err != nil {
		t.Fatalf("%s: %v", r.Out, err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case map[string]any:
			for key, v := range v {
				if strings.Contains(strings.ToLower(key), "input") || strings.Contains(strings.ToLower(key), "args") {
					continue
				}
				walk(v)
			}
		}
	}
	walk(doc)
	return out
}

// TestShownTexts: texts of models and repositories neither control a terminal nor reverse a line nor begin one,
// in the answers to all agents.
func TestShownTexts(t *testing.T) {
	all := events(t)
	irtest.Check(t, 2000, 3, func(t *rapid.T) {
		a := rapid.SampledFrom(Agents).Draw(t, "agent")
		e := *rapid.SampledFrom(all[a]).Draw(t, "event")
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"a", " ", "\n", "\r", "\x1b[31m", "\u0085", "\u202e", "\u2028", "\u200b", "\x7f", "é", "\xff", "\U000e0041", "::error",
		})).Draw(t, "text"), "")
		ans := Answer{Outcome: rapid.SampledFrom([]Outcome{Allow, Pass, Ask, Deny}).Draw(t, "outcome"), Reason: text}
		if rapid.Bool().Draw(t, "after") {
			e.Stage, ans.Context = After, "accessc refused:\n  "+text
		}
		replies := []Reply{a.Reply(&e, a.Settle(&e, ans)), a.Fail(text)}
		for _, s := range append(shown(t, replies[0]), shown(t, replies[1])...) {
			if strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Fatalf("%s: %q", a.Name, s)
			}
			lines := strings.Split(s, "\n")
			for _, line := range lines[1:] {
				if e.Stage != After && !strings.HasPrefix(line, "  ") {
					t.Fatalf("%s: %q begins a line", a.Name, s)
				}
			}
		}
	})
}
