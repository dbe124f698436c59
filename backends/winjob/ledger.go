package winjob

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

var exact = ir.Held{Is: ir.Exact}

func stricter(why ...ir.CauseID) ir.Held { return ir.Because(ir.Stricter, "", why...) }

func weaker(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Weaker, gap, why...) }

func unenforced(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Unenforced, gap, why...) }

// rank orders what is held by how little may be relied upon.
func rank(e ir.Enforcement) int {
	switch e {
	case ir.Exact:
		return 0
	case ir.Stricter, ir.Assumed:
		return 1
	case ir.Supervised:
		return 2
	case ir.Weaker:
		return 3
	case ir.Advisory:
		return 4
	case ir.Unenforced, ir.Unstated:
		return 5
	default:
		return 5
	}
}

// join makes one cell of all that is to be said about it: the weakest word, and
// every reason, those for the weakest first.
func join(all ...ir.Held) ir.Held {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b ir.Held) int { return rank(b.Is) - rank(a.Is) })
	out := exact
	var causes []ir.Cause
	for i, h := range all {
		if i == 0 {
			out = h
		}
		for _, c := range h.Causes {
			if !slices.Contains(causes, c) {
				causes = append(causes, c)
			}
		}
	}
	out.Causes = causes
	return out
}

// book writes the ledger of one tool.
type book struct {
	*layout
	rows *ir.LedgerBuilder
	// byRule are the regions that each rule governs.
	byRule map[ir.RuleID][]*ir.Region
	// sets are the capabilities that a move can change, each once, of all regions that
	// are not the system's.
	sets []ir.CapSet
	// alone is true where the tool may start nothing.
	alone bool
}

func (l *layout) ledger() ir.Ledger {
	b := &book{layout: l, rows: ir.NewLedger(ir.Windows), byRule: map[ir.RuleID][]*ir.Region{}, alone: childless(l.view.Tool)}
	for _, r := range l.regions {
		caps := r.Caps
		if l.listed() {
			// Files that may be started are pinned, so no move changes what starts.
			caps = caps.Without(ir.Execute)
		}
		b.byRule[r.ID()] = append(b.byRule[r.ID()], r)
		named := r.At.Root.Kind != ir.System && !impossible(r.At)
		if named && !r.LeadsToGuarded() && !slices.Contains(b.sets, caps) {
			b.sets = append(b.sets, caps)
		}
	}
	b.fileCells()
	b.netCells()
	b.envCells()
	b.commandCells()
	b.limitCells()
	b.add(ir.Process, ir.DefaultRule, ir.AspectSignal, unenforced(ir.GapProcessSignal, whySameUser), exact)
	return b.rows.Ledger()
}

// add states a cell at both tiers.
func (b *book) add(r ir.Resource, rule ir.RuleID, a ir.Aspect, job, container ir.Held) {
	container = resting(r, rule, a, container)
	if job.Equal(container) {
		b.rows.Add(r, rule, a, ir.Levels{From: 0, To: ir.BestTier}, job)
		return
	}
	b.rows.Add(r, rule, a, ir.Levels{}, job)
	b.rows.Add(r, rule, a, ir.Levels{From: ir.BestTier, To: ir.BestTier}, container)
}

// fileCells states the cells of every filesystem rule, of the base as a whole, and of
// what no rule matches.
func (b *book) fileCells() {
	var base []*ir.FSRule
	for _, e := range b.view.Entries() {
		if e.Rule.Origin.Layer == ir.LayerBase {
			base = append(base, e.Rule)
		}
	}
	for _, e := range b.view.Stated() {
		b.file(e.ID, func(a ir.Aspect) ir.Held { return b.rule(a, e.Rule, b.byRule[e.ID]) })
	}
	if base != nil {
		b.file(ir.BaseRule, func(a ir.Aspect) ir.Held { return ofBase(a, base) })
	}
	b.file(ir.DefaultRule, b.ofDefault)
}

func (b *book) file(id ir.RuleID, at func(ir.Aspect) ir.Held) {
	for _, a := range ir.Aspects(ir.FS) {
		b.add(ir.FS, id, a, unenforced(ir.GapFSPaths, whyNoFiles), at(a))
	}
}

// ofDefault is about places that no rule names.
func (b *book) ofDefault(a ir.Aspect) ir.Held {
	switch a {
	case ir.AspectRead:
		return join(weaker(ir.GapFSDefault, whyAmbient), stricter(whyHidden))
	case ir.AspectExecute:
		return weaker(ir.GapFSDefault, whyAmbient)
	case ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectMetadata:
		return weaker(ir.GapFSDefault, whyProfile)
	case ir.AspectSocket:
		return weaker(ir.GapFSDefault, whyPipes)
	case ir.AspectOthers:
		return exact
	default:
		held := b.move(0)
		if held.Gap != "" {
			held.Gap = ir.GapFSDefault
		}
		return held
	}
}

