// Package merge implements the laws by which lists of several layers become one, and nothing
// else: no parsing, no diagnostics, no knowledge of the items.
//
// A list is kept as an edit: the items before and after the list that it will be merged over.
// Merging is therefore associative: layers may be joined in any grouping, as long as their
// order stays and none of them is a mere default.
package merge

// Tri is a switch that can be left unset.
type Tri uint8

// The positions of a Tri.
const (
	Unset Tri = iota
	On
	Off
)

// List is a layer's part of a list of items, or several layers' merged.
type List[T any] struct {
	// Before and After are the items in front of and behind the items of the layers below.
	Before, After []T
	// Replace drops the items of the layers below.
	Replace bool
	// Stated is true when the layer wrote a strategy: an empty list with a strategy is a list, an empty list without is
	// none.
	Stated bool
	// Dedup drops later items that equal an earlier item.
	Dedup Tri
	// Default marks a value that gives way to any later value.
	Default bool
}

// Absent reports whether the layer does not mention the list at all.
func (l List[T]) Absent() bool {
	return len(l.Before) == 0 && len(l.After) == 0 && !l.Replace && !l.Stated && l.Dedup == Unset && !l.Default
}

// Items returns the list when nothing is below it.
func (l List[T]) Items() []T { return concat(l.Before, l.After) }

// Drop is an item that dedup took out.
type Drop[T any] struct {
	// Item is the item that was taken out.
	Item T
	// Index is its position in List.
	Index int
	// Kept is the position in List of the item that it equals.
	Kept int
	// List is the list before anything was taken out.
	List []T
}

// Over merges next over prev. Two items are equal if their keys are. key is called only where
// dedup is in force.
func Over[T any, K comparable](prev, next List[T], key func(T) K) (List[T], []Drop[T]) {
	if next.Absent() {
		return prev, nil
	}
	out := next
	if next.Dedup == Unset {
		out.Dedup = prev.Dedup
	}
	if !prev.Default && !next.Replace {
		out.Before = concat(next.Before, prev.Before)
		out.After = concat(prev.After, next.After)
		out.Replace = prev.Replace
		out.Stated = prev.Stated || next.Stated
	}
	if out.Dedup != On {
		return out, nil
	}
	return dedup(out, key)
}

// dedup drops later equal items over both halves, order kept.
func dedup[T any, K comparable](l List[T], key func(T) K) (List[T], []Drop[T]) {
	all := l.Items()
	out := l
	out.Before, out.After = nil, nil
	seen := make(map[K]int, len(all))
	var drops []Drop[T]
	for i, item := range all {
		k := key(item)
		if j, ok := seen[k]; ok {
			drops = append(drops, Drop[T]{item, i, j, all})
			continue
		}
		seen[k] = i
		if i < len(l.Before) {
			out.Before = append(out.Before, item)
		} else {
			out.After = append(out.After, item)
		}
	}
	return out, drops
}

func concat[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	return append(append(make([]T, 0, len(a)+len(b)), a...), b...)
}
