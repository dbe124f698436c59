package hostfacts

import (
	"fmt"
	"maps"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/bounds"
	"github.com/accessc/accessc/ir"
)

// over is what a tool is permitted above another, in words; empty if it is within.
func (r *Result) over(parent, child *ir.Tool) string {
	targets := r.external(parent)
	maps.Copy(targets, r.external(child))
	above := bounds.Over(parent, child, r.Resolver, targets, !r.resolved, r.platforms)
	if len(above) == 0 {
		return ""
	}
	return fmt.Sprintf("%s may %s, which %s may not", child.Name, above[0].Says(), parent.Name)
}

// contained finds the types of subagents whose tool is permitted more than the tool of their parent.
func (r *Result) contained() (out diag.List) {
	for _, kind := range slices.Sorted(maps.Keys(r.Agents)) {
		a := r.Agents[kind]
		child, ok := r.Program.Tool(a.Tool)
		parent, known := r.Program.Tool(a.Parent)
		if !ok || !known {
			continue
		}
		if why := r.over(parent, child); why != "" {
			out.Add(a.Above(why))
		}
	}
	return out
}

// Subagent is the tool whose policy judges a type of subagent, nil for that of its parent. What it permits has to be
// within what the parent's permits, here as the configuration is now.
func (r *Result) Subagent(kind string, parent *ir.Tool) (*ir.Tool, error) {
	a, listed := r.Agents[kind]
	if !listed || kind == "" || a.Tool == parent.Name {
		return nil, nil
	}
	child, ok := r.Program.Tool(a.Tool)
	switch {
	case !ok || r.Wrong(a.Tool):
		return nil, fmt.Errorf("the tool %s of the subagents %q has mistakes: accessc check shows them", a.Tool, kind)
	case child.Source.Kind != ir.SourceLocal:
		return nil, fmt.Errorf("the tool %s of the subagents %q has no policy: its source is %s", a.Tool, kind,
			child.Source)
	}
	if why := r.over(parent, child); why != "" {
		return nil, fmt.Errorf("the subagents %q are permitted more than their parent: %s", kind, why)
	}
	return child, nil
}
