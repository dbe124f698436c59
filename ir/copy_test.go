package ir_test

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestCopyToLeadingName: a copy makes a file, and so none at a name that leads to the path of a rule.
func TestCopyToLeadingName(t *testing.T) {
	v := ir.NewView(policy(t, ". rcu\nbuild/key"), ir.Linux, ir.Facts{})
	for dst, want := range map[string]ir.Reason{"build": ir.ReasonLeads, "other": ir.ReasonRule} {
		if got := v.Decide(ir.Copy{Src: in("a"), Dst: in(dst), DstKind: ir.Absent}); got.Reason != want {
			t.Errorf("to %s: got %v (%v), want %v", dst, got.Effect, got.Reason, want)
		}
	}
}
