package explain

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/artifact/entry"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulejson"
)

// Ruleset is a ruleset in the form for review.
type Ruleset struct {
	*ruleset.Set
	idle map[*ruleset.Rule]*ruleset.Rule // rules that never win, with those that do
}

// NewRuleset looks for rules that never win.
func NewRuleset(s *ruleset.Set) *Ruleset {
	out := &Ruleset{Set: s, idle: map[*ruleset.Rule]*ruleset.Rule{}}
	for _, f := range s.Check() {
		if f.Flaw == ruleset.Idle {
			out.idle[f.Rule] = f.Other
		}
	}
	return out
}

// rulesetHeld is the reason of entry.RulesetLevel.
const rulesetHeld = "the program that asks has to obey; no system enforces it"

// title names the ruleset and the shell that it is about.
func (r *Ruleset) title() (name, language string) { return "ruleset " + r.Name, r.Shell.String() }

// rows are the rules with their examples.
func (r *Ruleset) rows() []line {
	var rules, examples []line
	for _, x := range r.Rules {
		l := line{word: x.Outcome.String(), body: ruleWords(x, r.Root), origin: x.Origin.String(), note: x.Reason}
		if by := r.idle[x]; by != nil {
			l.note = strings.TrimPrefix(l.note+"; never wins: "+by.Origin.String()+" decides for all that it names",
				"; ")
		}
		rules = append(rules, l)
		examples = append(examples, r.examples(x)...)
	}
	if len(rules) == 0 {
		rules = append(rules, line{body: "none"})
	}
	rules[0].head = "rules"
	if len(examples) > 0 {
		examples[0].head = "examples"
	}
	return append(rules, examples...)
}

// examples are the examples of a rule.
func (r *Ruleset) examples(x *ruleset.Rule) []line {
	var out []line
	for _, text := range x.Match {
		out = append(out, line{word: x.Outcome.String(), body: text})
	}
	for _, text := range x.NotMatch {
		out = append(out, line{word: "not", body: text})
	}
	if len(out) > 0 {
		out[0].origin = x.Origin.String()
	}
	return out
}

// ruleWords puts the operations of a rule into words.
func ruleWords(r *ruleset.Rule, root string) string {
	var kinds []string
	for _, k := range r.Operations() {
		if k != ruleset.Execute || len(r.Operations()) > 1 {
			kinds = append(kinds, k.String())
		}
	}
	out := strings.Join(kinds, ", ")
	switch {
	case r.Matcher == nil && out == "":
		return "any command line"
	case r.Matcher == nil:
		return out + " anything"
	case out != "":
		out += " "
	}
	return out + matcherWords(r.Matcher, root)
}

// matcherWords puts a condition into words.
func matcherWords(m ruleset.Matcher, root string) string {
	switch m := m.(type) {
	case ruleset.Command:
		return commandWords(m)
	case ruleset.Prefix:
		return "command beginning with " + sequenceWords(m, "")
	case ruleset.Flags:
		return "with " + strings.Join(m, " ")
	case ruleset.Args:
		return "arguments " + sequenceWords(m, "no arguments")
	case ruleset.Group:
		return "group " + string(m)
	case ruleset.Within:
		if string(m) == root {
			return "within the workspace"
		}
		return "within " + rulejson.Below(root, string(m))
	case ruleset.Hosts:
		return "from " + strings.Join(m, ", ")
	case ruleset.PipedToShell:
		return "piped to a shell"
	case ruleset.Not:
		return "not (" + matcherWords(m.Matcher, root) + ")"
	case ruleset.All:
		return joined(m, root, " ")
	case ruleset.Any:
		return joined(m, root, " or ")
	}
	return ""
}

func commandWords(m ruleset.Command) string {
	var out []string
	for _, n := range m.Names {
		if len(m.Subcommands) == 0 {
			out = append(out, n+" …")
		}
		for _, s := range m.Subcommands {
			out = append(out, n+" "+s+" …")
		}
	}
	return strings.Join(out, ", ")
}

