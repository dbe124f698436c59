package allow

import (
	"slices"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// Unused is a rule that no recorded operation needs.
type Unused struct {
	Resource string `json:"resource"`
	Rule     string `json:"rule"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// Unused lists the rules on files and programs that grant something and decide on none of the recorded
// operations. Rules on hosts and variables are not among them: their use is not recorded.
// See decision D187.
func (p *Policy) Unused(entries []denial.Entry) []Unused {
	used := map[ir.Origin]bool{}
	mark := func(v ir.Verdict) {
		if v.Rule != nil {
			used[v.Rule.Source()] = true
		}
	}
	for i, e := range entries {
		g := p.single(i, e)
		for _, a := range g.asks {
			if a.Operation == nil {
				continue
			}
			mark(p.View.Decide(a.Operation))
			about := ir.Describe(a.Operation)
			for i, on := range about.Places {
				for _, c := range (about.Needs[i] | a.own).List() {
					mark(p.View.Decide(ir.Access{Cap: c, On: on}))
				}
			}
		}
	}
	var out []Unused
	add := func(resource, rule string, o ir.Origin) {
		shipped := []ir.Layer{
			ir.LayerNone, ir.LayerBase, ir.LayerDefault, ir.LayerImplied, ir.LayerProtected, ir.LayerPreset,
		}
		if !used[o] && !slices.Contains(shipped, o.Layer) {
			out = append(out, Unused{resource, rule, o.Pos.File, o.Pos.Line})
		}
	}
	for _, r := range p.Tool.FS {
		if r.Caps != 0 {
			add("fs", r.Subject()+": "+r.Caps.String(), r.Origin)
		}
	}
	if p.Tool.Commands != nil {
		for _, r := range p.Tool.Commands.Rules {
			add("commands", r.Program, r.Origin)
		}
	}
	return out
}
