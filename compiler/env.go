package compiler

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// envDraft is an env rule; nothing of it depends on the host.
type envDraft struct {
	v    *source.Value
	rule ir.EnvRule
	// place is where a preset's value leads, which has the rule only where the tool may read there.
	place  string
	remove bool
}

func (d *envDraft) value() *source.Value { return d.v }

// exceeds implements grants. A value of a rule's own may say less than the caller's, or more.
func (d *envDraft) exceeds(grants) bool { return d.rule.Read || d.rule.Value != "" }

func envWinner(d *envDraft) string { return d.rule.Subject() }

func (s scope) envRule(v *source.Value) (*envDraft, bool) {
	t := s.table(v, `a table such as { name = "PATH", read = true }`)
	if t == nil {
		return nil, false
	}
	s.known(t, "an env rule", "name", "read", "remove")
	d := &envDraft{v: v, rule: ir.EnvRule{Origin: s.origin(v.At)}}
	ok := false
	for i := range t.Entries {
		e := &t.Entries[i]
		in := s.key(e.Key)
		switch e.Key {
		case "name":
			if text, is := in.str(e.Value); is {
				ok = in.envName(&d.rule, e.Value, text)
			}
		case "read":
			d.rule.Read = in.boolean(e.Value)
		default:
			continue
		}
		d.rule.Leaves = append(d.rule.Leaves, ir.Leaf{Key: e.Key, At: e.Value.At})
	}
	sortLeaves(d.rule.Leaves)
	d.remove = s.removes(t, "name")
	if t.Get("name") == nil {
		s.missing(v, "an env rule", "name")
	}
	return d, ok
}

// envName reads a name, or a prefix with a trailing "*".
func (s scope) envName(r *ir.EnvRule, v *source.Value, text string) bool {
	r.Name, r.Prefix = strings.CutSuffix(text, "*")
	label := ""
	switch {
	case text == "":
		label = "found an empty name"
	case strings.Contains(r.Name, "*"):
		label = `found "*" inside a name, expected it at the end only`
	case strings.ContainsFunc(r.Name, func(c rune) bool { return c == '=' || c <= ' ' || c == 0x7f }):
		label = `found a character that no variable name holds`
	}
	if label != "" {
		s.report(diag.BadEnvName, v, label)
		return false
	}
	return true
}

func envRules(drafts []*envDraft) []ir.EnvRule {
	var out []ir.EnvRule
	for _, d := range drafts {
		out = append(out, d.rule)
	}
	return out
}

func (c finisher) finishEnv(t *ir.Tool, d *draft) {
	t.Declared.Env = !d.env.Absent()
	declared := envRules(d.env.Items())
	t.Env = slices.Concat(envRules(c.presetEnv(t, d)), baseEnv(t.Base, declared), declared)
	last := map[string]*ir.EnvRule{}
	for i := range t.Env {
		r := &t.Env[i]
		if r.Read && r.Value == "" && !r.Prefix && ir.LoaderVariable(r.Name) {
			f := diag.New(diag.LoaderVariable, leafAt(r.Leaves, "name", r.Origin), len(r.Name)+2)
			f.Path = r.Origin.Path + ".name"
			f.Label = "its value decides which code runs inside the tool"
			c.findings.Add(f)
		}
		if before, ok := last[r.Subject()]; ok && before.Read != r.Read {
			linter(c).orderDecides(before, r, leafAt(r.Leaves, "name", r.Origin), "the later rule wins")
		}
		last[r.Subject()] = r
	}
}

// baseEnv are the variables of the base that no declared rule takes away. A rule about a prefix takes
// those below it, though their names are longer.
// See decision D376.
func baseEnv(base ir.BaseName, declared []ir.EnvRule) []ir.EnvRule {
	if base == ir.BaseNone {
		return nil
	}
	return slices.DeleteFunc(ir.DefaultEnv(), func(r ir.EnvRule) bool {
		rules := declared
		if r.Prefix {
			rules = slices.DeleteFunc(slices.Clone(declared), func(o ir.EnvRule) bool { return !o.Prefix })
		}
		return withheld(rules, r.Name)
	})
}

// withheld reports whether rules take a variable away on some system: Windows does not tell upper
// from lower case.
func withheld(rules []ir.EnvRule, name string) bool {
	for _, p := range [...]ir.Platform{ir.Linux, ir.Windows} {
		v := ir.NewEnvView(rules, ir.HomeReal, p).Decide(ir.Forward{Name: name})
		if !v.Allowed() && v.Reason == ir.ReasonRule {
			return true
		}
	}
	return false
}
