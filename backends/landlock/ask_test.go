package landlock

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestAskWidensNoRuleset: the list "may" changes nothing in the kernel's part of a start, and only
// the policy that the supervisor judges by has it.
func TestAskWidensNoRuleset(t *testing.T) {
	target := backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{
		Workspace: "/w", Home: "/h", Temp: "/t",
	}}}
	asked := func(may []ir.FSRule) *Spec {
		tool := ir.NewTool("t")
		tool.Declared.FS = true
		tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("secrets")}}
		tool.May = may
		s, _, err := Build(tool, target)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ask(tool, target); err != nil {
			t.Fatal(err)
		}
		return s
	}
	with := asked([]ir.FSRule{{Written: "secrets", At: ir.In("secrets"), Caps: ir.All}, {At: ir.In("out"), Caps: ir.All}})
	without := asked(nil)
	if !strings.Contains(string(with.Supervision.Judged.Policy), `"may"`) || strings.Contains(string(without.Supervision.Judged.Policy), `"may"`) {
		t.Error("the supervisor does not learn what can be granted")
	}
	j := with.Supervision.Judges
	if !j.Reads || !j.Updates || !j.Names || !j.Starts || !slices.Contains(with.Supervision.Replaces, "truncate") {
		t.Errorf("not every call is judged: %+v", with.Supervision)
	}
	with.Supervision.Judged, without.Supervision.Judged = nil, nil
	if !reflect.DeepEqual(with, without) {
		t.Error("the ruleset or the filter differ")
	}
}
