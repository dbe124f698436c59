package ir_test

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestDescribe: the needs of an operation suffice on its places, and each of them is necessary.
func TestDescribe(t *testing.T) {
	a, b := ir.Direct(ir.In("a")), ir.Direct(ir.In("b"))
	ops := []ir.Operation{ir.Dial{On: a}, ir.Start{On: a}, ir.Start{On: a, Interpreter: &b}, ir.Link{Src: a, Dst: b}}
	for _, c := range ir.Capabilities {
		ops = append(ops, ir.Access{Cap: c, On: a})
	}
	for _, k := range []ir.NodeKind{ir.Absent, ir.File, ir.Dir, ir.Unknown} {
		ops = append(ops, ir.Copy{Src: a, Dst: b, DstKind: k}, ir.Rename{Src: a, Dst: b, DstKind: k}, ir.Exchange{A: a, B: b, AKind: k, BKind: k})
	}
	decide := func(op ir.Operation, caps ir.CapSet) bool {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{{At: ir.In(""), Caps: caps}}
		return ir.NewView(tool, ir.Linux, ir.Facts{Base: []ir.FSRule{}}).Decide(op).Allowed()
	}
	for _, op := range ops {
		var all ir.CapSet
		for _, needs := range ir.Describe(op).Needs {
			all |= needs
		}
		if !decide(op, all) {
			t.Errorf("%#v is denied with %s", op, all)
		}
		start, is := op.(ir.Start)
		for _, c := range all.List() {
			if forScripts := is && start.Interpreter == nil && c == ir.Read; decide(op, all.Without(c)) && !forScripts {
				t.Errorf("%#v is permitted without %s", op, c)
			}
		}
	}
	if d := ir.Describe(nil); d.Verb != "" || d.Places != nil {
		t.Errorf("no operation is described as %+v", d)
	}
}
