package compiler

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// commandDraft is a command rule, its program not yet looked up.
type commandDraft struct {
	rule  ir.CommandRule
	entry *source.Entry
	scope scope
}

// applyCommands merges a commands table: by program, the later entry wins whole.
func (d *draft) applyCommands(s scope, e *source.Entry) {
	t := s.table(e.Value, "a table of programs such as { git = {} }")
	if t == nil {
		return
	}
	o := s.origin(e.At)
	d.commandsAt = &o
	for i := range t.Entries {
		p := &t.Entries[i]
		if c := s.key(p.Key).commandRule(p); c != nil {
			d.commands[p.Key] = c
		}
	}
}

func (s scope) commandRule(e *source.Entry) *commandDraft {
	t := s.table(e.Value, `a table: {} for any arguments, { args = [["status", "**"]] } for those`)
	if t == nil {
		return nil
	}
	s.known(t, "a command rule", "args", "envs")
	d := &commandDraft{entry: e, scope: s, rule: ir.CommandRule{
		Program: e.Key, AnyArgs: true, AllEnvs: true, Origin: s.origin(e.At),
	}}
	for i := range t.Entries {
		f := &t.Entries[i]
		switch in := s.key(f.Key); f.Key {
		case "args":
			d.rule.AnyArgs = false
			d.rule.Args = in.argPatterns(f.Value)
		case "envs":
			d.rule.AllEnvs = false
			d.rule.Envs = in.strs(f.Value)
		default:
			continue
		}
		d.rule.Leaves = append(d.rule.Leaves, ir.Leaf{Key: f.Key, At: f.Value.At})
	}
	sortLeaves(d.rule.Leaves)
	return d
}

// argPatterns reads a list of argument sequences. A "**" means "and anything" at
// the end; anywhere else it is a mistake that would silently match nothing.
func (s scope) argPatterns(v *source.Value) []ir.ArgPattern {
	if v.Kind != source.ArrayKind {
		s.expect(v, "an array of arrays of strings")
		return nil
	}
	var out []ir.ArgPattern
	for i, item := range v.Array {
		in := s.item(i)
		words := in.strs(item)
		p := ir.ArgPattern{Words: words}
		if n := len(words); n > 0 && words[n-1] == "**" {
			p.Words, p.Rest = words[:n-1], true
		}
		if j := slices.Index(p.Words, "**"); j >= 0 {
			at := item
			if j < len(item.Array) {
				at = item.Array[j]
			}
			in.report(diag.BadArgs, at, `found "**" in front of another word`)
		}
		if len(p.Words) == 0 {
			p.Words = nil
		}
		out = append(out, p)
	}
	return out
}

func (c finisher) finishCommands(t *ir.Tool, d *draft) {
	if d.commandsAt == nil {
		return
	}
	t.Commands = &ir.CommandSet{Origin: *d.commandsAt}
	for _, cd := range d.commands {
		if c.checkProgram(cd) {
			t.Commands.Rules = append(t.Commands.Rules, cd.rule)
		}
	}
	slices.SortFunc(t.Commands.Rules, func(a, b ir.CommandRule) int { return strings.Compare(a.Program, b.Program) })
}

// checkProgram accepts a bare name, or a path relative to the workspace that stays
// in it.
func (c finisher) checkProgram(d *commandDraft) bool {
	bad := func(label, hint string) bool {
		f := diag.New(diag.BadProgram, d.entry.At, d.entry.Span)
		f.Path, f.Label, f.Hint = d.scope.path, label, hint
		c.findings.Add(f)
		return false
	}
	name := d.entry.Key
	if err := resolve.CheckText(name); err != nil {
		return bad(err.Error(), "")
	}
	if !strings.Contains(name, "/") {
		if name == "" || name == "." || name == ".." {
			return bad(`found "`+name+`", expected a program's name or path`, "")
		}
		if program, rest, blank := strings.Cut(name, " "); blank {
			return bad("found a blank in the name of a program", "write "+tomltext.Key(program)+" = { args = [["+
				strings.Join(quoted(strings.Fields(rest)), ", ")+`, "**"]] }`)
		}
		return true
	}
	found, err := c.res.Resolver.Rule(name)
	switch {
	case err != nil:
		return bad(err.Error(), "write the bare name to have it looked up in PATH")
	case !found.Inside:
		return bad("leads to "+found.Abs+", outside of the workspace",
			"write the bare name to have it looked up in PATH")
	}
	return true
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = tomltext.String(w)
	}
	return out
}
