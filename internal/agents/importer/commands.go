package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// pattern is the set of commands that a rule of another program is about: all of them, those that begin
// with words, the one that consists of words, or those that a text with "*" matches.
type pattern struct {
	all bool
	// vague is true for a pattern that is about less than all, in a way that is not read here.
	vague  bool
	prefix []string
	exact  []string
	glob   string
}

// lineRule is a rule with its entry.
type lineRule struct {
	pattern
	deny  bool // and not: ask
	entry *Entry
	// guard is true for a pattern that only stands in the way of rules which allow.
	guard bool
}

// plainWord is a word that every shell reads as it is written.
var plainWord = expression.Once{Text: `^[A-Za-z0-9_./:=@%+,-]+$`}

// words splits a text into words, nil if a shell would read it otherwise.
func words(text string) []string {
	out := strings.Fields(text)
	if strings.Join(out, " ") != text || len(out) == 0 || strings.Contains(out[0], "=") {
		return nil
	}
	if slices.ContainsFunc(out, func(w string) bool { return !plainWord.Get().MatchString(w) }) {
		return nil
	}
	return out
}

// commandPattern reads the specifier of a rule of Claude Code for Bash.
func commandPattern(spec string, whole bool) pattern {
	spec = strings.TrimSpace(spec)
	prefix, colon := strings.CutSuffix(spec, ":*")
	if !colon {
		prefix, colon = strings.CutSuffix(spec, " *")
	}
	switch {
	case whole:
		return pattern{all: true}
	case colon && words(prefix) != nil:
		return pattern{prefix: words(prefix)}
	case words(spec) != nil:
		return pattern{exact: words(spec)}
	case strings.HasSuffix(spec, ":*"):
		return pattern{glob: prefix + "*"}
	}
	return pattern{glob: spec}
}

// begin is the text that every command has that a pattern matches.
func (p pattern) begin() string {
	if p.glob == "" {
		return strings.Join(append(p.prefix, p.exact...), " ")
	}
	if i := strings.IndexAny(p.glob, "*\\'\"$`;&|<>(){}[]!#~?"); i >= 0 {
		return p.glob[:i]
	}
	return p.glob
}

// commandRules writes rules: first those that deny, then those that ask, then those that allow. The last leave out
// the commands that the settings deny or ask about in a way that no rule can say.
func (t *translation) commandRules(allow, stop []lineRule) {
	for _, deny := range []bool{true, false} {
		for _, s := range stop {
			if s.deny == deny {
				t.stopLine(s)
			}
		}
	}
	for _, a := range allow {
		t.allowLine(a, stop)
	}
}

// around are the whole words with which every command begins that a pattern matches, none where no word is certain.
func (p pattern) around() []string {
	begin := p.begin()
	whole := words(strings.TrimSpace(begin[:strings.LastIndexByte(begin, ' ')+1]))
	if p.glob == "" {
		return append(p.prefix, p.exact...)
	}
	return whole
}

// askAround has a person asked about all commands that begin as those of a pattern do, and returns how the report
// names them.
func (t *translation) askAround(s lineRule) string {
	r := rule{ask: true, prefix: s.around(), from: s.entry.from()}
	if !slices.ContainsFunc(t.draft.wide, func(o rule) bool { return o.ask && slices.Equal(o.prefix, r.prefix) }) {
		t.draft.wide = append(t.draft.wide, r)
	}
	if len(r.prefix) == 0 {
		return "every command that no rule decides"
	}
	return strings.Join(r.prefix, " ")
}

