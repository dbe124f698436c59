package backends

import "github.com/accessc/accessc/ir"

// Named is a rule by name in a region, for means that know places and no names.
type Named struct {
	ir.Entry
	Region *ir.Region // the rule is about names in it and below
	Caps   ir.CapSet  // what the rule grants there
}

// NamedIn lists the rules by name in a region, in the order in which ties are decided.
func NamedIn(r *ir.Region) []Named {
	out := make([]Named, len(r.ByName))
	for i, e := range r.ByName {
		out[i] = Named{e, r, e.Rule.Caps}
		if r.Guard.Rule != nil {
			out[i].Caps &^= ir.Write
		}
	}
	return out
}

// AddNamed adds the rules by name in a tree of regions.
func AddNamed(to map[ir.RuleID][]Named, top *ir.Region) {
	top.Walk(func(r *ir.Region) {
		for _, n := range NamedIn(r) {
			to[n.ID] = append(to[n.ID], n)
		}
	})
}

// Held says how an aspect of the rule is held where the means give the same capabilities to all names in the region:
// all that they give beyond the rule is a gap, and all that the rule gives beyond them stays closed.
func (n Named) Held(a ir.Aspect, given ir.CapSet, taken, closed ir.CauseID) ir.Held {
	c, ok := ir.ParseCapability(string(a))
	switch {
	case a == ir.AspectMetadata || a == ir.AspectSocket:
		c = ir.Update
	case a == ir.AspectMove:
		return When(given&ir.Write != 0, Weaker(ir.GapFSNames, taken))
	case !ok:
		return Exact
	}
	switch {
	case given.Has(c) && !n.Caps.Has(c):
		return Weaker(ir.GapFSNames, taken)
	case n.Caps.Has(c) && !given.Has(c):
		return Stricter(closed)
	default:
		return Exact
	}
}
