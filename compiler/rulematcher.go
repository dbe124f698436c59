package compiler

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ruleset"
)

// matcher reads the conditions of a rule, all of which must hold; nil if there is none.
func (s rulesetScope) matcher(v *source.Value) ruleset.Matcher {
	var all ruleset.All
	t := v.Table
	for i := range t.Entries {
		e := &t.Entries[i]
		if m := (rulesetScope{s.key(e.Key)}).condition(e, t); m != nil {
			all = append(all, m)
		}
	}
	exclusive := slices.DeleteFunc([]string{"command", "prefix", "group"}, func(k string) bool {
		return t.Get(k) == nil
	})
	if len(exclusive) > 1 {
		s.report(diag.BadRule, v, "found "+strings.Join(exclusive, " and ")+", expected one of them").Hint =
			"any = [{ … }, { … }] joins alternatives"
	}
	if t.Get("subcommands") != nil && t.Get("command") == nil {
		s.report(diag.BadRule, v, "found subcommands without command")
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		return all
	}
}

// condition reads a condition of the table t; nil for other keys.
func (s rulesetScope) condition(e *source.Entry, t *source.Table) ruleset.Matcher {
	switch e.Key {
	case "command":
		return s.ruleCommand(e.Value, t)
	case "prefix":
		return s.prefixes(e.Value)
	case "flags":
		isOption := func(w string) bool { return len(w) > 1 && w[0] == '-' }
		return ruleset.Flags(s.listed(e.Value, isOption, "an option such as -f"))
	case "args":
		var out ruleset.Args
		for _, p := range s.argPatterns(e.Value) {
			seq := slices.Clone(p.Words)
			if p.Rest {
				seq = append(seq, "**")
			}
			out = append(out, seq)
		}
		if len(out) == 0 && e.Value.Kind == source.ArrayKind {
			s.report(diag.BadRule, e.Value, "found no list of arguments")
		}
		return out
	case "group":
		if word, ok := s.oneOf(e.Value, ruleset.GroupNames()...); ok {
			return ruleset.Group(word)
		}
	case "within_directory":
		return s.withinDirectory(e.Value)
	case "hosts":
		return ruleset.Hosts(s.listed(e.Value, plainHost, "a name, *.NAME or *"))
	case "piped_to_shell":
		if e.Value.Kind == source.BoolKind && e.Value.Bool {
			return ruleset.PipedToShell{}
		}
		s.expect(e.Value, "true")
	case "any":
		return ruleset.Any(s.matchers(e.Value))
	case "all":
		return ruleset.All(s.matchers(e.Value))
	case "not":
		if m := s.inner(e.Value); m != nil {
			return ruleset.Not{Matcher: m}
		}
	}
	return nil
}

// ruleCommand reads names of programs, and the subcommands beside them.
func (s rulesetScope) ruleCommand(v *source.Value, t *source.Table) ruleset.Matcher {
	out := ruleset.Command{}
	if v.Kind == source.StringKind {
		v = &source.Value{Kind: source.ArrayKind, Array: []*source.Value{v}, At: v.At, Span: v.Span}
	}
	isName := func(w string) bool { return w != "" && !strings.ContainsAny(w, " \t\n*?") }
	out.Names = s.listed(v, isName, "the name of a program; its arguments stand in prefix")
	if e := t.Entry("subcommands"); e != nil {
		plain := func(w string) bool { return strings.TrimSpace(w) != "" && !strings.Contains(" "+w, " -") }
		out.Subcommands = s.listed(e.Value, plain, "words without options")
	}
	return out
}

// listed reads a list of strings that is not empty.
func (s rulesetScope) listed(v *source.Value, valid func(string) bool, want string) []string {
	out := s.strs(v)
	if v.Kind == source.ArrayKind && len(v.Array) == 0 {
		s.report(diag.BadRule, v, "found an empty list, expected "+want)
	}
	for i, w := range out {
		if !valid(w) && i < len(v.Array) {
			s.item(i).report(diag.BadRule, v.Array[i], `found "`+w+`", expected `+want)
		}
	}
	return out
}

// prefixes reads token prefixes as command lines.
func (s rulesetScope) prefixes(v *source.Value) ruleset.Matcher {
	var out ruleset.Prefix
	named := func(w string) bool {
		words := strings.Fields(w)
		return len(words) > 0 && !strings.ContainsAny(words[0], "*?")
	}
	for i, text := range s.listed(v, named, "the name of a program and words that follow") {
		seq, err := split.Words(text)
		if err != nil {
			s.item(i).report(diag.BadRule, v.Array[i], err.Error())
			continue
		}
		out = append(out, seq)
	}
	return out
}

// plainHost reports whether a text is a name, *.NAME or *.
func plainHost(h string) bool {
	name := strings.TrimPrefix(h, "*.")
	return h == "*" || name != "" && !strings.ContainsAny(name, "*/: @") && strings.ToLower(name) == name
}

// withinDirectory reads a directory of the workspace.
func (s rulesetScope) withinDirectory(v *source.Value) ruleset.Matcher {
	text, ok := s.str(v)
	if !ok {
		return nil
	}
	found, err := s.c.res.Resolver.Rule(text)
	switch {
	case err != nil:
		s.report(diag.BadRule, v, err.Error())
	case !found.Inside:
		s.report(diag.BadRule, v, "leads to "+found.Abs+", outside of the workspace")
	default:
		return ruleset.Within(found.Abs)
	}
	return nil
}

// matchers reads a list of tables with conditions.
func (s rulesetScope) matchers(v *source.Value) []ruleset.Matcher {
	if v.Kind != source.ArrayKind {
		s.expect(v, `an array of tables such as { command = "ls" }`)
		return nil
	}
	if len(v.Array) == 0 {
		s.report(diag.BadRule, v, "found an empty list, expected conditions")
	}
	var out []ruleset.Matcher
	for i, item := range v.Array {
		if m := (rulesetScope{s.item(i)}).inner(item); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// inner reads a table of conditions inside of a rule.
func (s rulesetScope) inner(v *source.Value) ruleset.Matcher {
	t := s.table(v, `a table such as { command = "ls" }`)
	if t == nil {
		return nil
	}
	s.known(t, "a matcher", conditions...)
	m := s.matcher(v)
	if m == nil {
		s.report(diag.BadRule, v, "found no condition")
	}
	return m
}