// stopLine writes a rule that denies or asks, if there is one.
// See decision D428.
func (t *translation) stopLine(s lineRule) {
	r := rule{ask: !s.deny, prefix: s.prefix, exact: s.exact, from: s.entry.from()}
	switch {
	case s.guard:
	case t.decided:
		s.entry.become(Carried, "an entry before it decides about every command")
	case s.all && !s.vague && len(t.draft.rules)+len(t.draft.wide) > 0:
		t.decided = true
		t.draft.wide = append(t.draft.wide, r)
		s.entry.become(Carried, "rulesets.%s, about every other command", t.draft.ruleset)
	case s.all && !s.vague:
		t.decided = true
		fallthrough
	case len(s.prefix)+len(s.exact) > 0:
		t.draft.rules = append(t.draft.rules, r)
		s.entry.become(Carried, "rulesets.%s", t.draft.ruleset)
	case s.deny && s.vague:
		s.entry.become(LeftOut, "no rule denies it: rulesets.%s asks about %s", t.draft.ruleset, t.askAround(s))
	case s.deny:
		t.denyPart(s)
	default:
		s.entry.become(Narrowed, "rulesets.%s asks about %s", t.draft.ruleset, t.askAround(s))
	}
}

// allowLine writes a rule that allows, if there is one and no other rule stands in its way.
func (t *translation) allowLine(a lineRule, stop []lineRule) {
	switch {
	case a.all:
		a.entry.become(LeftOut, "no rule allows every command: each is left to a person")
		return
	case len(a.prefix)+len(a.exact) == 0 && strings.Count(a.glob, "*") == 1 && strings.HasSuffix(a.glob, "*") && words(strings.TrimSuffix(a.glob, "*")) != nil:
		a.prefix = words(strings.TrimSuffix(a.glob, "*"))
		a.glob = ""
		a.entry.become(Narrowed, "rulesets.%s; a rule is about whole words", t.draft.ruleset)
	case len(a.prefix)+len(a.exact) == 0:
		a.entry.become(LeftOut, "a rule is about words that begin a command, or all of them: these commands are left to a person")
		return
	}
	t.allow(a, stop)
}

// allow writes a rule that allows, unless another rule stands in its way.
func (t *translation) allow(a lineRule, stop []lineRule) {
	r := rule{allow: true, prefix: a.prefix, exact: a.exact, from: a.entry.from(), entry: a.entry}
	for _, s := range stop {
		except, clash := a.against(s)
		if clash && len(except) == 0 {
			a.entry.become(LeftOut, "%s stands in its way: its commands are denied or left to a person", s.entry.Key)
			return
		}
		if clash {
			r.except = append(r.except, strings.Join(except, " "))
		}
	}
	r.except = without(r.except)
	t.draft.rules = append(t.draft.rules, r)
	if len(r.except) > 0 {
		a.entry.become(Narrowed, "rulesets.%s, without %s", t.draft.ruleset, strings.Join(r.except, ", "))
	}
	a.entry.become(Carried, "rulesets.%s", t.draft.ruleset)
}

// against is the part to take out of a rule that allows because of one that denies or asks: the words that
// begin it, none where they would be all.
func (a lineRule) against(s lineRule) (except []string, clash bool) {
	own := append(a.prefix, a.exact...)
	stops := append(s.prefix, s.exact...)
	switch {
	case s.all:
		return nil, true
	case s.glob == "" && s.deny && len(stops) > len(own):
		return nil, false // the rule that denies comes first
	case s.glob == "":
		n := min(len(own), len(stops))
		if !slices.Equal(own[:n], stops[:n]) || len(a.exact) > 0 && len(stops) > len(own) || len(s.exact) > 0 && len(stops) < len(own) {
			return nil, false
		}
		if len(stops) > len(own) {
			return stops, true
		}
		return nil, true
	}
	line, begin := strings.Join(own, " "), s.begin()
	if !strings.HasPrefix(line+" ", begin) && !strings.HasPrefix(begin, line) {
		return nil, false
	}
	// The last word of the beginning may go on.
	whole := strings.Fields(begin[:strings.LastIndexByte(begin, ' ')+1])
	if len(a.exact) == 0 && len(whole) > len(own) && slices.Equal(whole[:len(own)], own) && !slices.ContainsFunc(whole, func(w string) bool { return !plainWord.Get().MatchString(w) }) {
		return whole, true
	}
	return nil, true
}
