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

// TestEveryCellOnce: the cells of a view have each rule of each resource with each aspect once.
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
	// A rule of net is about connecting or listening, the default about both.
	if count[ir.Net] != len(tool.Net)+len(ir.Aspects(ir.Net)) {
		t.Errorf("%d cells of net", count[ir.Net])
	}
	for r, rules := range map[ir.Resource]int{ir.Env: len(tool.Env) + 1, ir.Commands: 2, ir.Limits: 1, ir.Process: 1} {
		if count[r] != rules*len(ir.Aspects(r)) {
			t.Errorf("%d cells of %s", count[r], r)
		}
	}
}