func sequenceWords(seqs [][]string, empty string) string {
	var out []string
	for _, seq := range seqs {
		words := []string{}
		for _, w := range seq {
			words = append(words, shellword.Quote(w))
		}
		text := strings.Join(words, " ")
		if text == "" {
			text = empty
		}
		out = append(out, strings.ReplaceAll(text, "'**'", "…"))
	}
	return strings.Join(out, ", ")
}

// joined puts conditions into words. Conditions that consist of several themselves are in
// parentheses.
func joined(ms []ruleset.Matcher, root, by string) string {
	var out []string
	for _, m := range ms {
		text := matcherWords(m, root)
		if compound(m) && len(ms) > 1 {
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, by)
}

func compound(m ruleset.Matcher) bool {
	switch m := m.(type) {
	case ruleset.All:
		return len(m) > 1
	case ruleset.Any:
		return len(m) > 1
	case ruleset.Not, ruleset.Command, ruleset.Prefix, ruleset.Args, ruleset.Flags, ruleset.Hosts, ruleset.Within,
		ruleset.PipedToShell, ruleset.Group:
	}
	return false
}

// Text renders the ruleset for a terminal.
func (r *Ruleset) Text(s Style) string {
	name, language := r.title()
	head := s.paint(bold, clean(name)) + "    " + language + "\n"
	worth := s.paint(heldColor(entry.RulesetLevel), entry.RulesetLevel.String()) + "  " + s.paint(dim, rulesetHeld)
	return head + layout(r.rows(), s) + s.Hang("  "+pad("holds", 10)+worth+"\n", margin)
}

// Markdown renders it as a table.
func (r *Ruleset) Markdown() string {
	var b strings.Builder
	name, language := r.title()
	b.WriteString("### " + escape(name) + " (" + language + ")\n\n| | what | because |\n|---|---|---|\n")
	for _, l := range r.rows() {
		what := code(l.text())
		if l.note != "" {
			what += " " + escape(l.note)
		}
		b.WriteString("| " + strings.Join([]string{l.head, what, escape(l.origin)}, " | ") + " |\n")
	}
	b.WriteString("\n" + entry.RulesetLevel.String() + ": " + rulesetHeld + ".\n")
	return b.String()
}

// page is the ruleset's part of a page.
func (r *Ruleset) page() pageTool {
	name, language := r.title()
	name = clean(name)
	t := pageTool{ID: anchor(name), Name: name, Names: []string{name}, Tag: entry.RulesetLevel.String(), TagClass: "warn", Source: language, Command: rulesetHeld}
	for _, l := range r.rows() {
		if l.head != "" {
			t.Blocks = append(t.Blocks, pageBlock{Head: l.head})
		}
		b := &t.Blocks[len(t.Blocks)-1]
		b.Rows = append(b.Rows, l.page())
	}
	return t
}

// RulesetDoc is a ruleset in JSON.
type RulesetDoc struct {
	entry.Ruleset
	Why string `json:"why"`
	// Idle are the rules that never win.
	Idle []IdleRuleDoc `json:"idle"`
}

// IdleRuleDoc is a rule that never wins, and the rule that decides for all that it names, by
// their index.
type IdleRuleDoc struct {
	Rule int `json:"rule"`
	By   int `json:"by"`
}

// JSON returns the machine-readable form.
func (r *Ruleset) JSON() (RulesetDoc, error) {
	doc, err := entry.NewRuleset(r.Set)
	out := RulesetDoc{Ruleset: doc, Why: rulesetHeld, Idle: []IdleRuleDoc{}}
	for i, x := range r.Rules {
		if by := r.idle[x]; by != nil {
			out.Idle = append(out.Idle, IdleRuleDoc{i, slices.Index(r.Rules, by)})
		}
	}
	return out, err
}
