package ruleset_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/irtest"
)

type (
	prefix = ruleset.Prefix
	anyOf  = ruleset.Any
	args   = ruleset.Args
)

// idle are the rules of a list that never win.
func idle(rules []*ruleset.Rule) []*ruleset.Rule {
	var out []*ruleset.Rule
	for _, f := range (&ruleset.Set{Root: "/w", Shell: shell.Bash, Rules: rules}).Check() {
		if f.Flaw == ruleset.Idle {
			out = append(out, f.Rule)
		}
	}
	return out
}

// TestNeverWins: the last rule of each list never wins, in whichever form the rules name programs. A rule for just
// docker hid none for "docker run" where one was a prefix and the other a name, nor where two rules hid it together.
func TestNeverWins(t *testing.T) {
	docker, run := named("docker"), prefix{{"docker", "run"}}
	both := ruleset.Within("/w")
	for i, rules := range [][]*ruleset.Rule{
		{allow(docker), deny(run)}, {allow(prefix{{"docker"}}), deny(docker)},
		{deny(prefix{{"docker"}}), allow(sub("docker", "ps"))},
		{deny(named("git")), allow(ruleset.Group("read_only_git"))},
		{deny(docker), allow(prefix{{"/usr/bin/docker", "run"}})},
		{deny(named("docker", "podman")), allow(anyOf{run, named("podman")})},
		{deny(anyOf{docker, named("podman")}), allow(named("podman", "docker"))},
		{deny(docker), deny(named("podman")), allow(prefix{{"docker", "ps"}, {"podman", "ps"}})},
		{allow(run), deny(all{docker, args{{"run", "**"}}})},
		{deny(run), allow(sub("docker", "run x"))}, {allow(sub("docker", "run")), deny(prefix{{"docker", "run", "x"}})},
		{deny(all{named("rm"), flags{"-r"}}), allow(prefix{{"rm", "-f", "-r"}})},
		{deny(all{docker, both}), allow(all{run, ruleset.Within("/w/a")})},
		{deny(all{docker, anyOf{flags{"-a"}, flags{"-b"}}}), allow(all{docker, flags{"-b", "-c"}})},
		{allow(nil), deny(docker)},
		{allow(all{docker, args{{"run", "**"}}}), deny(all{docker, args{{"run", "x"}}})},
		{allow(docker), ask(all{docker, ruleset.Not{Matcher: run}})},
	} {
		if got := idle(rules); !slices.Contains(got, rules[len(rules)-1]) {
			t.Errorf("list %d: the last rule wins sometimes", i)
		}
	}
	for i, rules := range [][]*ruleset.Rule{
		{deny(run), allow(docker)}, {allow(run), deny(sub("docker", "run"))},
		{allow(docker), deny(prefix{{"podman"}, {"docker"}})},
		{deny(all{docker, both}), allow(run)}, {allow(docker), deny(prefix{{"/usr/bin/docker", "run"}})},
		{deny(all{docker, flags{"-r"}}), allow(prefix{{"docker", "--", "-r"}})},
		{allow(all{docker, args{{"run"}}}), deny(run)},
		{allow(all{docker, args{{"run"}}}), deny(all{docker, args{{"run", "**"}}})},
		{deny(ruleset.Group("read_only_git")), allow(prefix{{"git", "log"}})},
		{allow(all{docker, ruleset.Within("/w/a")}), deny(all{docker, ruleset.Within("/w/ab")})},
		{deny(all{named("a"), named("b")}), allow(named("a"))},
	} {
		if got := idle(rules); len(got) > 0 {
			t.Errorf("list %d, which has no idle rule: %v", i, got[0].Matcher)
		}
	}
}

func ask(m ruleset.Matcher) *ruleset.Rule { return &ruleset.Rule{Outcome: ruleset.Ask, Matcher: m} }

// TestNeverWinsAnything: a rule that never wins decides about no part of any line.
func TestNeverWinsAnything(t *testing.T) {
	var found, decided atomic.Int64
	irtest.Many(t, 60_000, func(r *rand.Rand) error {
		s := &ruleset.Set{Root: "/w", Shell: shell.Bash}
		for range 2 + r.IntN(3) {
			outcome := []ruleset.Outcome{ruleset.Allow, ruleset.Deny}[r.IntN(2)]
			s.Rules = append(s.Rules, &ruleset.Rule{Outcome: outcome, Matcher: drawnMatcher(r, 2)})
		}
		never := idle(s.Rules)
		found.Add(int64(len(never)))
		for range 20 {
			line := pick(r, "docker", "git", "rm")
			for range r.IntN(4) {
				line += " " + pick(r, "run", "ps", "-r", "-f", "-rf", "--", "log", "x", "a/b", "/w/a")
			}
			d := s.Decide(ruleset.Operation{Command: line, Dir: pick(r, "/w", "/w/a", "/v")}, workspace)
			var wrong error
			d.Leaves(func(p *ruleset.Decision) {
				decided.Add(1)
				if p.Rule != nil && p.Own == p.Rule.Outcome && slices.Contains(never, p.Rule) {
					wrong = fmt.Errorf("%s: %v decides, and is said never to win", line, p.Rule.Matcher)
				}
			})
			if wrong != nil {
				return wrong
			}
		}
		return nil
	})
	count := map[string]int{"an idle rule": int(found.Load()), "a part": int(decided.Load())}
	irtest.Happened(t, count, "an idle rule", "a part")
}

// drawnMatcher draws a condition of a few programs and words.
func drawnMatcher(r *rand.Rand, depth int) ruleset.Matcher {
	program, word := pick(r, "docker", "git", "rm"), func() string { return pick(r, "run", "ps", "-r", "-f", "log") }
	kinds := 7
	if depth > 0 {
		kinds = 10
	}
	switch r.IntN(kinds) {
	case 0:
		return named(program)
	case 1:
		return named(program, pick(r, "docker", "git", "rm"))
	case 2:
		return sub(program, pick(r, "run", "ps", "log", "run x"))
	case 3:
		return prefix{{program}, {pick(r, "docker", "git", "rm"), word()}}
	case 4:
		return prefix{{program, word()}}
	case 5:
		return all{named(program), args{{word()}, {word(), "**"}}}
	case 6:
		return all{named(program), flags{pick(r, "-r", "-f")}}
	case 7:
		return anyOf{drawnMatcher(r, depth-1), drawnMatcher(r, depth-1)}
	case 8:
		return all{drawnMatcher(r, depth-1), ruleset.Within(pick(r, "/w", "/w/a"))}
	}
	return all{drawnMatcher(r, depth-1), drawnMatcher(r, depth-1)}
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }
