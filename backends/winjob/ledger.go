package winjob

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// ledgerWriter writes the ledger of one tool.
type ledgerWriter struct {
	*layout
	// byRule are the properties of the regions that each rule governs.
	byRule map[ir.RuleID]traits
	// byName are the regions in which each rule by name is about names.
	byName map[ir.RuleID][]backends.Named
	// sets are the capabilities that a move can change, each once, of all regions that
	// are not the system's.
	sets []ir.CapSet
	// moves says how the moves of a rule with these capabilities are held.
	moves map[ir.CapSet]ir.Held
	// base are the sets of capabilities that rules of the base grant, each once.
	base []ir.CapSet
	// alone is true where the tool may start nothing.
	alone bool
}

// traits are the properties of the regions that one rule governs, of all regions together.
type traits struct {
	// governs is true where there is a region, and named where a region has a path that a file can have.
	governs, named bool
	// listed is true where a region below a root has an access list of its own.
	listed bool
	// ambient are the capabilities that the directory above grants at all regions that get no list unless they are
	// there at the start.
	ambient ir.CapSet
	skipped bool // there is such a region
	// takable has a gap for the regions whose name others can take: two, where both kinds are there, in their order.
	takable [2]ir.Gap
}

// with adds a region.
func (t traits) with(l *layout, r *ir.Region, named bool) traits {
	t.governs, t.named = true, t.named || named
	t.listed = t.listed || !r.IsRoot() && l.lists[r].DACL != ""
	if !l.skipped(r) {
		return t
	}
	if !t.skipped {
		t.skipped, t.ambient = true, above(r)
	}
	t.ambient &= above(r)
	if !l.takable(r) {
		return t
	}
	gap := ir.GapFSMove
	if r.LeadsToGuarded() {
		gap = ir.GapFSProtected
	}
	switch {
	case t.takable[0] == "":
		t.takable[0] = gap
	case t.takable[0] != gap:
		t.takable[1] = gap
	}
	return t
}

// kind is all of a rule that its cells depend on.
type kind struct {
	traits
	caps   ir.CapSet
	guards bool
	own    ir.RuleID // of a rule by name, whose regions differ
}

func (w *ledgerWriter) kind(id ir.RuleID, r *ir.FSRule) kind {
	k := kind{w.byRule[id], r.Caps, r.Guards(), ""}
	if r.ByName() {
		k.own = id
	}
	return k
}

func (l *layout) ledger() ir.Ledger {
	w := l.ledgerWriter()
	return ledgerBy(w, w.kind)
}

func (l *layout) ledgerWriter() *ledgerWriter {
	w := &ledgerWriter{layout: l, byRule: make(map[ir.RuleID]traits, len(l.view.Entries())),
		moves: map[ir.CapSet]ir.Held{}, alone: childless(l.view.Tool)}
	w.byName = l.byName()
	for _, r := range l.regions {
		caps := w.moving(r.Caps)
		id, named := r.ID(), !impossible(r.At)
		w.byRule[id] = w.byRule[id].with(l, r, named)
		if named && r.At.Root.Kind != ir.System && !r.LeadsToGuarded() && !slices.Contains(w.sets, caps) {
			w.sets = append(w.sets, caps)
		}
	}
	for _, list := range w.byName {
		for _, n := range list {
			if caps := w.moving(n.Caps); !slices.Contains(w.sets, caps) {
				w.sets = append(w.sets, caps)
			}
		}
	}
	for _, r := range l.view.Entries() {
		if r.Rule.Origin.Layer == ir.LayerBase && !slices.Contains(w.base, r.Rule.Caps) {
			w.base = append(w.base, r.Rule.Caps)
		}
	}
	return w
}

// moving are the capabilities that a move can change: files that may be started are pinned where they are listed.
func (l *layout) moving(caps ir.CapSet) ir.CapSet {
	if l.listed() {
		return caps.Without(ir.Execute)
	}
	return caps
}

