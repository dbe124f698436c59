package merge_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/test/irtest"
)

type list = merge.List[int]

func over(prev, next list) list {
	out, _ := merge.Over(prev, next, func(i int) int { return i })
	return out
}

// TestLaws is the merge laws as a table.
func TestLaws(t *testing.T) {
	plain := func(is ...int) list { return list{After: is} }
	tests := []struct {
		name       string
		prev, next list
		want       []int
		dedup      merge.Tri
		isDefault  bool
	}{
		{"append", plain(1, 2), plain(3), []int{1, 2, 3}, merge.Unset, false},
		{"prepend", plain(1, 2), list{Before: []int{3}, Stated: true}, []int{3, 1, 2}, merge.Unset, false},
		{"replace", plain(1, 2), list{After: []int{3}, Replace: true}, []int{3}, merge.Unset, false},
		{"an empty array is absent", plain(1), list{}, []int{1}, merge.Unset, false},
		{"an empty array over a default is absent, too", list{After: []int{1}, Default: true}, list{}, []int{1}, merge.Unset, true},
		{"a stated empty append is a list", plain(1), list{Stated: true}, []int{1}, merge.Unset, false},
		{"a default gives way whole", list{After: []int{1}, Default: true}, plain(2), []int{2}, merge.Unset, false},
		{"a default gives way to a prepend", list{After: []int{1}, Default: true}, list{Before: []int{2}}, []int{2}, merge.Unset, false},
		{"a default gives way to a stated empty list", list{After: []int{1}, Default: true}, list{Stated: true}, nil, merge.Unset, false},
		{"next decides whether it is a default", plain(1), list{After: []int{2}, Default: true}, []int{1, 2}, merge.Unset, true},
		{"a plain array is none", list{After: []int{1}}, plain(2), []int{1, 2}, merge.Unset, false},
		{"dedup drops later ones", plain(1, 2, 1), list{After: []int{2, 3}, Dedup: merge.On}, []int{1, 2, 3}, merge.On, false},
		{"dedup is sticky", list{After: []int{1}, Dedup: merge.On}, plain(1, 2), []int{1, 2}, merge.On, false},
		{"dedup can be switched off", list{After: []int{1}, Dedup: merge.On}, list{After: []int{1}, Dedup: merge.Off}, []int{1, 1}, merge.Off, false},
		{"dedup over a prepend keeps the first", plain(1, 2), list{Before: []int{2}, Dedup: merge.On}, []int{2, 1}, merge.On, false},
		{"dedup of a replaced default", list{After: []int{9}, Default: true, Dedup: merge.On}, plain(1, 1), []int{1}, merge.On, false},
		{"only dedup", plain(1, 1), list{Dedup: merge.On}, []int{1}, merge.On, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := over(tt.prev, tt.next)
			if !slices.Equal(got.Items(), tt.want) || got.Dedup != tt.dedup || got.Default != tt.isDefault {
				t.Errorf("got %v, dedup %v, default %v; want %v, %v, %v",
					got.Items(), got.Dedup, got.Default, tt.want, tt.dedup, tt.isDefault)
			}
		})
	}
}

// drawList generates a layer that is no default. Dedup is switched on or left as it is:
// switching it off again forgets the dropped items, in any grouping.
func drawList(t *rapid.T, name string) list {
	items := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(t, name)
	l := list{Dedup: rapid.SampledFrom([]merge.Tri{merge.Unset, merge.On}).Draw(t, name+" dedup")}
	switch rapid.IntRange(0, 3).Draw(t, name+" strategy") {
	case 0:
		l.Before, l.Stated = items, true
	case 1:
		l.After, l.Replace = items, true
	case 2:
		l.After, l.Stated = items, true
	default:
		l.After = items
	}
	return l
}

// TestAssociative: layers may be joined in any grouping.
func TestAssociative(t *testing.T) {
	irtest.Check(t, 50_000, 1, func(rt *rapid.T) {
		a, b, c := drawList(rt, "a"), drawList(rt, "b"), drawList(rt, "c")
		left, right := over(over(a, b), c), over(a, over(b, c))
		if !slices.Equal(left.Items(), right.Items()) || left.Dedup != right.Dedup || left.Replace != right.Replace {
			rt.Fatalf("%+v, %+v, %+v:\n(ab)c = %+v\na(bc) = %+v", a, b, c, left, right)
		}
	})
}

// TestIdentity: an empty layer changes nothing.
func TestIdentity(t *testing.T) {
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		a := drawList(rt, "a")
		if got := over(a, list{}); !slices.Equal(got.Items(), a.Items()) || got.Dedup != a.Dedup {
			rt.Fatalf("%+v became %+v", a, got)
		}
	})
}

// TestOrder: under all strategies the items of one layer keep their order.
func TestOrder(t *testing.T) {
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		merged := list{}
		for layer := range rapid.IntRange(1, 4).Draw(rt, "layers") {
			l := list{Stated: true}
			items := []int{layer * 10, layer*10 + 1, layer*10 + 2}
			if rapid.Bool().Draw(rt, "prepend") {
				l.Before = items
			} else {
				l.After = items
			}
			merged = over(merged, l)
		}
		last := map[int]int{}
		for _, item := range merged.Items() {
			if prev, ok := last[item/10]; ok && prev > item {
				rt.Fatalf("%d stands behind %d in %v", item, prev, merged.Items())
			}
			last[item/10] = item
		}
	})
}

// TestDrops: an item that dedup took out is reported with its position and the item that it
// equals.
func TestDrops(t *testing.T) {
	_, drops := merge.Over(list{After: []int{1, 2}}, list{After: []int{3, 1}, Dedup: merge.On}, func(i int) int { return i })
	if len(drops) != 1 || drops[0].Item != 1 || drops[0].Index != 3 || drops[0].Kept != 0 || !slices.Equal(drops[0].List, []int{1, 2, 3, 1}) {
		t.Errorf("got %+v", drops)
	}
}
