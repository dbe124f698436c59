package oci

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/ir"
)

// apartLedger says how a container without accessc holds every cell: as the mounts do, but for the
// files of the image, and the filter and the control group that the runtime is asked for.
func apartLedger(plan *mounts.Plan, t *ir.Tool) ir.Ledger {
	held := map[cellKey]ir.Held{}
	means := mounts.Means{
		NoExec: true, NoSockets: true, NewSession: true, OwnProcesses: true, Forwards: true, Limit: apartLimit,
	}
	for _, row := range plan.Ledger(means) {
		for _, id := range row.Rules {
			for _, a := range row.Aspects {
				held[cellKey{row.Resource, id, a}] = row.Held
			}
		}
	}
	w := apartWriter{tool: t, linked: slices.ContainsFunc(plan.Mounts, func(m mounts.Mount) bool {
		return m.Kind == mounts.Link
	})}
	rows := ir.NewLedger(0)
	for _, c := range plan.View().Cells() {
		rows.Add(c, ir.Levels{}, w.changed(c, held[cellKey{c.Resource, c.ID, c.Aspect}]))
	}
	return rows.Ledger()
}

type apartWriter struct {
	tool *ir.Tool
	// linked is true where the plan has symlinks, which no mount makes.
	linked bool
}

func (w apartWriter) changed(c ir.Cell, held ir.Held) ir.Held {
	filter := ir.Because(ir.Assumed, "", whyFilter)
	switch c.Resource {
	case ir.Net:
		return backends.Join(held, filter)
	case ir.FS:
		all := []ir.Held{held, backends.When(c.Aspect == ir.AspectSocket, filter)}
		r, ok := c.Rule.(*ir.FSRule)
		if ok && movable(r.At) {
			all = append(all, ir.Because(ir.Assumed, "", whyMoved))
		}
		if ok && r.External {
			all = append(all, backends.When(c.Aspect == ir.AspectOthers, ir.Because(ir.Assumed, "", whyApproved)))
			all = append(all, backends.When(w.linked && c.Aspect != ir.AspectOthers, backends.Stricter(whyLink)))
		}
		return backends.Join(append(all, w.ofImage(c))...)
	case ir.Env, ir.Commands, ir.Limits, ir.Process:
	}
	return held
}

// movable reports whether tools of other policies may have write access around a place.
func movable(at ir.Location) bool {
	return at.Path != "" && (at.Root.Kind == ir.Workspace || at.Root.Kind == ir.External)
}

// ofImage says how an image changes a cell: the container has its files, for everything but writing.
func (w apartWriter) ofImage(c ir.Cell) ir.Held {
	reads := c.Aspect == ir.AspectRead || c.Aspect == ir.AspectExecute
	switch {
	case c.ID == ir.BaseRule && reads:
		return backends.Stricter(whyImage)
	case c.ID == ir.DefaultRule && reads:
		return backends.Weaker(ir.GapFSDefault, whyWhole)
	case c.ID == ir.DefaultRule && c.Aspect == ir.AspectUpdate && w.tool.Base != ir.BaseSystem:
		return backends.Weaker(ir.GapFSDefault, whyDevices)
	}
	return backends.Exact
}

// apartLimit says how a limit is held.
func apartLimit(k ir.LimitKind) ir.Held {
	if ofGroup(k) {
		return ir.Because(ir.Assumed, "", whyGroup)
	}
	return mounts.Rlimits(k)
}
