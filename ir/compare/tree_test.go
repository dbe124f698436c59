package compare

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

type labelTree = tree[int, int]

// TestRegionsAreFewest: the result of regions is exact, and no smaller list of nodes, each without some lower nodes,
// describes the same.
func TestRegionsAreFewest(t *testing.T) {
	irtest.Check(t, 20000, 1, func(rt *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(rt, "nodes")
		nodes, above := make([]*labelTree, n), make([]int, n)
		for i := range nodes {
			nodes[i] = &labelTree{item: i, label: rapid.IntRange(0, 2).Draw(rt, "label")}
			if above[i] = -1; i > 0 {
				above[i] = rapid.IntRange(0, i-1).Draw(rt, "above")
				nodes[above[i]].below = append(nodes[above[i]].below, nodes[i])
			}
		}
		under := func(i, top int) bool {
			for ; i >= 0; i = above[i] {
				if i == top {
					return true
				}
			}
			return false
		}
		covered := make([]int, n)
		all := nodes[0].regions()
		for _, r := range all {
			for i := range nodes {
				if under(i, r.item) && !slices.ContainsFunc(r.except, func(e int) bool { return under(i, e) }) {
					if covered[i] != 0 {
						rt.Fatalf("two regions hold %d", i)
					}
					covered[i] = r.label
				}
			}
		}
		for i, node := range nodes {
			if covered[i] != node.label {
				rt.Fatalf("%d is told as %d, it is %d", i, covered[i], node.label)
			}
		}
		if few := fewest(nodes, under); len(all) != few {
			rt.Fatalf("%d regions, %d are enough", len(all), few)
		}
	})
}

// fewest tries all sets of regions, as bits of nodes, without looking at how they lie.
func fewest(nodes []*labelTree, under func(i, top int) bool) int {
	candidates := map[int]bool{}
	for top := range nodes {
		for except := range 1 << len(nodes) {
			cells, one := 0, true
			for i := range nodes {
				left := !under(i, top)
				for e := range nodes {
					left = left || except>>e&1 == 1 && under(i, e)
				}
				if !left {
					cells |= 1 << i
					one = one && nodes[i].label == nodes[top].label
				}
			}
			if one && cells != 0 && nodes[top].label != 0 {
				candidates[cells] = true
			}
		}
	}
	want := 0
	for i, n := range nodes {
		if n.label != 0 {
			want |= 1 << i
		}
	}
	best := map[int]int{0: 0}
	for reached := []int{0}; len(reached) > 0; {
		var next []int
		for _, have := range reached {
			for c := range candidates {
				if _, known := best[have|c]; !known {
					best[have|c] = best[have] + 1
					next = append(next, have|c)
				}
			}
		}
		reached = next
	}
	return best[want]
}
