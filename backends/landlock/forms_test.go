package landlock_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestFormsAgree: the ledger and the trapped calls that a reviewer reads, of the portable form, are the same as of a
// host on which no root lies in another. Cause: a directory is around each root there, and every tool that may start
// files of the workspace had its starts and opens trapped for it.
func TestFormsAgree(t *testing.T) {
	host := ir.Facts{Bindings: &ir.Bindings{
		Workspace: "/ws/p", Home: "/state/h", Temp: "/run/t", External: map[string]string{irtest.Elsewhere.Name: "/users/u"},
	}}
	irtest.Check(t, 20000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		tool.LateOpen = rapid.Bool().Draw(rt, "late")
		for _, r := range tool.FS {
			if r.At.Root.Kind == ir.External && r.At.Root != irtest.Elsewhere {
				rt.Skip("a root that lies in another")
			}
		}
		portable, says, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		resolved, holds, err := landlock.Build(tool, backends.Target{Form: backends.Resolved, Facts: host})
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(says, holds) {
			rt.Fatalf("the ledgers differ:\n%+v\n%+v", says, holds)
		}
		if a, b := trapped(portable), trapped(resolved); !reflect.DeepEqual(a, b) {
			rt.Fatalf("the supervisors differ:\n%+v\n%+v", a, b)
		}
	})
}

// trapped is the supervision of an artifact without places.
func trapped(s *landlock.Spec) landlock.Supervision {
	if s.Supervision == nil {
		return landlock.Supervision{}
	}
	out := *s.Supervision
	out.Paths, out.Judged = nil, nil
	return out
}
