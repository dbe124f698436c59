package ruleset

import (
	"path"
	"slices"

	"github.com/accessc/accessc/ruleset/shell"
)

// Flaw is the kind of a finding about a rule.
type Flaw uint8

// The flaws.
const (
	// Misses is an example that the rule does not match.
	Misses Flaw = iota
	// Catches is a counterexample that the rule matches.
	Catches
	// Idle is a rule for which earlier rules always decide.
	Idle
	// Broad is an allowing rule for a program that runs others, which the rule does not spell out.
	Broad
)

// Finding is a flaw of a rule.
type Finding struct {
	Rule    *Rule   // the rule
	Flaw    Flaw    // the kind
	Example string  // of Misses and Catches: the command line
	Other   *Rule   // of Idle: the earlier rule
	More    []*Rule // of Idle: the other earlier rules, where several together decide for all that it names
	Program string  // of Broad: its name, empty where the rule names none
	Why     string  // a phrase
}

// Check tests the examples of all rules and looks for rules with another effect than their text suggests.
func (s *Set) Check() []Finding {
	var out []Finding
	for i, r := range s.Rules {
		for _, x := range r.Match {
			if !s.matches(r, x) {
				out = append(out, Finding{Rule: r, Flaw: Misses, Example: x, Why: "the rule does not match it"})
			}
		}
		for _, x := range r.NotMatch {
			if s.matches(r, x) {
				out = append(out, Finding{Rule: r, Flaw: Catches, Example: x, Why: "the rule matches it"})
			}
		}
		if by := s.covering(i); by != nil {
			out = append(out, Finding{
				Rule: r, Flaw: Idle, Other: by[0], More: by[1:], Why: "earlier rules decide for all that it names",
			})
		}
		if r.Outcome == Allow {
			out = append(out, r.broad()...)
		}
	}
	return out
}

// matches reports whether a rule decides for a command line by itself, as in the workspace's root
// with all files open: an allowing rule allows it, a denying rule denies it.
func (s *Set) matches(r *Rule, line string) bool {
	one := Set{Root: s.Root, Shell: s.Shell, Rules: []*Rule{{Outcome: r.Outcome, Matcher: r.Matcher}}}
	h := Host{
		Resolve: func(p string) (string, bool) { return path.Clean(p), true },
		Open:    func(shell.Access, string) (Outcome, string) { return Allow, "" },
	}
	d := one.Decide(Operation{Command: line, Dir: s.Root}, h)
	return d.Outcome == r.Outcome
}

// Operations are the kinds of operation that the rule is about.
func (r *Rule) Operations() []Kind {
	if len(r.Kinds) == 0 {
		return []Kind{Execute}
	}
	return r.Kinds
}

// broad lists the programs that a rule names, and that run others, without a further word. A rule
// that names none is as broad as can be.
func (r *Rule) broad() []Finding {
	var out []Finding
	if r.about(Execute) && r.Matcher != nil && !names(r.Matcher) {
		out = append(out, Finding{Rule: r, Flaw: Broad,
			Why: "it names no program, and allows all that act by themselves"})
	}
	for _, n := range loneNames(r.Matcher) {
		if why := shell.Starts(n); why != "" {
			out = append(out, Finding{Rule: r, Flaw: Broad, Program: n, Why: why})
		}
	}
	return out
}

// names reports whether a matcher matches only programs of certain names.
func names(m Matcher) bool {
	switch m := m.(type) {
	case Command, Prefix, Group:
		return true
	case All:
		return slices.ContainsFunc(m, names)
	case Any:
		return !slices.ContainsFunc(m, func(x Matcher) bool { return !names(x) })
	case Not, Args, Within, Hosts, PipedToShell, Flags:
	}
	return false
}

// loneNames are the programs that a matcher names without arguments.
func loneNames(m Matcher) []string {
	var out []string
	switch m := m.(type) {
	case Command:
		if len(m.Subcommands) == 0 {
			out = m.Names
		}
	case Prefix:
		for _, seq := range m {
			if len(seq) == 1 {
				out = append(out, seq[0])
			}
		}
	case Any:
		for _, x := range m {
			out = append(out, loneNames(x)...)
		}
	case All:
		if slices.ContainsFunc(m, func(x Matcher) bool { _, args := x.(Args); return args }) {
			return nil
		}
		for _, x := range m {
			out = append(out, loneNames(x)...)
		}
	case Not, Args, Within, Hosts, PipedToShell, Group, Flags:
	}
	return out
}
