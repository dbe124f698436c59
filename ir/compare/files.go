package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// place is a cell of the filesystem: a path that either policy names and everything
// below it that neither names. Both give the same set of capabilities to all of it.
type place struct {
	at ir.Location
	// inside is a target of the cell.
	inside   ir.Location
	old, new ir.CapSet
	pinned   [2]bool
	// guarded is true of a protected path that neither policy has a rule of its own for, and of a name that leads only
	// to such paths.
	guarded bool
	// named is false for a root, which has no name of its own.
	named bool
	// rules are the rules by name of both policies that are about names in the cell, and byName the cells that
	// they cut out of it.
	rules  [2][]ir.Entry
	byName []*nameCell
	// byText has the patterns of a cell of names, empty for any other.
	byText string
	// ends are two places of the cell for a name to be moved from and to, the same where there is no second.
	ends [2]ir.Location
}

// gain holds the capabilities that only the new side has (more) and only the old side has
// (less).
type gain struct{ more, less ir.CapSet }

type placeTree = tree[*place, gain]

// files compares simple capabilities.
func (c *comparison) files(trees []*placeTree) []Difference {
	var out []Difference
	for _, wider := range []bool{true, false} {
		for _, t := range trees {
			out = append(out, c.wider(t, wider)...)
		}
		out = append(out, c.widerNames(trees, wider)...)
	}
	return out
}

// wider lists the regions in which one side permits more. Where a table decides which programs
// start, execute covers only the listed programs and is described separately.
func (c *comparison) wider(t *placeTree, wider bool) []Difference {
	if c.old.Tool.Commands == nil && c.new.Tool.Commands == nil {
		return gather(c.told(only(t, wider, ir.All), wider))
	}
	out := c.told(only(t, wider, ir.All.Without(ir.Execute)), wider)
	for _, r := range only(t, wider, ir.Caps(ir.Execute)).regions() {
		d := c.difference(r, wider)
		var relevant bool
		if d.Example, relevant = c.started(r, wider); relevant {
			out = append(out, d)
		}
	}
	return gather(out)
}

// gather merges the differences of protected paths that differ alike. There are many
// such paths, and no rule that a reviewer could look at is about just one of them.
func gather(ds []Difference) []Difference {
	var out []Difference
	for _, d := range ds {
		i := slices.IndexFunc(out, d.alike)
		if i < 0 {
			out = append(out, d)
			continue
		}
		out[i].Where = Protected
		out[i].Protected = append(out[i].Protected, d.Protected...)
	}
	return out
}

// OfProtected reports whether d is only about protected paths.
func (d Difference) OfProtected() bool {
	return d.Where == Protected || slices.Equal(d.Protected, []string{d.Where})
}

// alike reports whether both are of protected paths, which differ alike.
func (d Difference) alike(o Difference) bool {
	return d.OfProtected() && o.OfProtected() && d.What == o.What && d.Wider == o.Wider &&
		d.Old.origin() == o.Old.origin() && d.New.origin() == o.New.origin()
}

func (c *comparison) told(t *capTree, wider bool) []Difference {
	var out []Difference
	for _, r := range t.regions() {
		out = append(out, c.difference(r, wider))
	}
	return out
}

func (c *comparison) difference(r region[*place, ir.CapSet], wider bool) Difference {
	p := r.item
	need := r.label.List()[0]
	old, new, _ := c.ask(ir.Access{Cap: need, On: ir.Direct(p.inside)})
	d := Difference{
		Resource: ir.FS, Wider: wider, What: r.label.String(), Where: p.at.Short(),
		Example: spell(need.String(), p.inside.Short()), Old: side(old), New: side(new),
	}
	if p.guarded {
		d.Protected = []string{d.Where}
	}
	for _, e := range r.except {
		if e.guarded {
			d.Protected = append(d.Protected, e.at.Short())
		} else {
			d.Except = append(d.Except, e.at.Short())
		}
	}
	d.Except = append(d.Except, exceptNames(r, wider)...)
	return d
}

