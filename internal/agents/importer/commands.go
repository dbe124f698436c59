package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// Pattern is the set of commands that a rule of another program is about: all of them, those that begin
// with words, the one that consists of words, or those that a text with "*" matches.
type Pattern struct {
	All bool
	// Vague is true for a pattern that is about less than all, in a way that is not read here.
	Vague  bool
	Prefix []string
	Exact  []string
	Glob   string
}

// LineRule is a rule with its entry.
type LineRule struct {
	Pattern
	Deny  bool // and not: ask
	Entry *Entry
	// Guard is true for a pattern that only stands in the way of rules which allow.
	Guard bool
}

// PlainWord is a word that every shell reads as it is written.
var PlainWord = expression.Once{Text: `^[A-Za-z0-9_./:=@%+,-]+$`}

// Words splits a text into words, nil if a shell would read it otherwise.
func Words(text string) []string {
	out := strings.Fields(text)
	if strings.Join(out, " ") != text || len(out) == 0 || strings.Contains(out[0], "=") {
		return nil
	}
	if slices.ContainsFunc(out, func(w string) bool { return !PlainWord.Get().MatchString(w) }) {
		return nil
	}
	return out
}

// begin is the text that every command has that a pattern matches.
func (p Pattern) begin() string {
	if p.Glob == "" {
		return strings.Join(append(p.Prefix, p.Exact...), " ")
	}
	if i := strings.IndexAny(p.Glob, "*\\'\"$`;&|<>(){}[]!#~?"); i >= 0 {
		return p.Glob[:i]
	}
	return p.Glob
}

// CommandRules writes rules: first those that deny, then those that ask, then those that allow. The last leave out
// the commands that the settings deny or ask about in a way that no rule can say.
func (t *Translation) CommandRules(allow, stop []LineRule) {
	for _, deny := range []bool{true, false} {
		for _, s := range stop {
			if s.Deny == deny {
				t.StopLine(s)
			}
		}
	}
	for _, a := range allow {
		t.AllowLine(a, stop)
	}
}

// around are the whole words with which every command begins that a pattern matches, none where no word is certain.
func (p Pattern) around() []string {
	begin := p.begin()
	whole := Words(strings.TrimSpace(begin[:strings.LastIndexByte(begin, ' ')+1]))
	if p.Glob == "" {
		return append(p.Prefix, p.Exact...)
	}
	return whole
}

// askAround has a person asked about all commands that begin as those of a pattern do, and returns how the report
// names them.
func (t *Translation) askAround(s LineRule) string {
	r := Rule{Ask: true, prefix: s.around(), From: s.Entry.From()}
	if !slices.ContainsFunc(t.Draft.Wide, func(o Rule) bool { return o.Ask && slices.Equal(o.prefix, r.prefix) }) {
		t.Draft.Wide = append(t.Draft.Wide, r)
	}
	if len(r.prefix) == 0 {
		return "every command that no rule decides"
	}
	return strings.Join(r.prefix, " ")
}

// StopLine writes a rule that denies or asks, if there is one.
// See decision D428.
func (t *Translation) StopLine(s LineRule) {
	r := Rule{Ask: !s.Deny, prefix: s.Prefix, exact: s.Exact, From: s.Entry.From()}
	switch {
	case s.Guard:
	case t.decided:
		s.Entry.Become(Carried, "an entry before it decides about every command")
	case s.All && !s.Vague && len(t.Draft.Rules)+len(t.Draft.Wide) > 0:
		t.decided = true
		t.Draft.Wide = append(t.Draft.Wide, r)
		s.Entry.Become(Carried, "rulesets.%s, about every other command", t.Draft.Ruleset)
	case s.All && !s.Vague:
		t.decided = true
		fallthrough
	case len(s.Prefix)+len(s.Exact) > 0:
		t.Draft.Rules = append(t.Draft.Rules, r)
		s.Entry.Become(Carried, "rulesets.%s", t.Draft.Ruleset)
	case s.Deny && s.Vague:
		s.Entry.Become(LeftOut, "no rule denies it: rulesets.%s asks about %s", t.Draft.Ruleset, t.askAround(s))
	case s.Deny:
		t.denyPart(s)
	default:
		s.Entry.Become(Narrowed, "rulesets.%s asks about %s", t.Draft.Ruleset, t.askAround(s))
	}
}

// AllowLine writes a rule that allows, if there is one and no other rule stands in its way.
func (t *Translation) AllowLine(a LineRule, stop []LineRule) {
	switch {
	case a.All:
		a.Entry.Become(LeftOut, "no rule allows every command: each is left to a person")
		return
	case len(a.Prefix)+len(a.Exact) == 0 && strings.Count(a.Glob, "*") == 1 && strings.HasSuffix(a.Glob, "*") &&
		Words(strings.TrimSuffix(a.Glob, "*")) != nil:
		a.Prefix = Words(strings.TrimSuffix(a.Glob, "*"))
		a.Glob = ""
		a.Entry.Become(Narrowed, "rulesets.%s; a rule is about whole words", t.Draft.Ruleset)
	case len(a.Prefix)+len(a.Exact) == 0:
		a.Entry.Become(LeftOut, "a rule is about words that begin a command, or all of them: these commands are left to a person")
		return
	}
	t.allow(a, stop)
}

// allow writes a rule that allows, unless another rule stands in its way.
func (t *Translation) allow(a LineRule, stop []LineRule) {
	r := Rule{Allow: true, prefix: a.Prefix, exact: a.Exact, From: a.Entry.From(), entry: a.Entry}
	for _, s := range stop {
		except, clash := a.against(s)
		if clash && len(except) == 0 {
			a.Entry.Become(LeftOut, "%s stands in its way: its commands are denied or left to a person", s.Entry.Key)
			return
		}
		if clash {
			r.except = append(r.except, strings.Join(except, " "))
		}
	}
	r.except = Without(r.except)
	t.Draft.Rules = append(t.Draft.Rules, r)
	if len(r.except) > 0 {
		a.Entry.Become(Narrowed, "rulesets.%s, without %s", t.Draft.Ruleset, strings.Join(r.except, ", "))
	}
	a.Entry.Become(Carried, "rulesets.%s", t.Draft.Ruleset)
}

// against is the part to take out of a rule that allows because of one that denies or asks: the words that
// begin it, none where they would be all.
func (a LineRule) against(s LineRule) (except []string, clash bool) {
	own := append(a.Prefix, a.Exact...)
	stops := append(s.Prefix, s.Exact...)
	switch {
	case s.All:
		return nil, true
	case s.Glob == "" && s.Deny && len(stops) > len(own):
		return nil, false // the rule that denies comes first
	case s.Glob == "":
		n := min(len(own), len(stops))
		if !slices.Equal(own[:n], stops[:n]) || len(a.Exact) > 0 && len(stops) > len(own) || len(s.Exact) > 0 &&
			len(stops) < len(own) {
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
	if len(a.Exact) == 0 && len(whole) > len(own) && slices.Equal(whole[:len(own)], own) &&
		!slices.ContainsFunc(whole, func(w string) bool { return !PlainWord.Get().MatchString(w) }) {
		return whole, true
	}
	return nil, true
}
