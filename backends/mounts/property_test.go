package mounts_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/mnt"
)

// entries are a plan's mounts as a program has them that mounts without execution or not.
func entries(p *mounts.Plan, noExec bool) []mnt.Entry {
	var out []mnt.Entry
	for _, m := range p.Mounts {
		e := mnt.Entry{Place: m.Place, Exists: m.Kind == mounts.Bind || m.Kind == mounts.Hide}
		if m.Kind == mounts.Bind {
			e.Gives = ir.Caps(ir.Read, ir.Execute)
			if m.Mode == mounts.ReadWrite {
				e.Gives = ir.All
			}
			if m.NoExec && noExec {
				e.Gives = e.Gives.Without(ir.Execute)
			}
		}
		out = append(out, e)
	}
	return out
}

// TestPlan: a plan's mounts permit the operations that the policy permits, or the ledger states the difference.
func TestPlan(t *testing.T) {
	seen := map[string]int{}
	irtest.Check(t, 4000, mnt.Cases, func(rt *rapid.T) {
		means := mounts.Means{NoExec: rapid.Bool().Draw(rt, "noexec")}
		mnt.Compare(rt, func(tool *ir.Tool, target backends.Target) mnt.Artifact {
			p := mounts.New(tool, target)
			return mnt.Artifact{View: p.View(), Entries: entries(p, means.NoExec), Ledger: p.Ledger(means)}
		}, seen)
	})
	irtest.Happened(t, seen, "alike", "mounts.whole", "mounts.starts", "mounts.late", "mounts.missing", "mounts.apart")
	irtest.Happened(t, seen, "mounts.unread", "mounts.own-name", "mounts.by-name", "mounts.no-name")
}