// started is an example of a start in a region of files that one side lets be executed:
// any file where that side has no table, else a program that it lists by its path. The
// region does not matter where it has none and none by name, which may lie anywhere.
func (c *comparison) started(r region[*place, ir.CapSet], wider bool) (example string, relevant bool) {
	permits := c.old
	if wider {
		permits = c.new
	}
	turns := func(op ir.Operation) bool {
		_, new, differs := c.ask(op)
		return differs && new.Allowed() == wider
	}
	if turns(ir.Start{On: ir.Direct(r.item.inside)}) {
		return spell(ir.Execute.String(), r.item.inside.Short()), true
	}
	for _, p := range permits.Programs() {
		at, known := fileOf(p.Program)
		relevant = relevant || !known
		excepted := func(e *place) bool { return at.Under(e.at) }
		if !known || !at.Under(r.item.at) || slices.ContainsFunc(r.except, excepted) {
			continue
		}
		for _, w := range flat(c.argumentLists(p)) {
			if turns(start(p.Program, w.sample())) {
				return spell(append([]string{"run", p.Program}, w.sample()...)...), true
			}
		}
	}
	return "", relevant
}

// flat lists the cells of a partition of argument lists.
func flat(t *wordTree) []words {
	out := []words{t.item}
	for _, b := range t.below {
		out = append(out, flat(b)...)
	}
	return out
}

type capTree = tree[*place, ir.CapSet]

// only is a tree with the labels of a direction, of some capabilities.
func only(t *placeTree, wider bool, of ir.CapSet) *capTree {
	out := &capTree{item: t.item, label: t.label.less & of}
	if wider {
		out.label = t.label.more & of
	}
	for _, b := range t.below {
		out.below = append(out.below, only(b, wider, of))
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
		t := c.partition(ir.Location{Root: r}, c.old.Regions(r), c.new.Regions(r), [2][]ir.Entry{})
		if r.Kind == ir.Workspace && c.old.Tool.Protects != c.new.Tool.Protects {
			c.addNames(t)
		}
		out = append(out, t)
	}
	return out
}

// addNames adds to each cell a place whose name patterns of protected paths match at every depth, where only one side
// has these in effect.
func (c *comparison) addNames(t *placeTree) {
	for _, b := range t.below {
		c.addNames(b)
	}
	at := t.item.at.Child("accessc.toml")
	if !t.item.named {
		at = t.item.inside.Child("accessc.toml")
	}
	if slices.ContainsFunc(t.below, func(b *placeTree) bool { return b.item.at == at }) {
		return
	}
	p := &place{at: at, inside: at, named: true, guarded: true, old: caps(c.old, at), new: caps(c.new, at)}
	t.below = append(t.below, &placeTree{item: p, label: gain{more: p.new &^ p.old, less: p.old &^ p.new}})
}

// partition merges two region trees; either may end before the other. Around are the rules by name of the
// directory above.
func (c *comparison) partition(at ir.Location, old, new *ir.Region, around [2][]ir.Entry) *placeTree {
	p := &place{at: at, named: at.Path != "", rules: around}
	p.pinned = [2]bool{old != nil && old.Pinned, new != nil && new.Pinned}
	p.guarded = guarded(old, new) || guarded(new, old)
	out := &placeTree{item: p}
	names := map[string][2]*ir.Region{}
	var order []string
	for i, r := range [...]*ir.Region{old, new} {
		if r == nil {
			continue
		}
		p.rules[i] = r.ByName
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
		out.below = append(out.below, c.partition(at.Child(name), names[name][0], names[name][1], p.rules))
	}
	p.inside = at
	names0, free := c.freeNames(p, order)
	if free && (!p.named || len(order) > 0 || at.Root.Kind == ir.External && (linked(old) || linked(new))) {
		p.inside = at.Child(names0[0])
	}
	if p.ends = [2]ir.Location{at, at}; free {
		p.ends = [2]ir.Location{at.Child(names0[0]), at.Child(names0[1])}
	}
	c.cutByName(p, order)
	p.old, p.new = caps(c.old, p.inside), caps(c.new, p.inside)
	out.label = gain{more: p.new &^ p.old, less: p.old &^ p.new}
	return out
}

func linked(r *ir.Region) bool { return r != nil && r.Link }

// guarded reports whether a region belongs to a protected path or leads only to such paths, and
// the other policy has no rule there.
func guarded(r, other *ir.Region) bool {
	return r != nil && r.LeadsToGuarded() && (other == nil || !other.Named && len(other.Below) == 0 ||
		other.LeadsToGuarded())
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
