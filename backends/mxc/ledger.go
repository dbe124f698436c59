package mxc

import (
	"strconv"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The reasons of the ledger.
const (
	whyWhole     = "a place is written to as a whole or not at all, so it is not"
	whyUnread    = "a place that is not read is not used at all"
	whyExecute   = "what may be read may be started"
	whyMovedAway = "assumes that no other process moves files of the rule elsewhere during the run: they stay granted"
	whyMoves     = "what leads to a place with rules of its own can be moved away"
	whySocket    = "a socket file that may be read may be connected to"
	whyBase      = "MXC lets every tool read and run the system's programs and libraries, and brings a directory for temporary files"
	whyMissing   = "a denied place that is not there is made, as a directory"
	whyHost      = "rules are about addresses and ports; names, schemes and paths stay closed, and so does this machine"
	whyValues    = "the configuration holds values, and those of the user are added by who uses it"
	whyPrograms  = "programs are not told apart"
	whyArgs      = "arguments are not looked at"
	whyEnvs      = "every program gets the environment"
	whyLimit     = "there is no limit of this kind"
)

var exact = ir.Held{Is: ir.Exact}

func stricter(why string) ir.Held { return ir.Held{Is: ir.Stricter, Why: why} }

func coarser(why, accept string) ir.Held { return ir.Held{Is: ir.Coarser, Why: why, Accept: accept} }

func either(applies bool, h ir.Held) ir.Held {
	if applies {
		return h
	}
	return exact
}

func (p *plan) ledger() ir.Ledger {
	b := ir.NewLedger(0)
	add := func(r ir.Resource, rule string, a ir.Aspect, h ir.Held) { b.Add(r, rule, a, ir.Levels{}, h) }
	for _, e := range p.view.Stated() {
		for _, a := range ir.Aspects(ir.FS) {
			add(ir.FS, e.ID, a, p.file(e, a))
		}
	}
	for _, a := range ir.Aspects(ir.FS) {
		add(ir.FS, "default", a, either(a == ir.AspectRead || a == ir.AspectExecute, coarser(whyBase, "fs.default")))
	}
	for i := range p.tool.Net {
		r := &p.tool.Net[i]
		add(ir.Net, "net["+strconv.Itoa(i)+"]", ir.AspectConnect, either(r.Allow && !p.opens(r), stricter(whyHost)))
	}
	add(ir.Net, "default", ir.AspectConnect, exact)
	for i := range p.tool.Env {
		add(ir.Env, "env["+strconv.Itoa(i)+"]", ir.AspectForward, either(p.tool.Env[i].Read, stricter(whyValues)))
	}
	add(ir.Env, "default", ir.AspectForward, exact)
	p.programs(add)
	for _, l := range p.tool.Limits {
		add(ir.Limits, l.Kind.String(), "limit",
			either(l.Kind != ir.LimitWallTime, ir.Held{Is: ir.Unenforced, Why: whyLimit, Accept: "limits." + l.Kind.String()}))
	}
	add(ir.Process, "default", ir.AspectSignal, exact)
	return b.Ledger()
}

// file says how one aspect of one rule is held.
func (p *plan) file(e ir.Entry, a ir.Aspect) ir.Held {
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
			return coarser(whyExecute, "fs.paths")
		case is == denied && caps.Has(ir.Execute):
			return stricter(whyUnread)
		default:
			return exact
		}
	case ir.AspectMove:
		return either(is == readWrite && p.leads(e.ID), coarser(whyMoves, "fs.move"))
	case ir.AspectSocket:
		switch {
		case is != denied && !caps.Has(ir.Update):
			return coarser(whySocket, "fs.paths")
		case is == denied && caps.Has(ir.Update):
			return stricter(whyUnread)
		default:
			return exact
		}
	case ir.AspectOthers:
		return either(is != denied, ir.Held{Is: ir.Assumed, Why: whyMovedAway})
	default:
		return ir.Held{}
	}
}

// leads reports whether places with rules of their own lie in what a rule governs.
func (p *plan) leads(rule string) bool {
	found := false
	for _, root := range p.view.Roots() {
		p.view.Regions(root).Walk(func(r *ir.Region) {
			found = found || r.Governing.Rule != nil && r.Governing.ID == rule && len(r.Below) > 0
		})
	}
	return found
}

func (p *plan) programs(add func(ir.Resource, string, ir.Aspect, ir.Held)) {
	set := p.tool.Commands
	if set != nil {
		for i := range set.Rules {
			r := &set.Rules[i]
			id := "commands." + r.Program
			add(ir.Commands, id, ir.AspectProgram, exact)
			add(ir.Commands, id, ir.AspectArgs, either(!r.AnyArgs, coarser(whyArgs, "commands.args")))
			add(ir.Commands, id, ir.AspectEnvs, either(!r.AllEnvs, coarser(whyEnvs, "commands.envs")))
		}
	}
	add(ir.Commands, "default", ir.AspectProgram, either(set != nil, coarser(whyPrograms, "commands.program")))
	add(ir.Commands, "default", ir.AspectArgs, exact)
	add(ir.Commands, "default", ir.AspectEnvs, exact)
}

// rows writes a ledger without what all of its rows share.
func rows(l ir.Ledger) []Row {
	out := []Row{}
	for _, r := range l {
		n := backends.NewNeed(r)
		out = append(out, Row{Resource: r.Resource.String(), Rules: n.Rules, Is: n.Is, Why: n.Why, Accept: n.Cell})
		for _, a := range r.Aspects {
			out[len(out)-1].Aspects = append(out[len(out)-1].Aspects, string(a))
		}
	}
	return out
}
