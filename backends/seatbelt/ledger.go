package seatbelt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

// ledgerWriter writes the ledger of one tool.
type ledgerWriter struct {
	*profile
	ports *openings
	// listens are the ports at which connections are accepted.
	listens *listening
	// base has one rule of each kind of the base.
	base []ir.Entry
}

// kind is all of a rule that its cells depend on.
type kind struct {
	caps                  ir.CapSet
	names                 string // rules by name in its regions
	governs, base, leadOn bool
	own                   ir.RuleID // of protected paths and rules by name, whose places differ
}

func (w *ledgerWriter) kind(id ir.RuleID, r *ir.FSRule) kind {
	regions := w.byRule[id]
	k := kind{caps: r.Caps, governs: len(regions) > 0, leadOn: slices.ContainsFunc(regions, leadsOn)}
	for _, x := range regions {
		if len(x.ByName) > 0 {
			k.names += sampledIn(x, 0).names + ";"
		}
	}
	k.base = k.governs && ofBase(regions[0])
	if r.Guards() || r.ByName() {
		k.own = id
	}
	return k
}

func (p *profile) ledger() ir.Ledger {
	w := p.ledgerWriter()
	return ledgerBy(w, w.kind)
}

func (p *profile) ledgerWriter() *ledgerWriter {
	w := &ledgerWriter{profile: p, ports: opened(p.tool), listens: listened(p.view)}
	kinds := map[kind]bool{}
	for _, e := range p.view.Entries() {
		if k := w.kind(e.ID, e.Rule); e.Rule.Origin.Layer == ir.LayerBase && !kinds[k] {
			kinds[k] = true
			w.base = append(w.base, e)
		}
	}
	return w
}

func ledgerBy[K comparable](w *ledgerWriter, kind func(ir.RuleID, *ir.FSRule) K) ir.Ledger {
	rows := ir.NewLedger(ir.Darwin)
	ir.Fill(rows, w.view, kind, func(c ir.Cell) { rows.Add(c, ir.Levels{}, w.held(c)) })
	return rows.Ledger()
}

// held says how a cell is held. The environment is built by the loader; nothing
// else is in it. Programs of the system, such as sandbox-exec, run without the variables of the
// loader (System Integrity Protection, dyld(1)), and so do not hand them on.
func (w *ledgerWriter) held(c ir.Cell) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return backends.Stricter(start.WhyAsk)
	}
	switch r := c.Rule.(type) {
	case *ir.FSRule:
		return w.file(c.ID, r, c.Aspect)
	case *ir.NetRule:
		if r.Listen {
			return w.listens.held(r)
		}
		return w.ports.held(c.Index)
	case *ir.EnvRule:
		return backends.Join(
			backends.When(r.Read && strings.HasPrefix(r.Name, "DYLD_"), backends.Stricter(start.WhyLoaderVar)),
			backends.When(!r.Read, withheld()),
		)
	case *ir.CommandRule:
		return w.command(r, c.Aspect)
	}
	switch c.Resource {
	case ir.FS:
		if c.ID != ir.BaseRule {
			return backends.When(c.Aspect == ir.AspectRead, backends.Stricter(w.hidden()))
		}
		all := []ir.Held{lacking(c.Aspect)}
		for _, e := range w.base {
			all = append(all, w.file(e.ID, e.Rule, c.Aspect))
		}
		return backends.Join(all...)
	case ir.Net:
		if c.Aspect == ir.AspectListen {
			return w.listens.byDefault()
		}
		return backends.Join(
			backends.When(len(w.ports.own) > 0, backends.Weaker(ir.GapNetAddress, start.WhyOwn)),
			backends.When(w.tool.Base == ir.BaseSystem, ir.Because(ir.Assumed, "", start.WhyDirectory)),
		)
	case ir.Commands:
		return backends.When(c.Aspect == ir.AspectProgram && w.starting(),
			backends.Weaker(ir.GapCommandsProgram, start.WhyLoader))
	case ir.Limits:
		return limit(c.Limit)
	case ir.Process:
		// See decision D76.
		if w.tool.Base == ir.BaseSystem {
			return ir.Because(ir.Assumed, "", start.WhySame, start.WhySemaphore)
		}
		return ir.Because(ir.Assumed, "", start.WhySame)
	case ir.Env:
		return withheld()
	}
	return backends.Exact
}

// withheld says how variables are held that the tool does not get.
// See decision D76.
func withheld() ir.Held { return ir.Because(ir.Assumed, "", start.WhyProcArgs) }

// lacking names the services that programs ask for and the base leaves closed, beside the files of its list.
// See decision D76.
func lacking(a ir.Aspect) ir.Held {
	switch a {
	case ir.AspectRead:
		return backends.Stricter(start.WhyAncestors)
	case ir.AspectExecute:
		return backends.Stricter(start.WhyServices)
	default:
		return backends.Exact
	}
}

