package compiler

import (
	"maps"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// narrow proves that untrusted layers only narrow. Each is left out once, of the layers up
// to it and of all layers: a denial that it drops may only show once a later layer grants.
// See decision D39.
func (c narrower) narrow(layers []source.Layer) {
	for i, l := range layers {
		if !l.Narrow {
			continue
		}
		c.onlyNarrows(l, c.draw(layers[:i]), c.draw(layers[:i+1]))
		if i < len(layers)-1 {
			without := slices.Delete(slices.Clone(layers), i, i+1)
			c.onlyNarrows(l, c.draw(without), c.draw(layers))
		}
	}
}

// drawn are the tools of some layers, and which of them are not enabled.
type drawn struct {
	tools    map[string]*ir.Tool
	disabled map[string]bool
}

// draw compiles some of the layers for comparison: portably, and without the findings that only
// the missing layers cause.
func (c narrower) draw(layers []source.Layer) drawn {
	opts := c.opts
	opts.Approved = nil
	sub := &compilation{opts: opts, res: &Result{Files: source.Files{}, Resolver: c.res.Resolver,
		disabled: map[string]bool{}}}
	out := drawn{tools: map[string]*ir.Tool{}, disabled: sub.res.disabled}
	for _, d := range sub.gather(layers) {
		if t := (finisher{sub}).finish(d); t != nil {
			out.tools[t.Name] = t
		}
	}
	for _, f := range sub.findings {
		missing := f.Code == diag.AccessNoSource || f.Code == diag.AccessNotLocal || f.Code == diag.TakesNothing
		if f.Severity == diag.Error && !missing {
			c.findings.Add(f)
		}
	}
	return out
}

// onlyNarrows reports permissions that the tools have with a layer and not without it.
func (c narrower) onlyNarrows(l source.Layer, without, with drawn) {
	for _, name := range slices.Sorted(maps.Keys(with.tools)) {
		old, new := without.tools[name], with.tools[name]
		if old == nil {
			c.widens(l, name, "would add the tool", nil)
			continue
		}
		for _, d := range compare.Policies(compare.Policy{Tool: old}, compare.Policy{Tool: new}) {
			if d.Wider {
				c.widens(l, name, would(d), &d)
			}
		}
		if new.Source.Kind == ir.SourceMCP && without.disabled[name] && !with.disabled[name] {
			c.widens(l, name, "would let the tool be called", nil)
		}
		for _, what := range unbound(old, new) {
			c.widens(l, name, what, nil)
		}
	}
}

// would describes the permission that a difference adds.
func would(d compare.Difference) string {
	s := "would let it " + d.What + " " + d.Where
	if d.Kind == compare.Credentials {
		s = "would let it " + d.What + " at " + d.Where
	}
	if d.Example != "" {
		s += `, such as "` + d.Example + `"`
	}
	return s
}

// unbound lists the other changes that an untrusted layer must not make, which are no grants:
// to the program that is run and its arguments, and to the checks on a policy.
func unbound(old, new *ir.Tool) []string {
	var out []string
	if !sameCommand(old.Command, new.Command) {
		out = append(out, "would run another command")
	}
	if old.Source.Kind == new.Source.Kind && old.Source.Detail != new.Source.Detail {
		out = append(out, "would take the tool from "+new.Source.String())
	}
	if old.Run != new.Run && new.Run != "ask" {
		out = append(out, `would set run to "`+new.Run+`"`)
	}
	for _, a := range old.Tests {
		same := func(b ir.Assertion) bool { return a.Allow == b.Allow && a.Question == b.Question }
		if !slices.ContainsFunc(new.Tests, same) {
			out = append(out, `would drop the test "`+a.Question+`"`)
		}
	}
	for _, p := range old.Sensitive {
		if !slices.ContainsFunc(new.Sensitive, func(q ir.SensitivePattern) bool { return p.Pattern == q.Pattern }) {
			out = append(out, "would drop the sensitive path "+p.Pattern)
		}
	}
	return out
}

func sameCommand(a, b *ir.Command) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Program == b.Program && a.Shell == b.Shell && slices.Equal(a.Args, b.Args)
}

// widens reports a widening at the rule of the layer that makes it, or at the tool.
func (c narrower) widens(l source.Layer, tool, what string, d *compare.Difference) {
	at, path := toolIn(l, tool)
	f := diag.New(diag.Widens, at, 1)
	f.Path, f.Label = path, what
	f.Hint = "this layer may only narrow; leave it to a layer that is trusted"
	if d != nil {
		if d.New.Rule != nil && d.New.Rule.Source().Pos.File == l.File.Name {
			f.At, f.Path = d.New.Rule.Source().Pos, d.New.Rule.Source().Path
		}
		if d.Old.Rule != nil && d.Old.Rule.Source().Pos.File != "" {
			f.Related = []diag.Related{{At: d.Old.Rule.Source().Pos, Note: "decides without this layer"}}
		}
	}
	c.findings.Add(f)
}

// toolIn returns the first place where a layer mentions a tool; the layer's beginning if it
// does not.
func toolIn(l source.Layer, tool string) (ir.Pos, string) {
	for _, keys := range [][]string{{"conversation", "tools"}, {"tools"}, {"servers"}} {
		t := l.Root
		for _, k := range keys {
			v := t.Get(k)
			if v == nil || v.Kind != source.TableKind {
				t = nil
				break
			}
			t = v.Table
		}
		if e := t.Entry(tool); e != nil {
			return e.At, pathOf(keys, tool)
		}
	}
	return l.File.Pos(0), ""
}

func pathOf(keys []string, tool string) string {
	s := ""
	for _, k := range keys {
		s += k + "."
	}
	return s + tomltext.Key(tool)
}
