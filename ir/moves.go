package ir

import "slices"

// gain are the capabilities that a moved file has more at its new place, or a moved directory or anything that
// may be in it.
// See decision D470.
func (v *View) gain(src, dst Location, kind NodeKind) CapSet {
	from, to := v.caps(src), v.caps(dst)
	gain := to &^ from
	had, has := v.byName(src), v.byName(dst)
	if kind == File || slices.Equal(had, has) {
		return gain
	}
	seen := map[held]bool{}
	queue := []held{{from, to}}
	changes, ok := v.changes(had, has)
	if !ok {
		return All
	}
	for len(queue) > 0 {
		h := queue[0]
		queue = queue[1:]
		if seen[h] {
			continue
		}
		seen[h] = true
		gain |= h.has &^ h.had
		for _, c := range changes {
			queue = append(queue, c.after(h, v.refs))
		}
	}
	return gain
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

// held are the capabilities of a moved name before and after.
type held struct{ had, has CapSet }

// change is a name on the way down a moved directory: the rules that decide from there on before and after the move,
// -1 where none is about the name.
type change struct{ had, has int }

func (c change) after(h held, refs []ruleRef) held {
	if c.had >= 0 {
		h.had = refs[c.had].caps
	}
	if c.has >= 0 {
		h.has = refs[c.has].caps
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
