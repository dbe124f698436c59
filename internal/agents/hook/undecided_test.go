package hook

import (
	"testing"

	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// TestConfines: a command that is left to a person runs without one only if it is this program's own, under the
// policy of a tool, and no rule may deny it.
func TestConfines(t *testing.T) {
	for _, u := range []Undecided{"", UndecidedConfined, UndecidedAsk, UndecidedDeny} {
		for i := range 8 {
			wrapped, only, doubt := i&1 != 0, i&2 != 0, i&4 != 0
			p := &Policy{Judge: &action.Judge{OnlyRefuses: only}, Undecided: u}
			want := u == UndecidedConfined && wrapped && !only && !doubt
			if got := p.confines(action.Verdict{Outcome: action.Unknown, Doubt: doubt}, wrapped); got != want {
				t.Errorf("%q, wrapped %v, no tool %v, doubt %v: got %v", u, wrapped, only, doubt, got)
			}
		}
	}
}

// TestWholeDenies: a rule that denies every command is about those for other shells as well.
func TestWholeDenies(t *testing.T) {
	for _, o := range []ruleset.Outcome{ruleset.Deny, ruleset.Ask} {
		set := &ruleset.Set{Rules: []*ruleset.Rule{{Outcome: o}}}
		p := &Policy{Judge: &action.Judge{Rules: set, Files: &judge.Judge{View: &ir.View{}}}}
		out := p.shell(nil, &Event{Call: Call{What: Shell, Line: "Get-Item x", Foreign: true}})
		if (out.Outcome == Deny) != (o == ruleset.Deny) || out.Rule != (o == ruleset.Ask) {
			t.Errorf("%v: %+v", o, out)
		}
	}
}

// TestQuestionsOfRules: what a rule asks about is asked, whatever is undecided, and refused by an agent that lets no
// hook ask, unless a later event does. An agent that took the rewritten command for the answer ran it unasked.
func TestQuestionsOfRules(t *testing.T) {
	rule := action.Verdict{Outcome: action.Unknown, Asks: true, Doubt: true}
	for _, u := range []Undecided{"", UndecidedConfined, UndecidedAsk, UndecidedDeny} {
		for _, v := range []action.Verdict{rule, {Outcome: action.Unknown, Doubt: true}, rule.And(action.Left("more"))} {
			p := &Policy{Judge: &action.Judge{}, Undecided: u}
			out := p.settled(p.of(ruleset.Execute, v))
			want := Ask
			if u == UndecidedDeny && !v.Asks {
				want = Deny
			}
			if out.Outcome != want || p.confines(v, true) {
				t.Errorf("%q, %+v: %v", u, v, out.Outcome)
			}
			out.Command = "x"
			for _, e := range []*Event{{}, {Asks: true}, {AskedLater: true}} {
				got := (&Agent{}).Settle(e, out).Outcome
				switch {
				case want == Deny && got != Deny, e.Asks && got != want, want == Ask && e.AskedLater && got != Allow,
					!e.Asks && !e.AskedLater && got != Deny:
					t.Errorf("%q, %+v, %+v: %v", u, v, *e, got)
				}
			}
		}
	}
}
