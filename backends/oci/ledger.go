package oci

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// cellKey is a cell in the ledger of Landlock.
type cellKey struct {
	resource ir.Resource
	id       ir.RuleID
	aspect   ir.Aspect
}

// ledger says how the container holds every cell of a view: as the specification inside does, but
// for the cells that the container changes.
func ledger(v *ir.View, inside ir.Ledger) ir.Ledger {
	by := map[cellKey][]*ir.Row{}
	for i := range inside {
		row := &inside[i]
		for _, id := range row.Rules {
			for _, a := range row.Aspects {
				key := cellKey{row.Resource, id, a}
				by[key] = append(by[key], row)
			}
		}
	}
	rows := ir.NewLedger(ir.Linux)
	for _, c := range v.Cells() {
		if c.Resource == ir.Limits && ofGroup(c.Limit) {
			// The control group counts whatever kernel there is, but nothing starts without Landlock.
			rows.Add(c, ir.Levels{To: landlock.MaxABI}, ir.Because(ir.Assumed, "", whyGroup, whyCounted))
			continue
		}
		for _, row := range by[cellKey{c.Resource, c.ID, c.Aspect}] {
			held := row.Held
			if row.Levels.To > 0 {
				held = changed(c, held)
			}
			rows.Add(c, row.Levels, held)
		}
	}
	return rows.Ledger()
}

// changed says how a cell that Landlock holds is held in the container.
func changed(c ir.Cell, held ir.Held) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return backends.Stricter(whyAsk)
	}
	switch r := c.Rule.(type) {
	case *ir.FSRule:
		if r.External && c.Aspect == ir.AspectOthers {
			return backends.Join(held, ir.Because(ir.Assumed, "", whyApproved))
		}
	case *ir.EnvRule:
		if r.Read && slices.ContainsFunc(goVariables,
			func(name string) bool { return name == r.Name || r.Prefix && strings.HasPrefix(name, r.Name) }) {
			return backends.Join(held, backends.Stricter(whyRuntime))
		}
	case *ir.CommandRule:
		if c.Aspect == ir.AspectProgram {
			return backends.Join(held, backends.Stricter(whyPrograms))
		}
	case *ir.NetRule: // as inside
	}
	switch {
	case c.ID == ir.BaseRule && (c.Aspect == ir.AspectRead || c.Aspect == ir.AspectExecute):
		return backends.Join(held, backends.Stricter(whyImage))
	case c.Resource == ir.Process:
		return backends.Exact
	}
	return held
}
