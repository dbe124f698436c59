package ir_test

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestOneDirectoryOfTwoRoots: the place of a root was looked for with that root alone left out,
// so that of two external rules with one target each was the root around the other, and the
// name of their directory could be moved away in the root that it is in.
func TestOneDirectoryOfTwoRoots(t *testing.T) {
	tool := ir.NewTool("t")
	for _, name := range []string{"all", "one", "two"} {
		tool.FS = append(tool.FS, external(name, ir.All))
	}
	b := &ir.Bindings{Workspace: "/w", External: map[string]string{"all": "/data", "one": "/data/x", "two": "/data/x"}}
	at := ir.Location{Root: ir.Root{Kind: ir.External, Name: "all"}, Path: "x"}
	for _, name := range []string{"one", "two"} {
		if got := b.Outer(ir.Root{Kind: ir.External, Name: name}); got != at {
			t.Errorf("%s lies at %v, want %v", name, got, at)
		}
	}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: b})
	to := ir.Location{Root: at.Root, Path: "y"}
	if v.Decide(ir.Rename{Src: ir.Direct(at), Dst: ir.Direct(to), SrcKind: ir.Dir, DstKind: ir.Absent}).Allowed() {
		t.Error("the directory of two roots may be moved")
	}
}

func external(name string, caps ir.CapSet) ir.FSRule {
	at := ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}
	return ir.FSRule{Written: name, At: at, External: true, Caps: caps}
}
