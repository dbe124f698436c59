package suite

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/accessc/accessc/internal/text/strictjson"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/test/irtest"
)

// Hooks are events of a program, and the words of answers that have an effect on it.
type Hooks struct {
	// Events are an event of each stage and form before a call, about a command.
	Events []string
	// Asks are the names of the events at which the program asks a person where the answer says so, and Silent the
	// names of those at which it does where there is no answer.
	Asks, Silent []string
	// PassAllows is true where no objection is written as "allow", of a program that asks nobody by itself.
	PassAllows bool
	// BareAllow is true where "allow" without another input is a failed hook.
	BareAllow bool
}

// said is the decision in an answer, whichever program it is for.
func said(out []byte) string {
	for _, path := range []string{
		"decision", "permission", "permissionDecision", "hookSpecificOutput.permissionDecision",
		"hookSpecificOutput.decision.behavior",
	} {
		if v := strictjson.Raw(out).Get(strings.Split(path, ".")...); v.Type == strictjson.String {
			return v.Str
		}
	}
	return ""
}

// events reads the events.
func (h *Hooks) events(t *testing.T, a *hook.Agent) []*hook.Event {
	t.Helper()
	if len(h.Events) == 0 {
		t.Fatal("there are no events")
	}
	var out []*hook.Event
	for _, text := range h.Events {
		e, err := a.Event(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, e)
	}
	return out
}

// answers: a program gets only the words that mean the verdict to it, and a failure is a refusal. The effects of
// the others are measured: Codex goes on after "ask", after "allow" alone and after an unknown member; Gemini CLI waits
// for ever after "ask"; Cursor's preToolUse takes "ask" for "allow".
func (h *Hooks) answers(t *testing.T, a *hook.Agent) {
	for _, e := range h.events(t, a) {
		for _, out := range []hook.Outcome{hook.Allow, hook.Pass, hook.Ask, hook.Deny} {
			for _, command := range []string{"", "new"} {
				if command != "" && (!e.Rewrites || out == hook.Deny || out == hook.Pass) {
					continue
				}
				r := a.Reply(e, a.Settle(e, hook.Answer{Outcome: out, Reason: "why", Command: command}))
				h.reply(t, e, out, command, r)
			}
		}
	}
	refused := func(r hook.Reply) bool { return len(r.Out) == 0 && a.Status == hook.Blocks || said(r.Out) == "deny" }
	if r := a.Fail("why"); r.Status != hook.Blocks || r.Err == "" || !refused(r) {
		t.Errorf("a failure is %+v", r)
	}
	if a.Deadline() > a.Default/2 && a.Default > 0 || a.Deadline() > hook.Limit/2 {
		t.Errorf("the deadline is %s", a.Deadline())
	}
}

// reply checks one reply.
func (h *Hooks) reply(t *testing.T, e *hook.Event, out hook.Outcome, command string, r hook.Reply) {
	t.Helper()
	word, where := said(r.Out), e.Name+" "+out.String()
	refused := word == "deny" || r.Status == hook.Blocks
	switch {
	case out == hook.Pass && word == "allow" && e.Stage == hook.Before && !h.PassAllows:
		t.Errorf("%s: no objection is %s", where, r.Out)
	case out == hook.Deny && !refused:
		t.Errorf("%s: a refusal is %s", where, r.Out)
	case out == hook.Ask && command == "" && word != "ask" && !refused && !slices.Contains(h.Silent, e.Name):
		t.Errorf("%s: a question is %s", where, r.Out)
	case word == "ask" && !slices.Contains(h.Asks, e.Name):
		t.Errorf("%s: the program does not ask: %s", where, r.Out)
	case h.BareAllow && e.Stage == hook.Before && (word == "allow") != (command != ""):
		t.Errorf("%s: %s fails", where, r.Out)
	case command != "" && !strings.Contains(string(r.Out), `"command":"new"`):
		t.Errorf("%s: the command is not rewritten: %s", where, r.Out)
	case len(r.Out) > 0 && !json.Valid(r.Out):
		t.Errorf("%s: %s", where, r.Out)
	}
}

// shown are all texts in the output of a hook, but the inputs of the call.
func shown(t *rapid.T, r hook.Reply) []string {
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

// texts: texts of models and repositories neither control a terminal nor reverse a line nor begin one.
func (h *Hooks) texts(t *testing.T, a *hook.Agent) {
	all := h.events(t, a)
	irtest.Check(t, 300, 1, func(t *rapid.T) {
		e := *rapid.SampledFrom(all).Draw(t, "event")
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"a", " ", "\n", "\r", "\x1b[31m", "\u0085", "\u202e", "\u2028", "\u200b", "\x7f", "é", "\xff", "\U000e0041", "::error",
		})).Draw(t, "text"), "")
		outcomes := []hook.Outcome{hook.Allow, hook.Pass, hook.Ask, hook.Deny}
		ans := hook.Answer{Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"), Reason: text}
		if rapid.Bool().Draw(t, "after") {
			e.Stage, ans.Context = hook.After, "accessc refused:\n  "+text
		}
		replies := []hook.Reply{a.Reply(&e, a.Settle(&e, ans)), a.Fail(text)}
		for _, s := range append(shown(t, replies[0]), shown(t, replies[1])...) {
			if strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Fatalf("%q", s)
			}
			for _, line := range strings.Split(s, "\n")[1:] {
				if e.Stage != hook.After && !strings.HasPrefix(line, "  ") {
					t.Fatalf("%q begins a line", s)
				}
			}
		}
	})
}
