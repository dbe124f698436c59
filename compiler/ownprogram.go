package compiler

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// ownProgram lets a tool read and execute the file of the workspace that its command names, with whatever else the rule
// around it grants. A rule on that very path decides by itself, and so does a rule that closes the place.
// See decision D421.
func (c finisher) ownProgram(t *ir.Tool) {
	cmd := t.Command
	if cmd == nil || cmd.Shell || !strings.Contains(cmd.Program, "/") || strings.HasPrefix(cmd.Program, "/") ||
		strings.Contains(cmd.Program, "{{") {
		return
	}
	found, err := c.res.Resolver.Rule(cmd.Program)
	if err != nil || !found.Inside || found.Kind == ir.Dir {
		return // the start says what is wrong
	}
	around := covering(t.FS, found.At)
	if around == nil || decides(around, found.At) || around.Caps == 0 ||
		around.Caps.Contains(ir.Caps(ir.Read, ir.Execute)) {
		return
	}
	o := cmd.Origin
	o.Layer, o.Label = ir.LayerImplied, "command"
	t.FS = append(slices.Clip(t.FS), ir.FSRule{
		Written: cmd.Program, At: found.At, Links: found.Links, Caps: around.Caps | ir.Caps(ir.Read, ir.Execute),
		Origin: o,
	})
}

// covering is the rule that decides about a place, nil if there is none.
func covering(rules []ir.FSRule, at ir.Location) *ir.FSRule {
	var out *ir.FSRule
	best := 0
	for i := range rules {
		if length, ok := rules[i].Matches(at); ok && length >= best {
			out, best = &rules[i], length
		}
	}
	return out
}

// decides reports whether a rule is about a place itself.
func decides(r *ir.FSRule, at ir.Location) bool {
	length, ok := r.Matches(at)
	return ok && length == len(at.Path)
}
