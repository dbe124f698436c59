package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// place is a cell of the filesystem: a path that either policy names and everything
// below it that neither names. Both give one set of capabilities to all of it.
type place struct {
	at ir.Location
	// inside is a target of the cell.
	inside   ir.Location
	old, new ir.CapSet
	pinned   [2]bool
	// named is false for a root, which has no name of its own.
	named bool
}

// gain is the capabilities that one side has and the other has not.
type gain struct{ more, less ir.CapSet }

type placeTree = tree[*place, gain]

// files compares simple capabilities.
func (c *comparison) files(trees []*placeTree) []Difference {
	var out []Difference
	for _, t := range trees {
		out = append(out, c.wider(t, true)...)
		out = append(out, c.wider(t, false)...)
	}
	return out
}

// wider lists the regions in which one side permits more.
func (c *comparison) wider(t *placeTree, wider bool) []Difference {
	var out []Difference
	for _, r := range only(t, wider).regions() {
		p := r.item
		need := r.label.List()[0]
		old, new, _ := c.ask(ir.Access{Cap: need, On: ir.Direct(p.inside)})
		d := Difference{
			Resource: ir.FS, Wider: wider, What: r.label.String(), Where: p.at.Short(),
			Example: need.String() + " " + p.inside.Short(), Old: side(old), New: side(new),
		}
		for _, e := range r.except {
			d.Except = append(d.Except, e.at.Short())
		}
		out = append(out, d)
	}
	return out
}

// only is a tree with the labels of one direction.
func only(t *placeTree, wider bool) *tree[*place, ir.CapSet] {
	out := &tree[*place, ir.CapSet]{item: t.item, label: t.label.less}
	if wider {
		out.label = t.label.more
	}
	for _, b := range t.below {
		out.below = append(out.below, only(b, wider))
	}
	return out
}

// trees are the partitions of the roots that either policy has rules for.
func (c *comparison) trees(wanted func(ir.Root) bool) []*placeTree {
	roots := c.old.Roots()
	for _, r := range c.new.Roots() {
		if !slices.Contains(roots, r) {
			roots = append(roots, r)
		}
	}
	var out []*placeTree
	for _, r := range roots {
		if !wanted(r) {
			continue
		}
		out = append(out, c.partition(ir.Location{Root: r}, c.old.Regions(r), c.new.Regions(r)))
	}
	return out
}

// partition merges two region trees; either may end before the other.
func (c *comparison) partition(at ir.Location, old, new *ir.Region) *placeTree {
	p := &place{at: at, named: at.Path != ""}
	p.pinned = [2]bool{old != nil && old.Pinned, new != nil && new.Pinned}
	out := &placeTree{item: p}
	names := map[string][2]*ir.Region{}
	var order []string
	for i, r := range [...]*ir.Region{old, new} {
		if r == nil {
			continue
		}
		for _, b := range r.Below {
			name := b.At.Base()
			pair, known := names[name]
			if !known {
				order = append(order, name)
			}
			pair[i] = b
			names[name] = pair
		}
	}
	slices.Sort(order)
	for _, name := range order {
		out.below = append(out.below, c.partition(at.Child(name), names[name][0], names[name][1]))
	}
	p.inside = at
	if !p.named || len(order) > 0 {
		p.inside = at.Child(fresh("file", order))
	}
	p.old, p.new = caps(c.old, p.inside), caps(c.new, p.inside)
	out.label = gain{more: p.new &^ p.old, less: p.old &^ p.new}
	return out
}

// caps asks for every capability.
func caps(v *ir.View, at ir.Location) ir.CapSet {
	var out ir.CapSet
	for _, cap := range ir.Capabilities {
		if v.Decide(ir.Access{Cap: cap, On: ir.Direct(at)}).Allowed() {
			out = out.With(cap)
		}
	}
	return out
}

// fresh is a name that none of the others is.
func fresh(name string, others []string) string {
	for i := 0; ; i++ {
		if n := name + number(i); !slices.Contains(others, n) {
			return n
		}
	}
}
