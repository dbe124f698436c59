package landlock_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestUndo: a tool whose changes can be undone has a supervisor, which sees every open and every call on names, and a
// ruleset that lets it change nothing in the workspace by itself, so that no change passes the keeping of originals.
func TestUndo(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{Written: ".", At: ir.In(""), Caps: ir.All}}
	places := &ir.Bindings{Workspace: "/ws", Home: "/home"}
	target := backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: places}}
	build := func() *landlock.Supervision {
		s, _, err := landlock.Build(tool, target)
		if err != nil {
			t.Fatal(err)
		}
		return s.Supervision
	}
	if s := build(); s != nil && s.Undo {
		t.Error("originals are kept without being asked for")
	}
	tool.Undo = true
	s := build()
	if s == nil || !s.Undo || !s.Judges.Names || !s.Judges.Updates {
		t.Fatalf("%+v", s)
	}
	for _, group := range []string{"open", "truncate", "names", "moves", "metadata"} {
		if !s.Answers(group) {
			t.Errorf("no call of %s is answered", group)
		}
	}
	for _, p := range s.Paths {
		for _, r := range []landlock.Right{
			landlock.WriteFile, landlock.Truncate, landlock.RemoveFile, landlock.RemoveDir, landlock.MakeReg, landlock.MakeDir,
			landlock.MakeSym, landlock.MakeFifo, landlock.MakeSock,
		} {
			if p.Path == "/ws" && slices.Contains(p.Access, r) {
				t.Errorf("the ruleset grants %s", r)
			}
		}
	}
}
