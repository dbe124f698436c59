package ir

import "slices"

// Region is a named node of the region tree, for rendering and compiling a policy: a rule's
// path, or an ancestor of one.
type Region struct {
	At   Location
	Caps CapSet
	// Governing is the rule that decides here; its Rule is nil under default-deny.
	Governing Entry
	// Named is true when a rule is written for this very path.
	Named bool
	// Pinned is true where the name may not be moved.
	Pinned bool
	// Link is true at the workspace's symlink of an external rule.
	Link bool
	// Below are the named nodes directly below, in name order.
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

// Regions returns the region tree of a root, nil if it has none.
func (v *View) Regions(r Root) *Region {
	if t := v.tree(r); t != nil {
		return v.export(t, Location{Root: r})
	}
	return nil
}

func (v *View) export(n *region, at Location) *Region {
	out := &Region{At: at, Caps: n.caps, Named: n.rule >= 0, Pinned: n.pinned && at.Path != ""}
	if n.win >= 0 {
		out.Governing = v.rules[v.refs[n.win].entry]
	}
	if n.rule >= 0 {
		out.Link = v.refs[n.rule].pin
	}
	for _, name := range n.names() {
		out.Below = append(out.Below, v.export(n.children[name], at.Child(name)))
	}
	return out
}

// Guarded reports whether r is a protected path that a rule around it would let a tool
// write.
func (r *Region) Guarded() bool {
	return r.Named && r.Governing.Rule != nil && r.Governing.Rule.Guards()
}

// LeadsToGuarded reports whether r is a protected path, or a name that no rule is written for
// and that leads to protected paths alone.
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
