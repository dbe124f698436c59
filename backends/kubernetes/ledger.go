package kubernetes

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// ledger is about pods on any node, and so about no platform.
func (c *conversion) ledger() ir.Ledger {
	rows := ir.NewLedger(0)
	for _, cell := range c.view.Cells() {
		rows.Add(cell, ir.Levels{}, c.held(cell))
	}
	return rows.Ledger()
}

func (c *conversion) held(cell ir.Cell) ir.Held {
	if cell.Aspect == ir.AspectAsk {
		return backends.Stricter(whyAsk)
	}
	switch r := cell.Rule.(type) {
	case *ir.FSRule:
		held := c.rule(cell, r)
		if c.writes() {
			held = backends.Names(c.view, cell, held, whyNames)
		}
		return held
	case *ir.NetRule:
		if r.Listen {
			return c.listener(r)
		}
		return c.connection(r)
	case *ir.EnvRule:
		return backends.When(r.Read && !c.sets(r), backends.Stricter(whyValues))
	case *ir.CommandRule:
		return backends.Program(r, cell.Aspect, whyArgs, whyEnvs)
	}
	switch cell.Resource {
	case ir.FS:
		return outside(cell)
	case ir.Net:
		if cell.Aspect == ir.AspectListen {
			return backends.Weaker(ir.GapNetListen, whyLoopback, whyNode, whyPlugin, whyUnion)
		}
		return backends.Weaker(ir.GapNetDefault, whyLoopback, whyNode, whyPlugin, whyUnion)
	case ir.Env:
		return ir.Because(ir.Assumed, "", whyVariables)
	case ir.Commands:
		return backends.When(cell.Aspect == ir.AspectProgram && c.tool.Commands != nil,
			backends.Weaker(ir.GapCommandsProgram, whyPrograms))
	case ir.Limits:
		return c.limits(cell.Limit)
	case ir.Process:
		return backends.Exact
	default:
		return ir.Held{}
	}
}

func (c *conversion) limits(k ir.LimitKind) ir.Held {
	switch {
	case k == ir.LimitMemory:
		return backends.Exact
	case k == ir.LimitWallTime && c.deadline() > 0:
		return backends.Stricter(whyDeadline)
	default:
		return backends.Unenforced(ir.GapOfLimit(k), whyLimit)
	}
}

// outside says how the base as a whole, and all that no rule is about, are held: they are the image.
func outside(cell ir.Cell) ir.Held {
	switch cell.Aspect {
	case ir.AspectRead, ir.AspectExecute:
		if cell.ID == ir.BaseRule {
			return ir.Because(ir.Assumed, "", whyImage)
		}
		return backends.Weaker(ir.GapFSDefault, whyReadable)
	case ir.AspectMove:
		return backends.Exact
	case ir.AspectOthers:
		return backends.When(cell.ID == ir.BaseRule, ir.Because(ir.Assumed, "", whyImage))
	case ir.AspectSocket:
		return backends.Weaker(ir.GapFSSocket, whySocket)
	default:
		return backends.Weaker(ir.GapFSDefault, whyShared)
	}
}

// rule says how an aspect of a rule on files is held in all of its regions.
func (c *conversion) rule(cell ir.Cell, r *ir.FSRule) ir.Held {
	if cell.Aspect == ir.AspectOthers {
		return backends.When(r.Caps != 0, ir.Because(ir.Assumed, "", whyPlaces))
	}
	held := []ir.Held{backends.Exact}
	for _, region := range c.byRule[cell.ID] {
		if !region.Link && !region.Through {
			held = append(held, c.file(region, cell.Aspect))
		}
	}
	for _, n := range c.byName[cell.ID] {
		is := c.kind(n.Region)
		given := is.gives()
		if cell.Aspect == ir.AspectSocket && is != denied {
			given = ir.All
		}
		held = append(held, n.Held(cell.Aspect, given, whyByName, whyNoName))
		held = append(held, backends.When(cell.Aspect == ir.AspectMove && is == readWrite,
			backends.Stricter(whyMounts)))
	}
	return backends.Join(held...)
}

// gives are the capabilities that a mount gives.
func (a access) gives() ir.CapSet {
	switch a {
	case readWrite:
		return ir.All
	case readOnly:
		return ir.Caps(ir.Read, ir.Execute)
	case denied:
	}
	return 0
}

// file says how an aspect is held in a region.
func (c *conversion) file(r *ir.Region, a ir.Aspect) ir.Held {
	is, closed := c.kind(r), c.unused(r)
	written := func(capability ir.Capability) ir.Held {
		switch {
		case is == readWrite && !r.Caps.Has(capability):
			return backends.Weaker(ir.GapFSProtected, whyProtected)
		case is == readWrite || !r.Caps.Has(capability):
			return backends.Exact
		case is == denied:
			return backends.Stricter(closed)
		case accessOf(r.Caps) == readWrite:
			return backends.Stricter(whyGuards)
		default:
			return backends.Stricter(whyWhole)
		}
	}
	reaches := func(capability ir.Capability, gap ir.Gap, why ir.CauseID) ir.Held {
		switch {
		case is != denied && !r.Caps.Has(capability):
			return backends.Weaker(gap, why)
		case is == denied && r.Caps.Has(capability):
			return backends.Stricter(closed)
		default:
			return backends.Exact
		}
	}
	switch a {
	case ir.AspectRead:
		return backends.Join(backends.When(is == denied && r.Caps.Has(ir.Read), backends.Stricter(closed)),
			backends.When(is == denied && c.mounted[r], backends.Stricter(whyClosed)))
	case ir.AspectCreate:
		return written(ir.Create)
	case ir.AspectUpdate, ir.AspectMetadata:
		return written(ir.Update)
	case ir.AspectDelete:
		return written(ir.Delete)
	case ir.AspectExecute:
		return reaches(ir.Execute, ir.GapFSExecute, whyExecute)
	case ir.AspectSocket:
		return reaches(ir.Update, ir.GapFSSocket, whySocket)
	case ir.AspectMove:
		return backends.When(is == readWrite, c.move(r))
	default:
		return ir.Held{}
	}
}

// unused is the reason why a granted place is closed.
func (c *conversion) unused(r *ir.Region) ir.CauseID {
	if mountPath(r.At.Root.Kind) == "" {
		return whyExternal
	}
	return whyUnread
}

// move says how moves within a writable region, and out of it, are held: every mount is another file system to a
// rename, and names in a mount that lead to a rule are not pinned.
func (c *conversion) move(r *ir.Region) ir.Held {
	gains := slices.ContainsFunc(r.Below, func(b *ir.Region) bool {
		return c.kind(b) == readWrite && b.Caps != r.Caps
	}) ||
		r.Above != nil && c.kind(r.Above) == readWrite && r.Above.Caps != r.Caps
	return backends.Join(backends.When(len(r.Below) > 0 || gains, backends.Weaker(ir.GapFSMove, whyMoves)),
		backends.When(len(c.byName) > 0, backends.Weaker(ir.GapFSNames, whyBrings)), backends.Stricter(whyMounts))
}