func (w *ledgerWriter) hidden() ir.CauseID {
	if w.loader() {
		return start.WhyRoot
	}
	return start.WhyHidden
}

// file says how an aspect of a rule is held. A rule that governs no place, since
// another rule takes all of its own, is held whatever happens. Protected paths have one rule for
// all, and the capabilities that remain differ from place to place.
func (w *ledgerWriter) file(id ir.RuleID, r *ir.FSRule, a ir.Aspect) ir.Held {
	regions := w.byRule[id]
	switch {
	case r.ByName():
		return w.named(id, r, a)
	case len(regions) == 0:
		return backends.Exact
	case !r.Guards():
		return w.places(r.Caps, regions, a)
	}
	var all []ir.Held
	for i, x := range regions {
		all = append(all, w.places(x.Caps, regions[i:i+1], a))
	}
	return backends.Join(all...)
}

// named says how an aspect of a rule by name is held.
func (w *ledgerWriter) named(id ir.RuleID, r *ir.FSRule, a ir.Aspect) ir.Held {
	var all []ir.Held
	for _, s := range w.byName[id] {
		all = append(all, w.places(s.caps, w.byRule[id], a), backends.When(a == ir.AspectMove, w.move(s.caps,
			[]sampled{s})))
	}
	if all == nil {
		return backends.Exact
	}
	if _, ok := ir.ParseCapability(string(a)); ok || a == ir.AspectMetadata {
		all = append(all,
			backends.When(slices.ContainsFunc(r.Names, func(n string) bool { return !byBytes(n) }),
				backends.Weaker(ir.GapFSNames, start.WhyBytes)),
			backends.When(w.deep[id], backends.Stricter(start.WhyDeep)))
	}
	return backends.Join(append(all, backends.When(a == ir.AspectRead && r.Caps != 0,
		backends.Stricter(start.WhyWay)))...)
}

// places says how an aspect of regions with these capabilities is held.
func (w *ledgerWriter) places(caps ir.CapSet, regions []*ir.Region, a ir.Aspect) ir.Held {
	switch a {
	case ir.AspectRead:
		return read(caps)
	case ir.AspectCreate:
		return w.create(caps, regions)
	case ir.AspectUpdate:
		return backends.When(caps.Has(ir.Update) && !caps.Has(ir.Create), backends.Stricter(start.WhyAtomic))
	case ir.AspectDelete:
		return w.remove(caps, regions)
	case ir.AspectExecute:
		return w.execute(caps)
	case ir.AspectMetadata:
		return metadata(caps, regions)
	case ir.AspectMove:
		var all []sampled
		for _, r := range regions {
			all = append(all, sampledIn(r, caps))
		}
		return w.move(caps, all)
	case ir.AspectSocket:
		return backends.When(caps.Has(ir.Update), backends.Stricter(start.WhySocket))
	case ir.AspectOthers:
		return backends.Exact // the kernel asks the profile by path at every call
	default:
		return ir.Held{}
	}
}

func read(caps ir.CapSet) ir.Held {
	if caps == 0 {
		return backends.Stricter(start.WhyHidden)
	}
	return backends.When(caps.Has(ir.Read) && !caps.Has(ir.Execute), backends.Stricter(start.WhyMap, start.WhySearch))
}

func (w *ledgerWriter) create(caps ir.CapSet, regions []*ir.Region) ir.Held {
	switch {
	case !caps.Has(ir.Create):
		return backends.Exact
	case !caps.Has(ir.Update):
		return backends.Stricter(start.WhyFill)
	default:
		return backends.When(slices.ContainsFunc(regions, leadsOn), backends.Stricter(start.WhyPin))
	}
}

func (w *ledgerWriter) remove(caps ir.CapSet, regions []*ir.Region) ir.Held {
	if !caps.Has(ir.Delete) {
		return backends.When(caps.Contains(creates), backends.Weaker(ir.GapFSMove, start.WhyEmptyDir))
	}
	return backends.When(slices.ContainsFunc(regions, leadsOn), backends.Stricter(start.WhyPin))
}

// leadsOn reports whether a region is pinned although the policy lets it be made or
// removed, which it never does for a root or the symlink of an external rule.
func leadsOn(r *ir.Region) bool { return r.Pinned && !r.IsRoot() && !r.Link }

func (w *ledgerWriter) execute(caps ir.CapSet) ir.Held {
	if !caps.Has(ir.Execute) {
		return backends.Exact
	}
	out := backends.Join(backends.Stricter(start.WhySugid),
		backends.When(!caps.Has(ir.Read), backends.Stricter(start.WhyImage)))
	return backends.Join(out, backends.When(w.tool.Commands != nil && w.form != backends.Resolved,
		backends.Stricter(start.WhyPortable)))
}

