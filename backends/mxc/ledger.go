package mxc

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

func (p *conversion) ledger() ir.Ledger {
	rows := ir.NewLedger(0)
	for _, c := range p.view.Cells() {
		rows.Add(c, ir.Levels{}, p.held(c))
	}
	return rows.Ledger()
}

func (p *conversion) held(c ir.Cell) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return backends.Stricter(whyAsk)
	}
	switch r := c.Rule.(type) {
	case *ir.FSRule:
		return backends.Names(p.view, c, p.rule(c, r), whyNames)
	case *ir.NetRule:
		if r.Listen {
			return backends.When(r.Allow, backends.Stricter(whyListen))
		}
		return backends.When(r.Allow && !p.opens(r), backends.Stricter(whyHost))
	case *ir.EnvRule:
		return backends.When(r.Read, backends.Stricter(whyValues))
	case *ir.CommandRule:
		return backends.Program(r, c.Aspect, whyArgs, whyEnvs)
	}
	switch c.Resource {
	case ir.FS:
		return backends.When(c.Aspect == ir.AspectRead || c.Aspect == ir.AspectExecute,
			backends.Weaker(ir.GapFSDefault, whyBase))
	case ir.Commands:
		return backends.When(c.Aspect == ir.AspectProgram && p.tool.Commands != nil,
			backends.Weaker(ir.GapCommandsProgram, whyPrograms))
	case ir.Limits:
		return backends.When(c.Limit != ir.LimitWallTime, backends.Unenforced(ir.GapOfLimit(c.Limit), whyLimit))
	case ir.Net, ir.Env, ir.Process:
	}
	return backends.Exact
}

// rule says how an aspect of a rule is held. Protected paths have one rule for all, and the
// capabilities that remain differ from place to place.
func (p *conversion) rule(c ir.Cell, r *ir.FSRule) ir.Held {
	if r.ByName() {
		return p.named(c)
	}
	if !r.Guards() {
		return p.file(c.ID, r.Caps, c.Aspect)
	}
	var all []ir.Held
	for _, root := range p.roots {
		root.WalkRoot(func(r *ir.Region) {
			if r.ID() == c.ID {
				all = append(all, p.file(c.ID, r.Caps, c.Aspect))
			}
		})
	}
	return backends.Join(all...)
}

// named says how an aspect of a rule by name is held: as the entries around it have it. A place may have an entry of
// its own where rules are written below a name.
func (p *conversion) named(c ir.Cell) ir.Held {
	all := []ir.Held{backends.Exact}
	for _, n := range p.byName[c.ID] {
		is := accessOf(n.Region.Caps)
		given := is.gives()
		if c.Aspect == ir.AspectSocket && is != denied {
			given = ir.All
		}
		all = append(all, n.Held(c.Aspect, given, whyByName, whyNoName))
		if c.Aspect == ir.AspectOthers && is != denied {
			all = append(all, ir.Because(ir.Assumed, "", whyMovedAway))
		}
	}
	for _, root := range p.roots {
		root.WalkRoot(func(r *ir.Region) {
			if r.ID() == c.ID {
				all = append(all, p.file(c.ID, r.Caps, c.Aspect))
			}
		})
	}
	return backends.Join(all...)
}

// gives are the capabilities that an entry gives.
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

// file says how an aspect of a rule with these capabilities is held.
func (p *conversion) file(id ir.RuleID, caps ir.CapSet, a ir.Aspect) ir.Held {
	is := accessOf(caps)
	narrowed := func(c ir.Capability) ir.Held {
		switch {
		case !caps.Has(c) || is == readWrite:
			return backends.Exact
		case is == denied:
			return backends.Stricter(whyUnread)
		default:
			return backends.Stricter(whyWhole)
		}
	}
	switch a {
	case ir.AspectRead:
		return backends.When(is == denied, backends.Stricter(whyMissing))
	case ir.AspectCreate:
		return narrowed(ir.Create)
	case ir.AspectUpdate, ir.AspectMetadata:
		return narrowed(ir.Update)
	case ir.AspectDelete:
		return narrowed(ir.Delete)
	case ir.AspectExecute:
		switch {
		case is != denied && !caps.Has(ir.Execute):
			return backends.Weaker(ir.GapFSPaths, whyExecute)
		case is == denied && caps.Has(ir.Execute):
			return backends.Stricter(whyUnread)
		default:
			return backends.Exact
		}
	case ir.AspectMove:
		return backends.Join(
			backends.When(is == readWrite && p.leads(id), backends.Weaker(ir.GapFSMove, whyMoves)),
			backends.When(is == readWrite && len(p.byName) > 0, backends.Weaker(ir.GapFSNames, whyBrings)))
	case ir.AspectSocket:
		switch {
		case is != denied && !caps.Has(ir.Update):
			return backends.Weaker(ir.GapFSPaths, whySocket)
		case is == denied && caps.Has(ir.Update):
			return backends.Stricter(whyUnread)
		default:
			return backends.Exact
		}
	case ir.AspectOthers:
		return backends.When(is != denied, ir.Because(ir.Assumed, "", whyMovedAway))
	default:
		return ir.Held{}
	}
}

// leads reports whether places with rules of their own lie in what a rule governs.
func (p *conversion) leads(rule ir.RuleID) bool {
	found := false
	for _, root := range p.roots {
		root.WalkRoot(func(r *ir.Region) { found = found || r.ID() == rule && len(r.Below) > 0 })
	}
	return found
}
