package seatbelt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

var exact = ir.Held{Is: ir.Exact}

func stricter(why ...ir.CauseID) ir.Held { return ir.Because(ir.Stricter, "", why...) }

func weaker(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Weaker, gap, why...) }

func unenforced(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Unenforced, gap, why...) }

// either returns h where it applies, and exact otherwise.
func either(applies bool, h ir.Held) ir.Held {
	if applies {
		return h
	}
	return exact
}

// worse joins two findings about one cell: the weaker hold, with the reasons of all
// that hold as weakly.
func worse(a, b ir.Held) ir.Held {
	switch {
	case a.Equal(b), b.Is < a.Is:
		return a
	case a.Is < b.Is:
		return b
	default:
		a.Causes = slices.Concat(a.Causes, b.Causes)
		return a
	}
}

// ledgerWriter writes the ledger of one tool.
type ledgerWriter struct {
	*profile
	rows *ir.LedgerBuilder
}

func (p *profile) ledger() ir.Ledger {
	b := &ledgerWriter{p, ir.NewLedger(ir.Darwin)}
	b.files()
	b.connections()
	b.environment()
	b.commands()
	b.limits()
	b.add(ir.Process, ir.DefaultRule, ir.AspectSignal, exact)
	return b.rows.Ledger()
}

// add states a cell. This platform has one level.
func (b *ledgerWriter) add(r ir.Resource, rule ir.RuleID, a ir.Aspect, h ir.Held) {
	b.rows.Add(r, rule, a, ir.Levels{}, h)
}

// files states the cells of every filesystem rule, of the base as a whole, and of
// what no rule matches.
func (b *ledgerWriter) files() {
	var base []ir.Entry
	for _, e := range b.view.Entries() {
		if e.Rule.Origin.Layer == ir.LayerBase {
			base = append(base, e)
		}
	}
	for _, e := range b.view.Stated() {
		for _, a := range ir.Aspects(ir.FS) {
			b.add(ir.FS, e.ID, a, b.file(e, a))
		}
	}
	for _, a := range ir.Aspects(ir.FS) {
		held := exact
		for _, e := range base {
			held = worse(held, b.file(e, a))
		}
		if len(base) > 0 {
			b.add(ir.FS, ir.BaseRule, a, held)
		}
	}
	for _, a := range ir.Aspects(ir.FS) {
		b.add(ir.FS, ir.DefaultRule, a, either(a == ir.AspectRead, stricter(b.hidden())))
	}
}

func (b *ledgerWriter) hidden() ir.CauseID {
	if b.loader() {
		return start.WhyRoot
	}
	return start.WhyHidden
}

// file says how one aspect of one rule is held. A rule that governs no place, since
// another rule takes all of its own, is held whatever happens.
func (b *ledgerWriter) file(e ir.Entry, a ir.Aspect) ir.Held {
	regions, caps := b.byRule[e.ID], e.Rule.Caps
	if len(regions) == 0 {
		return exact
	}
	switch a {
	case ir.AspectRead:
		return read(caps)
	case ir.AspectCreate:
		return b.create(caps, regions)
	case ir.AspectUpdate:
		return either(caps.Has(ir.Update) && !caps.Has(ir.Create), stricter(start.WhyAtomic))
	case ir.AspectDelete:
		return b.remove(caps, regions)
	case ir.AspectExecute:
		return b.execute(caps)
	case ir.AspectMetadata:
		return metadata(caps, regions)
	case ir.AspectMove:
		return b.move(caps)
	case ir.AspectSocket:
		return either(caps.Has(ir.Update), stricter(start.WhySocket))
	case ir.AspectOthers:
		return exact // the kernel asks the profile by path at every call
	default:
		return ir.Held{}
	}
}

func read(caps ir.CapSet) ir.Held {
	if caps == 0 {
		return stricter(start.WhyHidden)
	}
	return either(caps.Has(ir.Read) && !caps.Has(ir.Execute), stricter(start.WhyMap))
}

func (b *ledgerWriter) create(caps ir.CapSet, regions []*ir.Region) ir.Held {
	switch {
	case !caps.Has(ir.Create):
		return exact
	case !caps.Has(ir.Update):
		return stricter(start.WhyFill)
	default:
		return either(slices.ContainsFunc(regions, leadsOn), stricter(start.WhyPin))
	}
}

func (b *ledgerWriter) remove(caps ir.CapSet, regions []*ir.Region) ir.Held {
	if !caps.Has(ir.Delete) {
		return either(caps.Contains(creates), weaker(ir.GapFSMove, start.WhyEmptyDir))
	}
	return either(slices.ContainsFunc(regions, leadsOn), stricter(start.WhyPin))
}

// leadsOn reports whether a region is pinned although the policy lets it be made or
// removed, which it never does for a root or the symlink of an external rule.
func leadsOn(r *ir.Region) bool { return r.Pinned && !r.IsRoot() && !r.Link }

func (b *ledgerWriter) execute(caps ir.CapSet) ir.Held {
	if !caps.Has(ir.Execute) {
		return exact
	}
	out := worse(stricter(start.WhySugid), either(!caps.Has(ir.Read), stricter(start.WhyImage)))
	return worse(out, either(b.tool.Commands != nil && b.form != backends.Resolved, stricter(start.WhyPortable)))
}

func metadata(caps ir.CapSet, regions []*ir.Region) ir.Held {
	switch {
	case !caps.Has(ir.Update):
		return exact
	case ofBase(regions[0]):
		return stricter(start.WhyDevice)
	default:
		return stricter(start.WhySetID)
	}
}

