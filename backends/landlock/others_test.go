package landlock_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestDescriptorsAreAssumed: a rule by which a tool can hold a file open is an assumption about
// moves by others. Cause: the row was exact where every call is judged, but a descriptor that was
// opened in pub wrote its file after another process had moved that to ro.
func TestDescriptorsAreAssumed(t *testing.T) {
	at := func(path string, caps ...ir.Capability) ir.FSRule {
		return ir.FSRule{At: ir.In(path), Caps: ir.Caps(caps...)}
	}
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{
		at("", ir.Read, ir.Create, ir.Update, ir.Delete), at("ro", ir.Read), at("drop", ir.Create), at("std", ir.Update), at("none"),
		at("gone", ir.Delete), at("bin", ir.Execute),
	}
	_, ledger, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	for i, held := range []bool{true, true, true, true, false, false, false} {
		cell, _ := ledger.Cell(ir.FS, ir.FSRuleID(i), ir.AspectOthers, ir.Linux, landlock.MaxABI)
		causes := slices.ContainsFunc(cell.Causes, func(c ir.Cause) bool { return c.ID == "landlock.held" })
		if causes != held || held && cell.Is != ir.Assumed {
			t.Errorf("%s: %s, %v", tool.FS[i].At.Short(), cell.Is, cell.Causes)
		}
	}
}
