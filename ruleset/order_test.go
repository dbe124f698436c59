package ruleset_test

import (
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// TestOpenRules: where a rule may match, a later rule that surely does decides if both agree, and nothing is
// decided if not.
func TestOpenRules(t *testing.T) {
	rule := func(o ruleset.Outcome, words ...string) *ruleset.Rule {
		return &ruleset.Rule{Outcome: o, Matcher: ruleset.Prefix{words}}
	}
	for _, tt := range []struct{ first, second, want ruleset.Outcome }{
		{ruleset.Deny, ruleset.Deny, ruleset.Deny}, {ruleset.Allow, ruleset.Deny, ruleset.Unknown},
		{ruleset.Deny, ruleset.Allow, ruleset.Unknown}, {ruleset.Allow, ruleset.Allow, ruleset.Allow},
	} {
		s := ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{rule(tt.first, "ls", "a"),
			rule(tt.second, "ls")}}
		if got := s.Decide(ruleset.Operation{Command: "ls *", Dir: "/w"}, ruleset.Host{}); got.Outcome != tt.want {
			t.Errorf("%v, then %v: got %v, want %v", tt.first, tt.second, got.Outcome, tt.want)
		}
	}
}

// TestAllButOne: a rule that denies all programs but one denies programs that only look like it, as a rule that denies
// one of them denies programs that look like it.
func TestAllButOne(t *testing.T) {
	for _, matcher := range []ruleset.Matcher{
		ruleset.Not{Matcher: ruleset.Command{Names: []string{"git"}}}, ruleset.Not{Matcher: ruleset.Prefix{{"git"}}},
		ruleset.Not{Matcher: ruleset.Not{Matcher: ruleset.Not{Matcher: ruleset.Command{Names: []string{"git"}}}}},
	} {
		s := ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{{Outcome: ruleset.Deny,
			Matcher: matcher}}}
		for line, denied := range map[string]bool{"git status": false, "/tmp/git status": true, "GIT status": true,
			"git.exe status": true, "ls": true} {
			if got := s.Decide(ruleset.Operation{Command: line, Dir: "/w"},
				ruleset.Host{}); (got.Outcome == ruleset.Deny) != denied {
				t.Errorf("%s: %v (%s)", line, got.Outcome, got.Why)
			}
		}
	}
}