// move says what renames and links out of a rule's region may carry. What they need
// of the place that they lead to is in its create, update and delete.
func (b *ledgerWriter) move(caps ir.CapSet) ir.Held {
	if g, ok := b.moves.renames[caps]; ok {
		return ir.Held{Is: ir.Weaker, Gap: ir.GapFSMove, Causes: []ir.Cause{{ID: start.WhyGain, Place: string(g.into), Caps: ir.Caps(g.what)}}}
	}
	return either(b.moves.withheld[caps], stricter(start.WhyLinks))
}

func (b *ledgerWriter) connections() {
	o := opened(b.tool)
	for i := range o.rules {
		b.add(ir.Net, ir.NetRuleID(i), ir.AspectConnect, o.held(i))
	}
	b.add(ir.Net, ir.DefaultRule, ir.AspectConnect, worse(
		either(len(o.every) > 0, weaker(ir.GapNetAddress, start.WhyEvery)),
		either(len(o.own) > 0, weaker(ir.GapNetAddress, start.WhyOwn)),
	))
}

// held says how one network rule is held.
func (o *openings) held(i int) ir.Held {
	r := &o.rules[i]
	switch {
	case plain(r) && !o.wins(i):
		return exact
	case !r.Allow && ownPlain(r):
		exposed := slices.Contains(o.every, r.Port) && !slices.Contains(o.shut, r.Port)
		return either(exposed, weaker(ir.GapNetAddress, start.WhyEvery))
	case !r.Allow:
		exposed := slices.ContainsFunc(o.own, func(port uint16) bool { return mayMatch(r, port) })
		return either(exposed && !own(r.Host), weaker(ir.GapNetAddress, start.WhyOwn))
	case !o.reaches(r) && (own(r.Host) || r.Host.Kind == ir.HostAny) && plain(r):
		return stricter(start.WhyDispute)
	case !o.reaches(r):
		return stricter(start.WhyHost)
	case own(r.Host) && slices.Contains(o.own, r.Port):
		return weaker(ir.GapNetAddress, start.WhyOwn)
	default:
		return either(r.Host.Kind == ir.HostAny && plain(r), weaker(ir.GapNetAddress, start.WhyEvery))
	}
}

// environment is built by whoever starts the tool; nothing else is in it. Programs of
// the system, as sandbox-exec is one, run without the variables of the loader (System
// Integrity Protection, dyld(1)), and so do not hand them on.
func (b *ledgerWriter) environment() {
	for i := range b.tool.Env {
		r := &b.tool.Env[i]
		b.add(ir.Env, ir.EnvRuleID(i), ir.AspectForward, either(r.Read && strings.HasPrefix(r.Name, "DYLD_"), stricter(start.WhyLoaderVar)))
	}
	b.add(ir.Env, ir.DefaultRule, ir.AspectForward, exact)
}

func (b *ledgerWriter) commands() {
	set := b.tool.Commands
	started := b.own != nil || b.form != backends.Resolved && set != nil && len(set.Rules) > 0
	if set != nil {
		for i := range set.Rules {
			r := &set.Rules[i]
			started = started || b.starts(r)
			id := r.ID()
			b.add(ir.Commands, id, ir.AspectProgram, b.started(r, weaker(ir.GapCommandsProgram, start.WhyLoader)))
			args, envs := weaker(ir.GapCommandsArgs, start.WhyArgs), weaker(ir.GapCommandsEnvs, start.WhyEnvs)
			b.add(ir.Commands, id, ir.AspectArgs, either(!r.AnyArgs, b.started(r, args)))
			b.add(ir.Commands, id, ir.AspectEnvs, either(!r.AllEnvs, b.started(r, envs)))
		}
	}
	b.add(ir.Commands, ir.DefaultRule, ir.AspectProgram, either(set != nil && started, weaker(ir.GapCommandsProgram, start.WhyLoader)))
	b.add(ir.Commands, ir.DefaultRule, ir.AspectArgs, exact)
	b.add(ir.Commands, ir.DefaultRule, ir.AspectEnvs, exact)
}

// started returns h for a program that can be started, and why it cannot otherwise.
// A portable profile starts none, but it is what people review, and what holds on the
// host where it will be resolved must not come as a surprise.
func (b *ledgerWriter) started(r *ir.CommandRule, h ir.Held) ir.Held {
	switch {
	case b.starts(r):
		return h
	case b.form != backends.Resolved:
		h.Causes = append(slices.Clip(h.Causes), ir.Cause{ID: start.WhyPortable})
		return h
	default:
		return stricter(start.WhyMissing)
	}
}

// limits are set by whoever starts the tool, as setrlimit(2) of macOS has them.
func (b *ledgerWriter) limits() {
	for _, l := range b.tool.Limits {
		held := exact
		gap := ir.GapOfLimit(l.Kind)
		switch l.Kind {
		case ir.LimitMemory:
			held = unenforced(gap, start.WhyMemory)
		case ir.LimitCPUTime:
			held = weaker(gap, start.WhyPerProcess)
		case ir.LimitProcesses:
			held = weaker(gap, start.WhyPerUser)
		case ir.LimitWallTime:
			held = unenforced(gap, start.WhyWall)
		case ir.LimitOpenFiles, ir.LimitFileSize:
		}
		b.add(ir.Limits, l.ID(), "limit", held)
	}
}
