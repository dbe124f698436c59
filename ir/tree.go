package ir

import (
	"cmp"
	"slices"
	"strings"
)

// Region is a named node of the region tree, for rendering and compiling a policy: a rule's path, or an ancestor of a
// rule's path.
type Region struct {
	At Location // the region's own place
	// Name is its name in the directory above, empty where none is known.
	Name string
	Caps CapSet // granted here
	// Governing is the rule that decides here; its Rule is nil under default-deny.
	Governing Entry
	// Named is true when a rule is written for this very path.
	Named bool
	// Pinned is true where the name may not be moved.
	Pinned bool
	// Link is true at the workspace's symlink of an external rule.
	Link bool
	// Through is true at a symlink of the workspace that a rule is written through, or that is protected. There is
	// nothing below it: the places that it leads to have regions of their own.
	Through bool
	// ByName are the rules by name that are about names in this directory and below, in the order in which ties
	// are decided.
	ByName []Entry
	// Guard is the protected path around, its Rule nil where there is none: rules by name let nothing be written here.
	Guard Entry
	// Above is the node directly above this node, Below are the nodes directly below it, in
	// name order. Both may belong to another root in a tree of View.Tree.
	Above *Region
	Below []*Region
}

// Roots lists the roots that have rules, in canonical order.
func (v *View) Roots() []Root {
	var out []Root
	for k := Workspace; k < External; k++ {
		if v.zones[k] != nil {
			out = append(out, Root{Kind: k})
		}
	}
	names := make([]string, 0, len(v.external))
	for n := range v.external {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		out = append(out, Root{External, n})
	}
	return out
}

// Tree returns the regions of every root as they lie on the view's host, in canonical order.
// A root that is bound inside another root is in the tree of that root as well, in the place of all that the outer
// root's rules say there. The workspace and the bound roots are listed even where they have no rule, since then nothing
// is granted in them, whatever is around them; a root whose directory belongs to another root is not. In a portable
// view no root is known to lie in another.
// See decision D41.
func (v *View) Tree() []*Region {
	b := v.bind
	if b == nil {
		b = &Bindings{}
	}
	var out []*Region
	roots := slices.Concat(v.Roots(), b.Roots(), []Root{{Kind: Workspace}})
	slices.SortFunc(roots, func(a, b Root) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	for _, r := range slices.Compact(roots) {
		if abs, bound := b.Path(Location{Root: r}); bound && b.Locate(abs).Root != r {
			continue
		}
		region := v.Regions(r)
		if region == nil {
			region = &Region{At: Location{Root: r}}
		}
		out = append(out, region)
	}
	for _, inner := range out {
		at := b.Outer(inner.At.Root)
		i := slices.IndexFunc(out, func(r *Region) bool { return r.At.Root == at.Root })
		if at.Path != "" && i >= 0 {
			out[i].graft(at.Path, inner)
		}
	}
	return out
}

// graft puts a root in the place of all that r has at a path.
func (r *Region) graft(path string, root *Region) {
	name, rest := cut(path)
	i, there := slices.BinarySearchFunc(r.Below, name, func(b *Region, name string) int {
		return strings.Compare(b.Name, name)
	})
	if !there {
		between := &Region{At: r.At.Child(name), Name: name, Caps: r.Caps, Governing: r.Governing, Pinned: true,
			Above: r}
		r.Below = slices.Insert(r.Below, i, between)
	}
	if rest != "" {
		r.Below[i].graft(rest, root)
		return
	}
	root.Name, root.Pinned, root.Above = name, true, r
	r.Below[i] = root
}

// Regions returns the region tree of a root by itself, nil if it has none.
func (v *View) Regions(r Root) *Region {
	if t := v.tree(r); t != nil {
		nodes := t.count()
		e := exporter{v, make([]Region, 0, nodes), make([]*Region, 0, nodes)}
		return e.export(t, Location{Root: r}, nil)
	}
	return nil
}

// exporter makes the regions of a tree, of which it knows the number.
type exporter struct {
	view  *View
	nodes []Region
	below []*Region
}

func (e *exporter) export(n *region, at Location, above *Region) *Region {
	e.nodes = append(e.nodes, Region{
		At: at, Name: at.Base(), Caps: n.caps, Named: n.rule >= 0, Pinned: n.pinned && at.Path != "", Through: n.link &&
			e.view.through(n), Above: above,
	})
	out := &e.nodes[len(e.nodes)-1]
	for _, b := range n.byName {
		out.ByName = append(out.ByName, e.view.rules[e.view.refs[b.ref].entry])
	}
	if n.guard >= 0 {
		out.Guard = e.view.rules[e.view.refs[n.guard].entry]
	}
	if n.win >= 0 {
		out.Governing = e.view.rules[e.view.refs[n.win].entry]
	}
	if n.rule >= 0 {
		out.Link = e.view.refs[n.rule].pin
	}
	if size := len(n.children.list); size > 0 {
		from := len(e.below)
		e.below = e.below[:from+size]
		out.Below = e.below[from : from+size : from+size] // a graft takes a list of its own
	}
	for i, c := range n.children.list {
		out.Below[i] = e.export(c.region, at.Child(c.name), out)
	}
	return out
}

// through reports whether no declared rule is about a symlink itself.
func (v *View) through(n *region) bool {
	return n.rule < 0 || v.rules[v.refs[n.rule].entry].Rule.Guards()
}

// ID names the rule that decides here.
func (r *Region) ID() RuleID {
	if r.Governing.Rule == nil {
		return DefaultRule
	}
	return r.Governing.ID
}

// IsRoot reports whether r is the directory of a root.
func (r *Region) IsRoot() bool { return r.At.Path == "" }

// Guarded reports whether r is a protected path that a rule around it would let a tool
// write, also where a rule by name decides about reading it.
func (r *Region) Guarded() bool {
	by := r.Governing.Rule
	return r.Named && by != nil && (by.Guards() || by.ByName() && r.Guard.Rule != nil && r.Guard.Rule.At == r.At)
}

// LeadsToGuarded reports whether r is a protected path, or a name that no rule is written for
// and that leads only to protected paths.
func (r *Region) LeadsToGuarded() bool {
	if r.Named || len(r.Below) == 0 {
		return r.Guarded()
	}
	return !slices.ContainsFunc(r.Below, func(b *Region) bool { return !b.LeadsToGuarded() })
}

// Walk visits r and everything below it, parents first.
func (r *Region) Walk(visit func(*Region)) {
	visit(r)
	for _, b := range r.Below {
		b.Walk(visit)
	}
}

// WalkRoot visits r and everything below it that belongs to the same root, parents first.
func (r *Region) WalkRoot(visit func(*Region)) {
	visit(r)
	for _, b := range r.Below {
		if !b.IsRoot() {
			b.WalkRoot(visit)
		}
	}
}
