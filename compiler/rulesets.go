package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// rulesetDraft is the content of the layers read so far about a ruleset.
type rulesetDraft struct {
	name    string
	path    string
	first   *source.Value // the first table that wrote it
	rules   merge.List[*ruleDraft]
	extends merge.List[*textDraft]
	shell   shell.Dialect
}

// rulesets compiles the rulesets of all layers, in name order.
// See decision D135.
func (c ruleGatherer) rulesets(layers []source.Layer) []*ruleset.Set {
	drafts := map[string]*rulesetDraft{}
	for _, l := range layers {
		c.gatherRulesets(drafts, l)
	}
	var out []*ruleset.Set
	for _, name := range slices.Sorted(maps.Keys(drafts)) {
		d := drafts[name]
		set := &ruleset.Set{Name: name, Root: c.res.Resolver.Root, Shell: d.shell}
		own := d.rules.Items()
		for _, r := range c.withExtended(drafts, d, map[string]bool{}) {
			set.Rules = append(set.Rules, r.rule)
		}
		if n := len(set.Rules); n > maxRules {
			c.report(diag.BadRule, d.path, d.first, fmt.Sprintf("found %d rules, expected at most %d", n, maxRules))
			continue
		}
		c.checkRules(set, own)
		out = append(out, set)
	}
	return out
}

// maxRules bounds the rules of a ruleset, which are compared with each other.
const maxRules = 1000

// gatherRulesets reads the rulesets of a layer.
func (c ruleGatherer) gatherRulesets(drafts map[string]*rulesetDraft, l source.Layer) {
	all := c.toolTable(l.Root, "rulesets")
	if all == nil {
		return
	}
	for i := range all.Entries {
		e := &all.Entries[i]
		s := scope{c: c.compilation, layer: l.Kind, confined: l.Confined, path: "rulesets." + tomltext.Key(e.Key)}
		t := s.table(e.Value, "a table of rules")
		if t == nil {
			continue
		}
		d := drafts[e.Key]
		if d == nil {
			d = &rulesetDraft{name: e.Key, path: s.path, first: e.Value, shell: shell.Bash}
			drafts[e.Key] = d
		}
		if l.Narrow {
			s.onlyDenies(t)
		}
		d.apply(s, t)
	}
}

// apply merges a layer's table of the ruleset over the draft.
func (d *rulesetDraft) apply(s scope, t *source.Table) {
	s.known(t, "a ruleset", "extends", "rules", "shell")
	for i := range t.Entries {
		e := &t.Entries[i]
		in := s.key(e.Key)
		switch e.Key {
		case "extends":
			mergeList(in, e, &d.extends, scope.extendedName, nil, nil)
		case "rules":
			mergeList(in, e, &d.rules, scope.rulesetRule, nil, nil)
		case "shell":
			if word, ok := in.oneOf(e.Value, "bash", "sh"); ok {
				d.shell = shell.DialectOf(word)
			}
		}
	}
}

func (s scope) extendedName(v *source.Value) (*textDraft, bool) {
	text, ok := s.str(v)
	return &textDraft{v, text, s.origin(v.At)}, ok
}

// wider are the effects of rules that an untrusted layer may not have: a rule that asks may come before a rule that
// denies.
var wider = map[string]string{"ask": "would ask about operations that other rules deny"}

// onlyDenies holds an untrusted layer to rules that deny.
func (s scope) onlyDenies(t *source.Table) {
	refuse := func(e *source.Entry, at *source.Value, what string) {
		f := s.key(e.Key).report(diag.Widens, at, what)
		f.Hint = "this layer may only narrow; leave it to a layer that is trusted"
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		if e.Key != "rules" || e.Value.Kind != source.ArrayKind {
			refuse(e, e.Value, "would change other rules than its own")
			continue
		}
		for _, r := range e.Value.Array {
			if o := r.Table.Get("outcome"); o != nil && o.Text != "deny" {
				refuse(e, o, cmp.Or(wider[o.Text], "would allow operations"))
			}
		}
	}
}

// withExtended are the rules of a draft and, behind them, the rules of the rulesets that it extends,
// each once: again they would never win. The stack is the chain that leads here.
func (c ruleGatherer) withExtended(drafts map[string]*rulesetDraft, d *rulesetDraft, seen map[string]bool,
	stack ...string) []*ruleDraft {
	out := slices.Clone(d.rules.Items())
	seen[d.name] = true
	stack = append(stack, d.name)
	for _, x := range d.extends.Items() {
		other := drafts[x.text]
		switch {
		case other == nil:
			f := c.report(diag.BadRule, x.origin.Path, x.v, `there is no ruleset "`+x.text+`"`)
			f.Hint = suggest.Hint(x.text, slices.Sorted(maps.Keys(drafts)))
		case slices.Contains(stack, x.text):
			f := c.report(diag.BadRule, x.origin.Path, x.v, strings.Join(append(stack, x.text), " → "))
			f.Hint = "remove one of the two"
		case !seen[x.text]:
			out = append(out, c.withExtended(drafts, other, seen, stack...)...)
		}
	}
	return out
}

// checkRules reports the flaws of a ruleset's own rules, which are its first rules.
func (c ruleGatherer) checkRules(set *ruleset.Set, own []*ruleDraft) {
	drafts := map[*ruleset.Rule]*ruleDraft{}
	for _, d := range own {
		if !d.broken {
			drafts[d.rule] = d
		}
	}
	for _, f := range set.Check() {
		if d := drafts[f.Rule]; d != nil {
			c.reportFlaw(d, f)
		}
	}
}

