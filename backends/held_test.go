package backends_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestJoin: the weakest enforcement and its gap win, its causes come first, and each is there once.
func TestJoin(t *testing.T) {
	got := backends.Join(
		backends.Exact, backends.Stricter("a", "b"), backends.Weaker(ir.GapFSMove, "c"), backends.Stricter("b"), backends.Weaker(ir.GapFSCreate, "d"),
	)
	if want := ir.Because(ir.Weaker, ir.GapFSMove, "c", "d", "a", "b"); !got.Equal(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := backends.Join(); !got.Equal(backends.Exact) {
		t.Errorf("nothing joins to %+v", got)
	}
}

// TestEveryCellOnce: the cells of a view have each rule with each aspect that it has once.
func TestEveryCellOnce(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Net, tool.Limits = []ir.NetRule{{}, {}, {Listen: true}}, []ir.Limit{{Kind: ir.LimitMemory}}
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "make"}}}
	cells := ir.NewView(tool, ir.Linux, ir.Facts{}).Cells()
	count := map[ir.Resource]int{}
	for i, c := range cells {
		count[c.Resource]++
		same := func(o ir.Cell) bool { return o.Resource == c.Resource && o.ID == c.ID && o.Aspect == c.Aspect }
		if slices.ContainsFunc(cells[:i], same) {
			t.Errorf("%+v twice", c)
		}
	}
	// A rule of the network is about connecting or about listening; the default is about both.
	want := map[ir.Resource]int{ir.Net: len(tool.Net) + 2, ir.Env: len(tool.Env) + 1, ir.Commands: 2 * 3, ir.Limits: 1, ir.Process: 1}
	for r, n := range want {
		if count[r] != n {
			t.Errorf("%d cells of %s", count[r], r)
		}
	}
}