// ofBase is about the system's directories, whose lists are used as they are: they
// let every AppContainer read and execute, in most places.
func ofBase(a ir.Aspect, rules []*ir.FSRule) ir.Held {
	c, ok := ir.ParseCapability(string(a))
	if !ok {
		return exact
	}
	var held []ir.Held
	for _, r := range rules {
		switch granted := r.Caps.Has(c); {
		case granted:
			held = append(held, stricter(whyOwnBase))
		case ambientCaps.Has(c):
			held = append(held, weaker(ir.GapFSDefault, whyAmbient))
		}
	}
	return join(held...)
}

// rule is about the regions that one rule governs. A rule that governs nothing, since
// a later one names the same path, has nothing to be held.
func (b *book) rule(a ir.Aspect, r *ir.FSRule, regions []*ir.Region) ir.Held {
	if len(regions) == 0 {
		return exact
	}
	if !slices.ContainsFunc(regions, func(r *ir.Region) bool { return !impossible(r.At) }) {
		return nameless(r.Caps)
	}
	if r.Guards() && a != ir.AspectOthers {
		return join(b.guarded(a, r, regions), weaker(ir.GapFSProtected, whyGuardless))
	}
	switch a {
	case ir.AspectMetadata:
		return b.capability(ir.Update, r.Caps, regions, whyMetadata)
	case ir.AspectSocket:
		return b.capability(ir.Update, r.Caps, regions, whySocket)
	case ir.AspectMove:
		held := b.move(r.Caps)
		for _, r := range regions {
			switch {
			case b.takable(r) && r.LeadsToGuarded():
				held = join(held, weaker(ir.GapFSProtected, whyGuardless))
			case b.takable(r):
				held = join(held, weaker(ir.GapFSMove, whyOthers))
			}
		}
		return held
	case ir.AspectOthers:
		if r.Caps == 0 {
			return exact
		}
		return ir.Because(ir.Assumed, "", whyMovedAway)
	default:
		c, _ := ir.ParseCapability(string(a))
		return b.capability(c, r.Caps, regions, "")
	}
}

// guarded is about protected paths that are there at the start.
func (b *book) guarded(a ir.Aspect, r *ir.FSRule, regions []*ir.Region) ir.Held {
	c, ok := ir.ParseCapability(string(a))
	if !ok {
		return exact
	}
	return b.capability(c, r.Caps, regions, "")
}

// nameless is about a rule on a path that no file here can have: what it grants
// cannot be used, and what it withholds is not there.
func nameless(caps ir.CapSet) ir.Held {
	if caps == 0 {
		return ir.Because(ir.Exact, "", whyNoName)
	}
	return stricter(whyNoName)
}

// capability says how one capability is held in a rule's regions.
func (b *book) capability(c ir.Capability, caps ir.CapSet, regions []*ir.Region, granted ir.CauseID) ir.Held {
	if !caps.Has(c) {
		return b.withheld(c, caps)
	}
	held := []ir.Held{}
	if granted != "" {
		held = append(held, stricter(granted))
	}
	switch c {
	case ir.Create:
		held = append(held, stricter(whySymlink))
	case ir.Delete:
		if slices.ContainsFunc(regions, func(r *ir.Region) bool { return !r.IsRoot() && b.lists[r].DACL != "" }) {
			held = append(held, stricter(whySelf))
		}
	case ir.Execute:
		if b.listed() {
			held = append(held, stricter(whyListed))
		}
	case ir.Read, ir.Update:
	}
	if slices.ContainsFunc(regions, func(r *ir.Region) bool { return b.skipped(r) && !above(r).Has(c) }) {
		held = append(held, stricter(whyAbsent))
	}
	return join(append(held, stricter(whyCarried))...)
}

// withheld says how a capability is held that a rule does not grant. Where the tool
// may make files or move them to, it decides by their access lists what it can do
// with them; it cannot start them where it can start nothing.
func (b *book) withheld(c ir.Capability, caps ir.CapSet) ir.Held {
	var held []ir.Held
	if caps.Has(ir.Create) && !(c == ir.Execute && b.alone) {
		held = append(held, weaker(ir.GapFSCreate, whyOwn))
	}
	switch c {
	case ir.Read:
		if len(wordsFor(caps, b.listed())) == 0 {
			held = append(held, stricter(whyHidden))
		}
	case ir.Execute:
		if caps.Has(ir.Read) {
			held = append(held, stricter(whyLibrary))
		}
	case ir.Create, ir.Update, ir.Delete:
	}
	return join(held...)
}