func metadata(caps ir.CapSet, regions []*ir.Region) ir.Held {
	switch {
	case !caps.Has(ir.Update):
		return backends.Exact
	case len(regions) > 0 && ofBase(regions[0]):
		return backends.Stricter(start.WhyDevice)
	default:
		return backends.Join(backends.Stricter(start.WhySetID),
			backends.When(!caps.Has(ir.Read), backends.Stricter(start.WhyTimes)))
	}
}

// move says what renames and links out of a rule's region may carry. What they need
// of the place that they lead to is in its create, update and delete.
func (w *ledgerWriter) move(caps ir.CapSet, of []sampled) ir.Held {
	for _, s := range of {
		if g, ok := w.moves.renames[s]; ok {
			return ir.Held{Is: ir.Weaker, Gap: ir.GapFSMove, Causes: []ir.Cause{{ID: start.WhyGain,
				Place: string(g.into), Caps: ir.Caps(g.what)}}}
		}
	}
	return backends.When(w.moves.withheld[caps], backends.Stricter(start.WhyLinks))
}

// held says how one rule about connections is held.
func (o *openings) held(i int) ir.Held {
	r := &o.rules[i]
	unseen := backends.When(backends.Unseen(r, o.rules), ir.Because(ir.Advisory, ir.GapNetPath, start.WhyUnseen))
	switch {
	// A later rule of the same port leaves a denial a single part: streams.
	case plain(r) && !o.wins(i) && (r.Allow || !backends.Streams(r, o.rules)):
		return backends.Exact
	case !r.Allow:
		exposed := slices.ContainsFunc(o.own, func(port uint16) bool { return backends.MayMatch(r, port) })
		return backends.Join(
			backends.When(exposed && !own(r.Host), backends.Weaker(ir.GapNetAddress, start.WhyOwn)), unseen,
			backends.When(backends.Streams(r, o.rules), ir.Because(ir.Advisory, ir.GapNetPath, start.WhyStream)),
		)
	case o.direct(r):
		return backends.Join(
			backends.Weaker(ir.GapNetAddress, start.WhyOwn),
			backends.When(r.Host == localName, backends.Stricter(start.WhyLoopback)),
		)
	default:
		serves := backends.Secured(r) && !r.Opaque && r.Host.Kind != ir.HostAddr
		return backends.Join(
			backends.Stricter(start.WhyProxy), unseen,
			backends.When(r.Scheme != "http", backends.Stricter(start.WhyTrust)),
			backends.When(!backends.Carried(r.Scheme), backends.Stricter(start.WhyScheme)),
			backends.When(serves, ir.Because(ir.Assumed, "", start.WhyServer)),
		)
	}
}

// starting reports whether any program is started where the policy lists programs.
func (w *ledgerWriter) starting() bool {
	set := w.tool.Commands
	switch {
	case set == nil:
		return false
	case w.form != backends.Resolved && len(set.Rules) > 0:
		return true
	default:
		return w.own != nil || slices.ContainsFunc(set.Rules, func(r ir.CommandRule) bool { return w.starts(&r) })
	}
}

func (w *ledgerWriter) command(r *ir.CommandRule, a ir.Aspect) ir.Held {
	switch {
	case !r.Restricts(a):
		return backends.Exact
	case a == ir.AspectArgs:
		return w.started(r, backends.Weaker(ir.GapCommandsArgs, start.WhyArgs))
	case a == ir.AspectEnvs:
		return w.started(r, backends.Weaker(ir.GapCommandsEnvs, start.WhyEnvs))
	default:
		return w.started(r, backends.Weaker(ir.GapCommandsProgram, start.WhyLoader))
	}
}

// started returns h for a program that can be started, and why it cannot otherwise.
// A portable profile starts none, but it is what people review, and what holds on the
// host where it will be resolved must not come as a surprise.
func (w *ledgerWriter) started(r *ir.CommandRule, h ir.Held) ir.Held {
	switch {
	case w.starts(r):
		return h
	case w.form != backends.Resolved:
		h.Causes = append(slices.Clip(h.Causes), ir.Cause{ID: start.WhyPortable})
		return h
	default:
		return backends.Stricter(start.WhyMissing)
	}
}

// limit is set by the loader, as setrlimit(2) of macOS has it.
func limit(k ir.LimitKind) ir.Held {
	gap := ir.GapOfLimit(k)
	switch k {
	case ir.LimitMemory:
		return backends.Unenforced(gap, start.WhyMemory)
	case ir.LimitCPUTime:
		return backends.Weaker(gap, start.WhyPerProcess)
	case ir.LimitProcesses:
		return backends.Weaker(gap, start.WhyPerUser)
	case ir.LimitWallTime:
		return backends.Unenforced(gap, start.WhyWall)
	case ir.LimitOpenFiles, ir.LimitFileSize:
	}
	return backends.Exact
}