func (c ruleGatherer) reportFlaw(d *ruleDraft, f ruleset.Finding) {
	path := d.rule.Origin.Path
	switch f.Flaw {
	case ruleset.Misses:
		i := slices.Index(d.rule.Match, f.Example)
		c.report(diag.ExampleFails, path+".match", d.match[i], "the rule does not "+d.verb()+" this").Hint = exampleHint
	case ruleset.Catches:
		i := slices.Index(d.rule.NotMatch, f.Example)
		c.report(diag.ExampleFails, path+".not_match", d.notMatch[i], "the rule would "+d.verb()+" this").Hint =
			exampleHint
	case ruleset.Idle:
		x := c.report(diag.IdleRule, path, d.v, "the rule never wins")
		note := "this rule decides for all that it names"
		if len(f.More) > 0 {
			note = "this rule decides for a part of it, and other rules for the rest"
		}
		for _, r := range append([]*ruleset.Rule{f.Other}, f.More[:min(len(f.More), 3)]...) {
			x.Related = append(x.Related, diag.Related{At: r.Origin.Pos, Note: note})
		}
		x.Hint = "put the rule before the other one, or remove it"
	case ruleset.Broad:
		x := c.report(diag.BroadRule, path, d.v, strings.TrimSpace(f.Program+" "+f.Why))
		if x.Hint = "name programs, such as command = [\"ls\", \"cat\"]"; f.Program == "" {
			break
		}
		x.Hint = `name what it may run, such as prefix = ["` + f.Program +
			` ARGUMENT"]; what the rule does not spell out stays unknown`
	}
}

const exampleHint = "accessc decide --explain shows how each part is judged"

// verb is the effect of the rule in words.
func (d *ruleDraft) verb() string { return d.rule.Outcome.String() }

// ruleDraft is a rule with the places of its examples.
type ruleDraft struct {
	v               *source.Value
	rule            *ruleset.Rule
	match, notMatch []*source.Value
	// broken is set where the rule has a mistake, which makes findings about its meaning idle.
	broken bool
}

func (d *ruleDraft) value() *source.Value { return d.v }

// conditions are the keys of a matcher.
var conditions = []string{
	"command", "subcommands", "prefix", "flags", "args", "group", "within_directory", "hosts", "piped_to_shell", "any",
	"all", "not",
}

// rulesetRule reads a rule.
func (s scope) rulesetRule(v *source.Value) (*ruleDraft, bool) {
	t := s.table(v, `a table such as { outcome = "allow", command = "ls" }`)
	if t == nil {
		return nil, false
	}
	before := len(s.c.findings)
	s.known(t, "a rule of a ruleset", append([]string{"outcome", "operation", "match", "not_match", "reason"},
		conditions...)...)
	d := &ruleDraft{v: v, rule: &ruleset.Rule{Origin: s.origin(v.At)}}
	for i := range t.Entries {
		e := &t.Entries[i]
		in := s.key(e.Key)
		switch e.Key {
		case "outcome":
			if word, ok := in.oneOf(e.Value, "allow", "ask", "deny"); ok {
				d.rule.Outcome, _ = ruleset.ParseOutcome(word)
			}
		case "operation":
			d.rule.Kinds = rulesetScope{in}.operations(e.Value)
		case "match":
			d.rule.Match, d.match = rulesetScope{in}.examples(e.Value)
		case "not_match":
			d.rule.NotMatch, d.notMatch = rulesetScope{in}.examples(e.Value)
		case "reason":
			d.rule.Reason, _ = in.str(e.Value)
		}
	}
	if t.Get("outcome") == nil {
		s.missing(v, "a rule", "outcome")
	}
	d.rule.Matcher = rulesetScope{s}.matcher(v)
	rulesetScope{s}.checkKinds(v, d.rule)
	d.broken = s.c.findings[before:].Failed()
	return d, !d.broken
}

// operations reads a kind of operation, or a list of them.
func (s rulesetScope) operations(v *source.Value) []ruleset.Kind {
	values := []*source.Value{v}
	if v.Kind == source.ArrayKind {
		values = v.Array
	}
	var out []ruleset.Kind
	for _, item := range values {
		if word, ok := s.oneOf(item, ruleset.KindNames()...); ok {
			k, _ := ruleset.ParseKind(word)
			out = append(out, k)
		}
	}
	if len(values) == 0 {
		s.report(diag.BadRule, v, "found no operation")
	}
	return out
}

func (s rulesetScope) examples(v *source.Value) ([]string, []*source.Value) {
	lines := s.strs(v)
	if v.Kind != source.ArrayKind || len(lines) != len(v.Array) {
		return nil, nil
	}
	return lines, v.Array
}

// checkKinds refuses rules whose conditions cannot hold for their operations, and a rule that would allow every command
// line.
func (s rulesetScope) checkKinds(v *source.Value, r *ruleset.Rule) {
	executes := len(r.Kinds) == 0 || slices.Contains(r.Kinds, ruleset.Execute)
	programs, hosts := false, false
	for _, key := range []string{"command", "prefix", "flags", "args", "group", "piped_to_shell"} {
		programs = programs || v.Table.Get(key) != nil
	}
	hosts = v.Table.Get("hosts") != nil
	switch {
	case programs && (!executes || len(r.Kinds) > 1):
		s.report(diag.BadRule, v, "only execute has a command").Hint =
			"write a rule of its own for the other operations"
	case hosts && !slices.Equal(r.Kinds, []ruleset.Kind{ruleset.Fetch}):
		s.report(diag.BadRule, v, "only fetch has a host").Hint = `add operation = "fetch"`
	case executes && r.Outcome == ruleset.Allow && r.Matcher == nil:
		s.report(diag.BadRule, v, "the rule would allow every program").Hint =
			`name programs, such as command = ["ls", "cat"]`
	case len(r.Match)+len(r.NotMatch) > 0 && !executes:
		s.report(diag.BadRule, v, "examples are command lines, which only execute has")
	}
}