// move says how renames and links out of and into a rule's regions are held. Pins are
// exact: no entry gives DELETE on what may not move.
func (b *book) move(caps ir.CapSet) ir.Held {
	var held []ir.Held
	if b.listed() {
		caps = caps.Without(ir.Execute)
	}
	for _, other := range b.sets {
		if movesWithGain(caps, other) || movesWithGain(other, caps) {
			held = append(held, weaker(ir.GapFSMove, whyGain))
		}
		if linksUnread(caps, other) || linksUnread(other, caps) {
			held = append(held, weaker(ir.GapFSMove, whyLink))
		}
		if !caps.Contains(other) {
			held = append(held, weaker(ir.GapFSMove, whyOthers))
		}
	}
	replaces := caps.Contains(ir.Caps(ir.Create, ir.Delete))
	if replaces && !caps.Has(ir.Update) {
		held = append(held, weaker(ir.GapFSMove, whyReplace))
	}
	if caps.Has(ir.Update) && !replaces {
		held = append(held, stricter(whyReplaceAll))
	}
	return join(held...)
}

// movesWithGain reports whether a rename or a hard link can carry something from one
// region to another that lets more be done with it.
func movesWithGain(from, to ir.CapSet) bool {
	gain := to &^ from
	return to.Has(ir.Create) && (from.Has(ir.Delete) && gain != 0 || from.Has(ir.Update) && gain&ir.FileCaps != 0)
}

// linksUnread reports whether a hard link can be made of a file that may be updated
// but not be read.
func linksUnread(from, to ir.CapSet) bool {
	return from.Has(ir.Update) && !from.Has(ir.Read) && to.Has(ir.Create)
}

// netCells states the cells of every net rule.
func (b *book) netCells() {
	job := unenforced(ir.GapNetDefault, whyNoNetwork)
	for i := range b.view.Tool.Net {
		held := exact
		if b.view.Tool.Net[i].Allow {
			held = stricter(whyNoHosts)
		}
		b.add(ir.Net, ir.NetRuleID(i), ir.AspectConnect, job, held)
	}
	b.add(ir.Net, ir.DefaultRule, ir.AspectConnect, job, exact)
}

func (b *book) envCells() {
	for i := range b.view.Tool.Env {
		b.add(ir.Env, ir.EnvRuleID(i), ir.AspectForward, exact, exact)
	}
	set := ir.Because(ir.Exact, "", whySet)
	if b.view.Tool.Home != ir.HomePrivate {
		set = ir.Because(ir.Exact, "", whySets)
	}
	b.add(ir.Env, ir.DefaultRule, ir.AspectForward, set, set)
}

// commandCells states the cells of every listed program and of all others.
func (b *book) commandCells() {
	set := b.view.Tool.Commands
	other, job := exact, exact
	switch {
	case b.alone:
		job = weaker(ir.GapCommandsProgram, whySurrogate)
	case set != nil:
		job = unenforced(ir.GapCommandsProgram, whyAnyProgram)
		other = weaker(ir.GapCommandsProgram, whyPrograms)
		for i := range set.Rules {
			b.program(&set.Rules[i])
		}
	}
	b.add(ir.Commands, ir.DefaultRule, ir.AspectProgram, job, other)
	b.add(ir.Commands, ir.DefaultRule, ir.AspectArgs, exact, exact)
	b.add(ir.Commands, ir.DefaultRule, ir.AspectEnvs, exact, exact)
}

func (b *book) program(r *ir.CommandRule) {
	id := r.ID()
	b.add(ir.Commands, id, ir.AspectProgram, exact, stricter(whyListed))
	args, envs := exact, exact
	if !r.AnyArgs {
		args = unenforced(ir.GapCommandsArgs, whyNoArgs)
	}
	if !r.AllEnvs {
		envs = unenforced(ir.GapCommandsEnvs, whyNoEnvs)
	}
	b.add(ir.Commands, id, ir.AspectArgs, args, args)
	b.add(ir.Commands, id, ir.AspectEnvs, envs, envs)
}

func (b *book) limitCells() {
	for _, l := range b.view.Tool.Limits {
		gap := ir.GapOfLimit(l.Kind)
		job := weaker(gap, whySurrogate)
		held := exact
		switch l.Kind {
		case ir.LimitMemory, ir.LimitProcesses:
		case ir.LimitCPUTime:
			held = weaker(gap, whyUserTime)
			job = join(job, held)
		case ir.LimitWallTime:
			held = ir.Because(ir.Supervised, gap, whyTimer)
		case ir.LimitOpenFiles, ir.LimitFileSize:
			held = unenforced(gap, whyNoSuchLimit)
			job = held
		}
		b.add(ir.Limits, l.ID(), "limit", job, held)
	}
}