func ledgerBy[K comparable](w *ledgerWriter, kind func(ir.RuleID, *ir.FSRule) K) ir.Ledger {
	rows := ir.NewLedger(ir.Windows)
	ir.Fill(rows, w.view, kind, func(c ir.Cell) {
		job, container := w.job(c), resting(c, w.container(c))
		if job.Equal(container) {
			rows.Add(c, ir.Levels{From: 0, To: ir.BestTier}, job)
			return
		}
		rows.Add(c, ir.Levels{}, job)
		rows.Add(c, ir.Levels{From: ir.BestTier, To: ir.BestTier}, container)
	})
	return rows.Ledger()
}

// job says how a cell is held at tier 0.
func (w *ledgerWriter) job(c ir.Cell) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return backends.Stricter(whyAsk)
	}
	switch c.Resource {
	case ir.FS:
		return backends.Unenforced(ir.GapFSPaths, whyNoFiles)
	case ir.Net:
		return backends.Unenforced(ir.GapNetDefault, whyNoNetwork)
	case ir.Commands:
		return w.startedByJob(c)
	case ir.Limits:
		return limitOfJob(c.Limit)
	case ir.Process:
		return backends.Unenforced(ir.GapProcessSignal, whySameUser)
	case ir.Env:
		if c.Rule == nil {
			return ir.Because(ir.Exact, "", w.set())
		}
		return backends.Exact
	default:
		return ir.Held{}
	}
}

// container says how a cell is held at tier 1.
func (w *ledgerWriter) container(c ir.Cell) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return backends.Stricter(whyAsk)
	}
	switch r := c.Rule.(type) {
	case *ir.FSRule:
		return w.rule(c, r, w.byRule[c.ID])
	case *ir.NetRule:
		if r.Listen {
			return backends.When(r.Allow, backends.Stricter(whyNoListen))
		}
		return backends.When(r.Allow, backends.Stricter(whyNoHosts))
	case *ir.EnvRule:
		return ir.Because(ir.Assumed, "", whyBlock)
	case *ir.CommandRule:
		if c.Aspect == ir.AspectProgram {
			return backends.Stricter(whyListed)
		}
		return unlisted(r, c.Aspect)
	}
	switch c.Resource {
	case ir.FS:
		if c.ID == ir.BaseRule {
			return ofBase(c.Aspect, w.base)
		}
		return w.ofDefault(c.Aspect)
	case ir.Env:
		return ir.Because(ir.Assumed, "", whyBlock, w.set())
	case ir.Commands:
		return w.started(c)
	case ir.Limits:
		return limitOfContainer(c.Limit)
	case ir.Net:
		return ir.Because(ir.Exact, "", whyItself)
	case ir.Process:
		return ir.Because(ir.Assumed, "", whyConsole)
	}
	return backends.Exact
}

// set is the remark about the variables that are set though no rule forwards them.
func (w *ledgerWriter) set() ir.CauseID {
	if w.view.Tool.Home != ir.HomePrivate {
		return whySets
	}
	return whySet
}

// started is about the programs that no rule names. A pseudo console is made outside of the job;
// a pseudo console that the tool makes itself brings a program of the system, past the limit of the job
// (Project Zero, "In-Console-Able", 2015).
func (w *ledgerWriter) started(c ir.Cell) ir.Held {
	switch {
	case c.Aspect != ir.AspectProgram:
		return backends.Exact
	case w.alone:
		return ir.Because(ir.Assumed, "", whyConhost)
	case w.listed():
		return backends.Weaker(ir.GapCommandsProgram, whyPrograms)
	default:
		return backends.Join(backends.Stricter(whyMSYS), backends.Stricter(whyChildPipe))
	}
}

// ofDefault is about places that no rule names.
func (w *ledgerWriter) ofDefault(a ir.Aspect) ir.Held {
	switch a {
	case ir.AspectRead:
		return backends.Join(backends.Weaker(ir.GapFSDefault, whyAmbient), backends.Stricter(whyHidden))
	case ir.AspectExecute:
		return backends.Weaker(ir.GapFSDefault, whyAmbient)
	case ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectMetadata:
		return backends.Weaker(ir.GapFSDefault, whyProfile)
	case ir.AspectSocket:
		return backends.Weaker(ir.GapFSDefault, whyPipes)
	case ir.AspectOthers:
		return backends.Exact
	default:
		held := w.move(0)
		if held.Gap != "" {
			held.Gap = ir.GapFSDefault
		}
		return held
	}
}

