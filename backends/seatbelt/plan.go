package seatbelt

import (
	"cmp"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// plan is a policy laid out for a profile: the grant of each named region, in the order in
// which it is written.
type plan struct {
	tool *ir.Tool
	form backends.Form
	view *ir.View
	// own is the tool's own program, nil if it is not known.
	own *ir.Location
	// scripts are the programs that run listed scripts.
	scripts map[ir.Location]ir.Location
	bind    *ir.Bindings
	params  map[ir.Root]string
	zones   []*node
	// byRule are the nodes that each rule governs, by rule identifier.
	byRule map[ir.RuleID][]*node
	moves  moves

	refusals []backends.Refusal
}

// node is a region that the target judges by this policy's rules.
type node struct {
	*ir.Region
	grant
	// inside is true below another place of the same root that has rules.
	inside bool
	below  []*node
}

func newPlan(t *ir.Tool, target backends.Target) *plan {
	facts := ir.Facts{}
	if target.Form == backends.Resolved {
		facts = firstNames(target.Facts)
	}
	p := &plan{
		tool: t, form: target.Form, view: ir.NewView(t, ir.Darwin, facts), own: facts.Program, scripts: facts.Interpreters, bind: facts.Bindings,
		params: parameterNames(t), byRule: map[ir.RuleID][]*node{},
	}
	p.checkRules()
	for _, root := range p.roots() {
		region := p.view.Regions(root)
		if region == nil {
			region = &ir.Region{At: ir.Location{Root: root}}
		}
		if top := p.adopt(region, false); top != nil {
			p.zones = append(p.zones, top)
		}
	}
	p.moves = p.findMoves()
	p.walk(func(n *node) { n.links = p.moves.links[n.Caps] })
	return p
}

// checkRules refuses rules whose paths are not canonical. The region tree would take
// some of them for others.
func (p *plan) checkRules() {
	for _, e := range p.view.Entries() {
		for _, path := range [...]string{e.Rule.At.Path, e.Rule.At.Root.Name} {
			if !canonical("/" + path) {
				p.refuse(e.Rule, notCanonical)
			}
		}
	}
}

// adopt turns a region and its descendants into nodes. A region in a root that is bound further
// inside is judged there, so it is left out here.
func (p *plan) adopt(r *ir.Region, inside bool) *node {
	if !p.owns(r.At) {
		return nil
	}
	n := &node{Region: r, grant: grant{caps: r.Caps, listed: p.tool.Commands != nil}, inside: inside}
	if r.Governing.Rule != nil {
		n.base = r.Governing.Rule.Origin.Layer == ir.LayerBase
		p.byRule[r.Governing.ID] = append(p.byRule[r.Governing.ID], n)
	}
	for _, b := range r.Below {
		if c := p.adopt(b, inside || r.Named); c != nil {
			n.below = append(n.below, c)
		}
	}
	return n
}

// owns reports whether the path of a location on the host is located as that location.
func (p *plan) owns(l ir.Location) bool {
	abs, ok := p.abs(l)
	return !ok || p.bind == nil || p.bind.Locate(abs) == l
}

// roots lists the roots in the order in which they are written. A root that is
// inside another one must come later, since the outer one's rules do not apply inside
// it. Where the paths are not known, no root is taken to be inside another; targets
// of external rules still come first, as they are the ones that could be outer.
func (p *plan) roots() []ir.Root {
	out := append(p.view.Roots(), ir.Root{Kind: ir.Workspace})
	if p.bind != nil {
		out = append(out, p.bind.Roots()...)
	}
	slices.SortFunc(out, func(a, b ir.Root) int {
		return cmp.Or(cmp.Compare(p.depth(a), p.depth(b)), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(out)
}

// depth orders roots by the length of their paths, those without one last.
func (p *plan) depth(r ir.Root) int {
	if r.Kind == ir.System {
		return -1
	}
	if abs, ok := p.abs(ir.Location{Root: r}); ok {
		return len(abs)
	}
	return 1 << 30
}

func rank(r ir.Root) int {
	switch r.Kind {
	case ir.System:
		return 0
	case ir.External:
		return 1
	case ir.Workspace:
		return 2
	case ir.Home:
		return 3
	case ir.Temp:
		return 4
	default:
		return 5
	}
}

// walk visits every node, parents first, in the order in which they are written.
func (p *plan) walk(visit func(*node)) {
	for _, top := range p.zones {
		top.walk(visit)
	}
}

func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, b := range n.below {
		b.walk(visit)
	}
}

// top reports whether n is a root.
func (n *node) top() bool { return n.At.Path == "" }

// written reports whether n has rules of its own in the profile. A root always has, to end the
// grants of an outer root; the root directory of the host has no outer one.
func (n *node) written() bool {
	return n.Named || n.top() && n.At.Root.Kind != ir.System
}

// pinned reports whether n's name must be denied to be made and removed, because
// with either a directory could be moved away or into place.
func (n *node) pinned() bool {
	return (n.Pinned || n.top()) && (n.has(opCreate) || n.has(opUnlink))
}

// whole reports whether n is a directory that must not be cloned as a whole: its descendants
// have rules of their own, and the clone of a directory asks for its top alone.
func (n *node) whole() bool {
	return n.has(opClone) && slices.ContainsFunc(n.Below, func(b *ir.Region) bool { return b.Pinned })
}

// refuse notes why a place cannot be written, once for each rule.
func (p *plan) refuse(r *ir.FSRule, why string) {
	refusal := backends.Refusal{Why: why}
	if r != nil {
		refusal.Rule = r
	}
	if !slices.Contains(p.refusals, refusal) {
		p.refusals = append(p.refusals, refusal)
	}
}
