package seatbelt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// profile is a policy laid out for the system: its regions in the order in which they are
// written, the programs that start, and why it cannot be written. It is complete before the first
// line is.
type profile struct {
	tool *ir.Tool
	form backends.Form
	view *ir.View
	// own is the tool's own program, nil if it is not known.
	own *ir.Location
	// scripts are the programs that run listed scripts.
	scripts map[ir.Location]ir.Location
	bind    *ir.Bindings
	params  map[ir.Root]string
	// roots are in the order in which they are written.
	roots []*ir.Region
	// byRule are the regions that each rule governs.
	byRule map[ir.RuleID][]*ir.Region
	// byName are the grants of each rule by name, where it is about some name.
	byName map[ir.RuleID][]sampled
	// deep are the rules by name that others meet that grant other things.
	deep     map[ir.RuleID]bool
	moves    moves
	splits   map[grant]split
	programs []program
	refusals []backends.Refusal
}

func newProfile(t *ir.Tool, target backends.Target) *profile {
	facts := ir.Facts{}
	if target.Form == backends.Resolved {
		facts = firstNames(target.Facts)
	}
	p := &profile{
		tool: t, form: target.Form, view: ir.NewView(t, ir.Darwin, facts), own: facts.Program,
		scripts: facts.Interpreters, bind: facts.Bindings,
		params: parameterNames(t), byRule: map[ir.RuleID][]*ir.Region{},
		byName: map[ir.RuleID][]sampled{}, deep: map[ir.RuleID]bool{}, splits: map[grant]split{},
	}
	p.roots = p.ordered(p.view.Tree())
	p.walk(func(r *ir.Region) { p.byRule[r.ID()] = append(p.byRule[r.ID()], r) })
	p.walk(p.addNames)
	p.moves = p.findMoves()
	p.programs = p.findPrograms()
	p.validate()
	return p
}

// ordered sorts roots as they are written. A root that is inside another root must come later,
// since the outer root's rules do not apply inside it. Where the paths are not known, no root is
// taken to be inside another; targets of external rules still come first, as only they could be outer.
func (p *profile) ordered(roots []*ir.Region) []*ir.Region {
	kinds := []ir.RootKind{ir.System, ir.External, ir.Workspace, ir.Home, ir.Temp}
	length := func(r *ir.Region) int {
		if abs, ok := p.abs(r.At); ok {
			return len(abs)
		}
		return 1 << 30
	}
	slices.SortStableFunc(roots, func(a, b *ir.Region) int {
		return cmp.Or(cmp.Compare(length(a), length(b)),
			slices.Index(kinds, a.At.Root.Kind)-slices.Index(kinds, b.At.Root.Kind))
	})
	return roots
}

// validate refuses rules that cannot be written: rules whose paths are not canonical, as the region tree
// would take some of them for others, and places that the language cannot spell.
func (p *profile) validate() {
	for _, e := range p.view.Entries() {
		for _, path := range [...]string{e.Rule.At.Path, e.Rule.At.Root.Name} {
			if !canonical("/" + strings.TrimPrefix(path, "/")) {
				p.refuse(e.Rule, notCanonical)
			}
		}
		p.refuse(e.Rule, unspeakable(e.Rule))
	}
	p.walk(func(r *ir.Region) {
		if written(r) || namesAt(r) {
			var rule ir.Rule
			if r.Governing.Rule != nil {
				rule = r.Governing.Rule
			}
			p.refuse(rule, p.place(r.At).problem())
		}
	})
	for _, start := range p.programs {
		for _, file := range slices.Concat(start.files, start.interpreters) {
			p.refuse(start.rule, p.place(file).problem())
		}
	}
}

// refuse notes why a place cannot be written, once for each rule; no reason is no refusal.
func (p *profile) refuse(r ir.Rule, why string) {
	refusal := backends.Refusal{Rule: r, Why: why}
	if why != "" && !slices.Contains(p.refusals, refusal) {
		p.refusals = append(p.refusals, refusal)
	}
}

// walk visits every region, root by root in the order in which they are written, parents first.
func (p *profile) walk(visit func(*ir.Region)) {
	for _, root := range p.roots {
		root.WalkRoot(visit)
	}
}

// grant returns the form of a region.
func (p *profile) grant(r *ir.Region) grant {
	return grant{caps: r.Caps, links: p.moves.links[r.Caps], listed: p.tool.Commands != nil, base: ofBase(r)}
}

// ofBase reports whether a rule of the base governs r.
func ofBase(r *ir.Region) bool {
	return r.Governing.Rule != nil && r.Governing.Rule.Origin.Layer == ir.LayerBase
}

// written reports whether r has rules of its own in the profile. A root always has, to end the
// grants of an outer root; the root directory of the host has no outer root.
func written(r *ir.Region) bool {
	return r.Named || r.IsRoot() && r.At.Root.Kind != ir.System
}

// grouped reports whether a region is written with its like at the head of the rules:
// a place of the base that is inside no other place of the host with rules.
func grouped(r *ir.Region) bool {
	inside := false
	for a := r.Above; a != nil && a.At.Root == r.At.Root; a = a.Above {
		inside = inside || a.Named
	}
	return ofBase(r) && r.Named && !inside
}

// pinned reports whether r's name must be denied to be made and removed, because
// with either a directory could be moved away or into place.
func (p *profile) pinned(r *ir.Region) bool {
	g := p.grant(r)
	return (r.Pinned || r.IsRoot()) && (g.has(opCreate) || g.has(opUnlink))
}

// whole reports whether r is a directory that must not be cloned as a whole: its descendants
// have rules of their own, and the clone of a directory asks only for its top.
func (p *profile) whole(r *ir.Region) bool {
	return p.grant(r).has(opClone) && slices.ContainsFunc(r.Below, func(b *ir.Region) bool { return b.Pinned })
}
