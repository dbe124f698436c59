package ir_test

import (
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestFoldNames: a folded pattern matches with regard to case what the pattern matches without, as a policy for macOS
// has it.
func TestFoldNames(t *testing.T) {
	patterns := append([]string{"[^A]", "[!a-y]", `[\]a]`, "k*", "[^kK]", "s?", "Ü", "[Ä-Ö]", "[\u4e00-\u9fff]"},
		irtest.Patterns...)
	names := append([]string{"A", "x", "z", "K", "\u212a", "ſx", "SX", "ü", "Ü", "ä", "Ø", "]", "\u4e00"},
		irtest.Names...)
	for _, p := range patterns {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{{At: ir.In(""), Names: []string{p}, Caps: ir.All}}
		view := ir.NewView(tool, ir.Darwin, ir.Facts{})
		for _, name := range names {
			want := view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(name))}).Allowed()
			if got := ir.MatchNames(ir.FoldNames([]string{p}), name); got != want {
				t.Errorf("%s on %q: %v, want %v", p, name, got, want)
			}
		}
	}
}

// TestMovesFolded: a directory is moved on macOS only where no name in it would permit more, in either case. The names
// that stood for all came from a system that tells the cases apart: "a" stood for the names that [^a] is not about,
// which it is about there.
func TestMovesFolded(t *testing.T) {
	named := func(at string, caps ir.CapSet, names ...string) ir.FSRule {
		return ir.FSRule{At: ir.In(at), Names: names, Caps: caps}
	}
	tool, moves := ir.NewTool("t"), ir.Caps(ir.Create, ir.Delete)
	tool.FS = []ir.FSRule{
		named("p", moves, "*"), named("q", ir.All, "*"), named("q", 0, "[^a]"), named("q", moves, "dir"),
	}
	view := ir.NewView(tool, ir.Darwin, ir.Facts{})
	move := view.Decide(ir.Rename{Src: ir.Direct(ir.In("p/dir")), Dst: ir.Direct(ir.In("q/dir")), SrcKind: ir.Dir,
		DstKind: ir.Absent})
	if move.Allowed() || move.Reason != ir.ReasonNoGain {
		t.Errorf("a directory with xy, which gains %v by the move: %+v",
			view.Decide(ir.Access{On: ir.Direct(ir.In("q/dir/xy"))}), move)
	}
}
