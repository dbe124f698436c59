package rulediff

import (
	"reflect"
	"slices"

	"github.com/accessc/accessc/ruleset"
)

// named lists the programs that rules of either ruleset name.
func (c *comparison) named() []string {
	var out []string
	c.walk(func(m ruleset.Matcher) {
		switch m := m.(type) {
		case ruleset.Command:
			out = append(out, m.Names...)
		case ruleset.Prefix, ruleset.Group:
			for _, seq := range sequences(m) {
				out = append(out, seq[0])
			}
		case ruleset.All, ruleset.Any, ruleset.Not, ruleset.Args, ruleset.Flags, ruleset.Within, ruleset.Hosts,
			ruleset.PipedToShell:
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// walk visits the matchers of all rules about command lines, those inside of others included.
func (c *comparison) walk(f func(ruleset.Matcher)) {
	for _, r := range slices.Concat(c.old.Rules, c.new.Rules) {
		if slices.Contains(r.Operations(), ruleset.Execute) {
			walk(r.Matcher, f)
		}
	}
}

func walk(m ruleset.Matcher, f func(ruleset.Matcher)) {
	f(m)
	switch m := m.(type) {
	case ruleset.All:
		for _, x := range m {
			walk(x, f)
		}
	case ruleset.Any:
		for _, x := range m {
			walk(x, f)
		}
	case ruleset.Not:
		walk(m.Matcher, f)
	case ruleset.Command, ruleset.Prefix, ruleset.Args, ruleset.Flags, ruleset.Within, ruleset.Hosts,
		ruleset.PipedToShell, ruleset.Group:
	}
}

// sequences are the beginnings of command lines that a matcher lists.
func sequences(m ruleset.Matcher) [][]string {
	var out [][]string
	switch m := m.(type) {
	case ruleset.Prefix:
		out = m
	case ruleset.Group:
		out = m.Commands()
	case ruleset.All, ruleset.Any, ruleset.Not, ruleset.Command, ruleset.Args, ruleset.Flags, ruleset.Within,
		ruleset.Hosts, ruleset.PipedToShell:
	}
	return slices.DeleteFunc(slices.Clone(out), func(seq []string) bool { return len(seq) == 0 })
}

// rules are the rules of a ruleset that may be about a program.
func rules(s *ruleset.Set, program string) []*ruleset.Rule {
	var out []*ruleset.Rule
	for _, r := range s.Rules {
		if slices.Contains(r.Operations(), ruleset.Execute) && mayBeAbout(r.Matcher, program) {
			out = append(out, r)
		}
	}
	return out
}

// mayBeAbout is false where a matcher certainly matches no start of a program, whichever its
// arguments.
func mayBeAbout(m ruleset.Matcher, program string) bool {
	switch m := m.(type) {
	case ruleset.Command:
		return slices.ContainsFunc(m.Names, func(n string) bool { return ruleset.Alike(n, program) })
	case ruleset.Prefix, ruleset.Group:
		return slices.ContainsFunc(sequences(m), func(seq []string) bool { return ruleset.Alike(seq[0], program) })
	case ruleset.All:
		return !slices.ContainsFunc(m, func(x ruleset.Matcher) bool { return !mayBeAbout(x, program) })
	case ruleset.Any:
		return slices.ContainsFunc(m, func(x ruleset.Matcher) bool { return mayBeAbout(x, program) })
	case ruleset.Hosts:
		return false
	case ruleset.Not, ruleset.Args, ruleset.Flags, ruleset.Within, ruleset.PipedToShell:
	}
	return true
}

// equal reports whether two lists of rules decide alike, by their text.
func equal(a, b []*ruleset.Rule) bool {
	return slices.EqualFunc(a, b, func(x, y *ruleset.Rule) bool {
		return x.Outcome == y.Outcome && slices.Equal(x.Operations(), y.Operations()) &&
			reflect.DeepEqual(x.Matcher, y.Matcher)
	})
}
