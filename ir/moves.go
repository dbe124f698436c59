package ir

import "slices"

// gain are the capabilities that a moved file has more at its new place, or a moved directory or anything that
// may be in it.
// See decision D470.
func (v *View) gain(src, dst Location, kind NodeKind) (gain CapSet) {
	if !v.moved(src, dst, kind, func(h held) { gain |= h.has &^ h.had }) {
		return All
	}
	return gain
}

// gainedBy is the rule behind a gain: a rule by name that withholds the capability at the old place, or else the rule
// that gives it at the new place; nil where none is known.
func (v *View) gainedBy(src, dst Location, kind NodeKind, c Capability) (by Rule) {
	v.moved(src, dst, kind, func(h held) {
		if by != nil || !(h.has &^ h.had).Has(c) {
			return
		}
		for _, ref := range []int{h.hadBy, h.hasBy} {
			if ref < 0 {
				continue
			}
			if r := v.rules[v.refs[ref].entry].Rule; ref == h.hasBy || r.ByName() {
				by = r
				return
			}
		}
	})
	return by
}

// moved visits the capabilities before and after a move, of what is moved and of all that may be in it. It is false
// where there are too many.
func (v *View) moved(src, dst Location, kind NodeKind, visit func(held)) bool {
	from, to := v.spot(src), v.spot(dst)
	first := held{from.caps, to.caps, from.win, to.win}
	had, has := v.byName(src), v.byName(dst)
	if kind == File || slices.Equal(had, has) {
		visit(first)
		return true
	}
	changes, ok := v.changes(had, has)
	if !ok {
		return false
	}
	seen := map[held]bool{}
	for queue := []held{first}; len(queue) > 0; queue = queue[1:] {
		h := queue[0]
		if seen[h] {
			continue
		}
		seen[h] = true
		visit(h)
		for _, c := range changes {
			queue = append(queue, c.after(h, v.refs))
		}
	}
	return true
}

// byName are the rules by name that are about names below a place.
func (v *View) byName(at Location) []*byName {
	z := v.tree(at.Root)
	if z == nil {
		return nil
	}
	n, _ := z.find(at.Path)
	return n.byName
}

// held are the capabilities of a moved name before and after, and the references of the rules that decide.
type held struct {
	had, has     CapSet
	hadBy, hasBy int
}

// change is a name on the way down a moved directory: the rules that decide from there on before and after the move,
// -1 where none is about the name.
type change struct{ had, has int }

func (c change) after(h held, refs []ruleRef) held {
	if c.had >= 0 {
		h.had, h.hadBy = refs[c.had].caps, c.had
	}
	if c.has >= 0 {
		h.has, h.hasBy = refs[c.has].caps, c.has
	}
	return h
}

// changes lists the changes that names make, and is false where there are too many.
func (v *View) changes(had, has []*byName) ([]change, bool) {
	var lists [][]string
	for _, b := range slices.Concat(had, has) {
		list := v.rules[v.refs[b.ref].entry].Rule.Names
		if v.folds() {
			list = FoldNames(list)
		}
		lists = append(lists, list)
	}
	names, ok := NameClasses(lists, nil)
	var out []change
	for _, name := range names {
		out = append(out, change{last(had, name), last(has, name)})
	}
	return out, ok
}