// ofBase is about the system's directories, whose lists are used as they are: they
// let every AppContainer read and execute, in most places.
func ofBase(a ir.Aspect, sets []ir.CapSet) ir.Held {
	c, ok := ir.ParseCapability(string(a))
	if !ok {
		return backends.Exact
	}
	var held []ir.Held
	for _, caps := range sets {
		switch granted := caps.Has(c); {
		case granted && c == ir.Read:
			held = append(held, backends.Stricter(whyOwnBase), backends.Stricter(whyNull),
				backends.Stricter(whyAncestors))
		case granted:
			held = append(held, backends.Stricter(whyOwnBase), backends.Stricter(whyPerUser))
		case ambientCaps.Has(c):
			held = append(held, backends.Weaker(ir.GapFSDefault, whyAmbient))
		}
	}
	return backends.Join(held...)
}

// rule is about the regions that one rule governs. A rule that governs nothing, since a later rule names the same path,
// has nothing to be held.
func (w *ledgerWriter) rule(cell ir.Cell, r *ir.FSRule, t traits) ir.Held {
	held := []ir.Held{w.placed(cell, r, t)}
	for _, n := range w.byName[cell.ID] {
		// Names that are there at the start have lists of their own, later names that of their directory.
		held = append(held, w.place(cell.Aspect, n.Caps, traits{listed: true}))
		for _, given := range around(n) {
			held = append(held, n.Held(cell.Aspect, given, whyByName, whyNameClosed))
			if cell.Aspect == ir.AspectOthers && given != 0 {
				held = append(held, ir.Because(ir.Assumed, "", whyMovedAway))
			}
			c, ok := ir.ParseCapability(string(cell.Aspect))
			if ok && (given.Has(c) || !n.Caps.Has(c) && given.Has(ir.Create)) {
				held = append(held, w.capability(c, given, traits{listed: true}, ""))
			}
		}
	}
	if cell.Aspect == ir.AspectMove && len(w.byName) > 0 {
		held = append(held, backends.Weaker(ir.GapFSNames, whyBrings), backends.Stricter(whyNamedHeld))
	}
	return backends.Join(held...)
}

// around are the capabilities, each once, that a directory with a name of a rule may have: those of the region, or of a
// rule by name that is about the directory.
func around(n backends.Named) []ir.CapSet {
	out := []ir.CapSet{n.Region.Caps}
	for _, o := range backends.NamedIn(n.Region) {
		if !slices.Contains(out, o.Caps) {
			out = append(out, o.Caps)
		}
	}
	return out
}

// placed is about the regions that a rule governs.
func (w *ledgerWriter) placed(cell ir.Cell, r *ir.FSRule, t traits) ir.Held {
	if !t.governs {
		return backends.Exact
	}
	if !t.named {
		return nameless(r.Caps)
	}
	a := cell.Aspect
	if r.Guards() && a != ir.AspectOthers {
		return backends.Join(w.guarded(a, r, t), backends.Weaker(ir.GapFSProtected, whyGuardless))
	}
	held := w.place(a, r.Caps, t)
	if a != ir.AspectMove {
		return held
	}
	for _, gap := range t.takable {
		switch gap {
		case ir.GapFSProtected:
			held = backends.Join(held, backends.Weaker(gap, whyGuardless))
		case ir.GapFSMove:
			held = backends.Join(held, backends.Weaker(gap, whyOthers))
		}
	}
	return held
}

// place is about places where a rule grants some capabilities.
func (w *ledgerWriter) place(a ir.Aspect, caps ir.CapSet, t traits) ir.Held {
	switch a {
	case ir.AspectMetadata:
		return w.capability(ir.Update, caps, t, whyMetadata)
	case ir.AspectSocket:
		return w.capability(ir.Update, caps, t, whySocket)
	case ir.AspectMove:
		return w.move(caps)
	case ir.AspectOthers:
		return backends.When(caps != 0, ir.Because(ir.Assumed, "", whyMovedAway))
	default:
		c, _ := ir.ParseCapability(string(a))
		return w.capability(c, caps, t, "")
	}
}

// guarded is about protected paths that are there at the start.
func (w *ledgerWriter) guarded(a ir.Aspect, r *ir.FSRule, t traits) ir.Held {
	c, ok := ir.ParseCapability(string(a))
	if !ok {
		return backends.Exact
	}
	return w.capability(c, r.Caps, t, "")
}

