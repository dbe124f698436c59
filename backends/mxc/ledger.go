package mxc

import "github.com/accessc/accessc/ir"

var exact = ir.Held{Is: ir.Exact}

func stricter(why ...ir.CauseID) ir.Held { return ir.Because(ir.Stricter, "", why...) }

func weaker(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Weaker, gap, why...) }

func either(applies bool, h ir.Held) ir.Held {
	if applies {
		return h
	}
	return exact
}

func (p *conversion) ledger() ir.Ledger {
	b := ir.NewLedger(0)
	add := func(r ir.Resource, rule ir.RuleID, a ir.Aspect, h ir.Held) { b.Add(r, rule, a, ir.Levels{}, h) }
	for _, e := range p.view.Stated() {
		for _, a := range ir.Aspects(ir.FS) {
			add(ir.FS, e.ID, a, p.file(e, a))
		}
	}
	for _, a := range ir.Aspects(ir.FS) {
		add(ir.FS, ir.DefaultRule, a, either(a == ir.AspectRead || a == ir.AspectExecute, weaker(ir.GapFSDefault, whyBase)))
	}
	for i := range p.tool.Net {
		r := &p.tool.Net[i]
		add(ir.Net, ir.NetRuleID(i), ir.AspectConnect, either(r.Allow && !p.opens(r), stricter(whyHost)))
	}
	add(ir.Net, ir.DefaultRule, ir.AspectConnect, exact)
	for i := range p.tool.Env {
		add(ir.Env, ir.EnvRuleID(i), ir.AspectForward, either(p.tool.Env[i].Read, stricter(whyValues)))
	}
	add(ir.Env, ir.DefaultRule, ir.AspectForward, exact)
	p.programs(add)
	for _, l := range p.tool.Limits {
		add(ir.Limits, l.ID(), "limit",
			either(l.Kind != ir.LimitWallTime, ir.Because(ir.Unenforced, ir.GapOfLimit(l.Kind), whyLimit)))
	}
	add(ir.Process, ir.DefaultRule, ir.AspectSignal, exact)
	return b.Ledger()
}

// file says how one aspect of one rule is held.
func (p *conversion) file(e ir.Entry, a ir.Aspect) ir.Held {
	caps := e.Rule.Caps
	is := accessOf(caps)
	narrowed := func(c ir.Capability) ir.Held {
		switch {
		case !caps.Has(c) || is == readWrite:
			return exact
		case is == denied:
			return stricter(whyUnread)
		default:
			return stricter(whyWhole)
		}
	}
	switch a {
	case ir.AspectRead:
		return either(is == denied, stricter(whyMissing))
	case ir.AspectCreate:
		return narrowed(ir.Create)
	case ir.AspectUpdate, ir.AspectMetadata:
		return narrowed(ir.Update)
	case ir.AspectDelete:
		return narrowed(ir.Delete)
	case ir.AspectExecute:
		switch {
		case is != denied && !caps.Has(ir.Execute):
			return weaker(ir.GapFSPaths, whyExecute)
		case is == denied && caps.Has(ir.Execute):
			return stricter(whyUnread)
		default:
			return exact
		}
	case ir.AspectMove:
		return either(is == readWrite && p.leads(e.ID), weaker(ir.GapFSMove, whyMoves))
	case ir.AspectSocket:
		switch {
		case is != denied && !caps.Has(ir.Update):
			return weaker(ir.GapFSPaths, whySocket)
		case is == denied && caps.Has(ir.Update):
			return stricter(whyUnread)
		default:
			return exact
		}
	case ir.AspectOthers:
		return either(is != denied, ir.Because(ir.Assumed, "", whyMovedAway))
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

func (p *conversion) programs(add func(ir.Resource, ir.RuleID, ir.Aspect, ir.Held)) {
	set := p.tool.Commands
	if set != nil {
		for i := range set.Rules {
			r := &set.Rules[i]
			id := r.ID()
			add(ir.Commands, id, ir.AspectProgram, exact)
			add(ir.Commands, id, ir.AspectArgs, either(!r.AnyArgs, weaker(ir.GapCommandsArgs, whyArgs)))
			add(ir.Commands, id, ir.AspectEnvs, either(!r.AllEnvs, weaker(ir.GapCommandsEnvs, whyEnvs)))
		}
	}
	add(ir.Commands, ir.DefaultRule, ir.AspectProgram, either(set != nil, weaker(ir.GapCommandsProgram, whyPrograms)))
	add(ir.Commands, ir.DefaultRule, ir.AspectArgs, exact)
	add(ir.Commands, ir.DefaultRule, ir.AspectEnvs, exact)
}
