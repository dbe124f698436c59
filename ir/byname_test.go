package ir_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestNamesUnpinNothing: a rule by name that leaves a protected path what its protection leaves, or less, does
// not let the tool move it, nor a directory that leads to it. A tool moved a layer of its own policy away, and
// other files into the place of .cargo/config.toml, since the rule and the protection agreed.
func TestNamesUnpinNothing(t *testing.T) {
	for _, rule := range []ir.FSRule{
		{Names: []string{"config*"}}, {Names: []string{"*.toml", "config"}, Caps: ir.Caps(ir.Read)},
		{Names: []string{"*"}, Caps: ir.Caps(ir.Read, ir.Execute)},
		{Names: []string{"a*", "c*", "h*"}, Caps: ir.Caps(ir.Read)}, {Names: []string{"*"}, Caps: ir.All},
	} {
		tool := ir.NewTool("t")
		rule.At = ir.In("")
		tool.FS = append(tool.FS, rule)
		for _, p := range []string{"sec/access.toml", "pkg/m/accessc.toml"} {
			tool.Protected = append(tool.Protected, ir.ProtectedPath{Path: p, Why: "test"})
		}
		v := ir.NewView(tool, ir.Linux, ir.Facts{})
		for dir := range strings.FieldsSeq(".cargo .git .git/info .jj sec pkg pkg/m .cargo/config.toml") {
			at := ir.Direct(ir.In(dir))
			for _, kind := range []ir.NodeKind{ir.Dir, ir.File} {
				for _, op := range []ir.Operation{
					ir.Rename{Src: at, Dst: ir.Direct(ir.In("elsewhere")), SrcKind: kind, DstKind: ir.Absent},
					ir.Rename{Src: ir.Direct(ir.In("elsewhere")), Dst: at, SrcKind: kind, DstKind: ir.Absent},
					ir.Exchange{A: at, B: ir.Direct(ir.In("elsewhere")), AKind: kind, BKind: kind},
				} {
					if v.Decide(op).Allowed() {
						t.Errorf("%v: %+v is permitted", rule.Names, op)
					}
				}
			}
		}
	}
}

// TestNoGainNamesTheRule: a move that is refused because of rules by name names the one that withholds or gives what
// would be gained. It named the rule on the new directory, also where that gives nothing.
func TestNoGainNamesTheRule(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Protects = false
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Write}, {At: ir.In("open"), Caps: ir.Write.With(ir.Read)},
		{At: ir.In("open"), Names: []string{"*.key"}, Caps: ir.Write},
		{At: ir.In("gives"), Names: []string{"*.txt"}, Caps: ir.Write.With(ir.Read)},
	}
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	for _, c := range []struct {
		src, dst string
		kind     ir.NodeKind
		rule     int
	}{
		{"open/a.key", "open/a", ir.File, 2}, {"a", "gives/a.txt", ir.File, 3}, {"a", "open/a", ir.File, 1},
		{"d", "gives/d", ir.Dir, 3}, {"gives/a", "open/a", ir.Dir, 1},
	} {
		got := v.Decide(ir.Rename{
			Src: ir.Direct(ir.In(c.src)), Dst: ir.Direct(ir.In(c.dst)), SrcKind: c.kind, DstKind: ir.Absent,
		})
		if got.Reason != ir.ReasonNoGain || got.Rule != &tool.FS[c.rule] || got.Need != ir.Read {
			t.Errorf("%s to %s: %s %s by %v, want rule %d", c.src, c.dst, got.Reason, got.Need, got.Rule, c.rule)
		}
	}
}