// nameless is about a rule on a path that no file here can have: what it grants
// cannot be used, and what it withholds is not there.
func nameless(caps ir.CapSet) ir.Held {
	if caps == 0 {
		return ir.Because(ir.Exact, "", whyNoName)
	}
	return backends.Stricter(whyNoName)
}

// capability says how one capability is held in a rule's regions.
func (w *ledgerWriter) capability(c ir.Capability, caps ir.CapSet, t traits, granted ir.CauseID) ir.Held {
	if !caps.Has(c) {
		return w.withheld(c, caps)
	}
	held := []ir.Held{}
	if granted != "" {
		held = append(held, backends.Stricter(granted))
	}
	switch c {
	case ir.Create:
		held = append(held, backends.Stricter(whySymlink))
	case ir.Delete:
		if t.listed {
			held = append(held, backends.Stricter(whySelf))
		}
	case ir.Execute:
		if w.listed() {
			held = append(held, backends.Stricter(whyListed))
		}
	case ir.Read, ir.Update:
	}
	if t.skipped && !t.ambient.Has(c) {
		held = append(held, backends.Stricter(whyAbsent))
	}
	return backends.Join(append(held, backends.Stricter(whyCarried))...)
}

// withheld says how a capability is held that a rule does not grant. Where the tool
// may make files or move them to, it decides by their access lists what it can do
// with them; it cannot start them where it can start nothing.
func (w *ledgerWriter) withheld(c ir.Capability, caps ir.CapSet) ir.Held {
	var held []ir.Held
	if caps.Has(ir.Create) && !(c == ir.Execute && w.alone) {
		held = append(held, backends.Weaker(ir.GapFSCreate, whyOwn))
	}
	switch c {
	case ir.Read:
		if len(wordsFor(caps, w.listed())) == 0 {
			held = append(held, backends.Stricter(whyHidden))
		}
	case ir.Execute:
		if caps.Has(ir.Read) {
			held = append(held, backends.Stricter(whyLibrary))
		}
	case ir.Create, ir.Update, ir.Delete:
	}
	return backends.Join(held...)
}

// startedByJob says how the cells of programs are held at tier 0.
func (w *ledgerWriter) startedByJob(c ir.Cell) ir.Held {
	r, named := c.Rule.(*ir.CommandRule)
	switch {
	case named:
		return unlisted(r, c.Aspect)
	case c.Aspect != ir.AspectProgram || !w.listed():
		return backends.Exact
	case w.alone:
		return backends.Weaker(ir.GapCommandsProgram, whySurrogate)
	default:
		return backends.Unenforced(ir.GapCommandsProgram, whyAnyProgram)
	}
}

// unlisted is about the arguments and variables of a listed program, which no tier restricts.
func unlisted(r *ir.CommandRule, a ir.Aspect) ir.Held {
	switch {
	case a == ir.AspectProgram || !r.Restricts(a):
		return backends.Exact
	case a == ir.AspectArgs:
		return backends.Unenforced(ir.GapCommandsArgs, whyNoArgs)
	default:
		return backends.Unenforced(ir.GapCommandsEnvs, whyNoEnvs)
	}
}

func limitOfJob(k ir.LimitKind) ir.Held {
	surrogate := backends.Weaker(ir.GapOfLimit(k), whySurrogate)
	switch k {
	case ir.LimitCPUTime:
		return backends.Join(surrogate, limitOfContainer(k))
	case ir.LimitOpenFiles, ir.LimitFileSize:
		return limitOfContainer(k)
	case ir.LimitMemory, ir.LimitProcesses, ir.LimitWallTime:
	}
	return surrogate
}

func limitOfContainer(k ir.LimitKind) ir.Held {
	gap := ir.GapOfLimit(k)
	switch k {
	case ir.LimitCPUTime:
		return backends.Weaker(gap, whyUserTime)
	case ir.LimitWallTime:
		return backends.Supervised(gap, whyTimer)
	case ir.LimitOpenFiles, ir.LimitFileSize:
		return backends.Unenforced(gap, whyNoSuchLimit)
	case ir.LimitMemory, ir.LimitProcesses:
	}
	return backends.Exact
}
