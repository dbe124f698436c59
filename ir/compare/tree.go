package compare

// tree is a partition: a node represents everything below it that is not below one of its
// children. The label is the difference of the policies there, its zero value none.
type tree[T any, L comparable] struct {
	item  T
	label L
	below []*tree[T, L]
}

// region is a largest connected part of a partition with the same label.
type region[T any, L comparable] struct {
	item   T
	label  L
	except []T
	// parts are all nodes of the region, the first of which is item.
	parts []T
}

// regions lists the parts that differ. It is the smallest such list of nodes: each begins where
// the label differs from the label above, and ends where it differs again.
func (t *tree[T, L]) regions() []region[T, L] {
	var none L
	return t.collect(none, nil)
}

func (t *tree[T, L]) collect(above L, part *region[T, L]) []region[T, L] {
	var none L
	var out []region[T, L]
	if t.label != above {
		if part != nil {
			part.except = append(part.except, t.item)
		}
		part = nil
		if t.label != none {
			part = &region[T, L]{item: t.item, label: t.label}
		}
	}
	if part != nil {
		part.parts = append(part.parts, t.item)
	}
	begins := part != nil && t.label != above
	for _, b := range t.below {
		out = append(out, b.collect(t.label, part)...)
	}
	if begins {
		out = append([]region[T, L]{*part}, out...)
	}
	return out
}
