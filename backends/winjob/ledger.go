package winjob

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// The reasons of the ledger. Each is one sentence part that a reviewer can check.
const (
	// Tier 0.
	whyNoFiles     = "a job object and a token of the same user do not restrict files"
	whyNoNetwork   = "a job object does not restrict the network"
	whySameUser    = "processes of the same user can be opened and ended"
	whyAnyProgram  = "neither a job object nor the token keeps a program from being started"
	whySurrogate   = "a process that a service starts on the tool's behalf is outside of the job"
	whyNoEnvs      = "whoever starts a program chooses its environment"
	whyNoArgs      = "nobody looks at arguments"
	whyUserTime    = "only time in user mode counts"
	whyTimer       = "the loader ends the job when the time is over"
	whyNoSuchLimit = "a job object has no such limit"

	// Tier 1: what is withheld besides.
	whyCarried    = "what others move here, or make with an access list of its own, is refused"
	whyAbsent     = "a path that is not there at the start has what the directory above has"
	whySelf       = "one right covers removing and moving, so the paths of rules and what leads to them cannot be removed"
	whySymlink    = "symbolic links need a privilege that an AppContainer lacks"
	whyHidden     = "size and times are hidden as well, unless the directory above may be listed"
	whyLibrary    = "a library loads only where execute is granted"
	whyListed     = "where programs are listed, nothing else may be executed or loaded as a library"
	whyMetadata   = "owner, access list, and the attributes of directories stay as they are"
	whySocket     = "unverified: an AppContainer may be refused although the file may be written"
	whyReplaceAll = "replacing a file by a rename needs create and delete there"
	whyOwnBase    = "what lacks an entry for ALL APPLICATION PACKAGES is refused"
	whyNoHosts    = "nothing is opened, since the capabilities of an AppContainer know no hosts"
	whyNoName     = "no file on NTFS can have this name"

	// Tier 1: what is let through.
	whyOwn       = "who makes a file chooses its access list, and what is moved keeps its own"
	whyGain      = "a move or link that would gain succeeds, and the object gains when the next start renews the lists"
	whyLink      = "a hard link needs no read of the file"
	whyReplace   = "with create and delete, a rename replaces a file without update of it"
	whyAmbient   = "every AppContainer reads and runs what has an entry for ALL APPLICATION PACKAGES"
	whyProfile   = "Windows gives every AppContainer a profile directory to write in"
	whyOthers    = "what others move here stays as usable to the tool as it was, until the next start"
	whyGuardless = "a protected path that is not there at the start can be made, with an access list of the tool's choice"
	whyMovedAway = "assumes that no other process moves files of the rule elsewhere during the run: they keep their access lists"
	whyPipes     = "named pipes with an entry for ALL APPLICATION PACKAGES are open to every AppContainer"
	whyPrograms  = "programs of the ambient directories, and what the tool makes itself, can be started"

	// Exact, with a remark.
	whySet  = "SystemRoot is set besides, to what every process can read"
	whySets = "SystemRoot and LOCALAPPDATA are set besides, to what every process can read and to a place of the tool's own"
)

// defaultRule is what no rule matches, baseRule the base as a whole.
const (
	defaultRule = "default"
	baseRule    = "base"
)

var exact = ir.Held{Is: ir.Exact}

func stricter(why string) ir.Held { return ir.Held{Is: ir.Stricter, Why: why} }

func coarser(why, accept string) ir.Held { return ir.Held{Is: ir.Coarser, Why: why, Accept: accept} }

func unenforced(why, accept string) ir.Held {
	return ir.Held{Is: ir.Unenforced, Why: why, Accept: accept}
}

// rank orders what is held by how little may be relied upon.
func rank(e ir.Enforcement) int {
	switch e {
	case ir.Exact:
		return 0
	case ir.Stricter, ir.Assumed:
		return 1
	case ir.Brokered:
		return 2
	case ir.Coarser:
		return 3
	case ir.Cooperative:
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
	var whys []string
	for i, h := range all {
		if i == 0 {
			out = h
		}
		if h.Why != "" && !slices.Contains(whys, h.Why) {
			whys = append(whys, h.Why)
		}
	}
	out.Why = strings.Join(whys, "; ")
	return out
}

// book writes the ledger of one tool.
type book struct {
	*layout
	rows *ir.LedgerBuilder
	// byRule are the plans that each rule governs, by rule identifier.
	byRule map[string][]*plan
	// sets are the capabilities that a move can change, each once, of all regions that
	// are not the system's.
	sets []ir.CapSet
	// alone is true where the tool may start nothing.
	alone bool
}

func (l *layout) ledger() ir.Ledger {
	b := &book{layout: l, rows: ir.NewLedger(ir.Windows), byRule: map[string][]*plan{}, alone: childless(l.view.Tool)}
	for _, p := range l.plans {
		caps := p.region.Caps
		if l.listed() {
			// Files that may be started are pinned, so no move changes what starts.
			caps = caps.Without(ir.Execute)
		}
		b.byRule[governing(p.region)] = append(b.byRule[governing(p.region)], p)
		if p.region.At.Root.Kind != ir.System && !p.unmatched && !p.guards() {
			if !slices.Contains(b.sets, caps) {
				b.sets = append(b.sets, caps)
			}
		}
	}
	b.fileCells()
	b.netCells()
	b.envCells()
	b.commandCells()
	b.limitCells()
	b.add(ir.Process, defaultRule, ir.AspectSignal, unenforced(whySameUser, "process.signal"), exact)
	return b.rows.Ledger()
}

// add states a cell at both tiers.
func (b *book) add(r ir.Resource, rule string, a ir.Aspect, job, container ir.Held) {
	container = unverified(r, rule, a, container)
	if job == container {
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
		b.file(baseRule, func(a ir.Aspect) ir.Held { return ofBase(a, base) })
	}
	b.file(defaultRule, b.ofDefault)
}

func (b *book) file(id string, at func(ir.Aspect) ir.Held) {
	for _, a := range ir.Aspects(ir.FS) {
		b.add(ir.FS, id, a, unenforced(whyNoFiles, "fs.paths"), at(a))
	}
}

// ofDefault is about places that no rule names.
func (b *book) ofDefault(a ir.Aspect) ir.Held {
	switch a {
	case ir.AspectRead:
		return join(coarser(whyAmbient, "fs.default"), stricter(whyHidden))
	case ir.AspectExecute:
		return coarser(whyAmbient, "fs.default")
	case ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectMetadata:
		return coarser(whyProfile, "fs.default")
	case ir.AspectSocket:
		return coarser(whyPipes, "fs.default")
	case ir.AspectOthers:
		return exact
	default:
		held := b.move(0)
		if held.Accept != "" {
			held.Accept = "fs.default"
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
			held = append(held, coarser(whyAmbient, "fs.default"))
		}
	}
	return join(held...)
}

// rule is about the regions that one rule governs. A rule that governs nothing, since
// a later one names the same path, has nothing to be held.
func (b *book) rule(a ir.Aspect, r *ir.FSRule, plans []*plan) ir.Held {
	if len(plans) == 0 {
		return exact
	}
	if !slices.ContainsFunc(plans, func(p *plan) bool { return !p.unmatched }) {
		return nameless(r.Caps)
	}
	if r.Guards() && a != ir.AspectOthers {
		return join(b.guarded(a, r, plans), coarser(whyGuardless, "fs.protected"))
	}
	switch a {
	case ir.AspectMetadata:
		return b.capability(ir.Update, r.Caps, plans, whyMetadata)
	case ir.AspectSocket:
		return b.capability(ir.Update, r.Caps, plans, whySocket)
	case ir.AspectMove:
		held := b.move(r.Caps)
		for _, p := range plans {
			switch {
			case p.takable() && p.guards():
				held = join(held, coarser(whyGuardless, "fs.protected"))
			case p.takable():
				held = join(held, coarser(whyOthers, "fs.move"))
			}
		}
		return held
	case ir.AspectOthers:
		if r.Caps == 0 {
			return exact
		}
		return ir.Held{Is: ir.Assumed, Why: whyMovedAway}
	default:
		c, _ := ir.ParseCapability(string(a))
		return b.capability(c, r.Caps, plans, "")
	}
}

// guarded is about protected paths that are there at the start.
func (b *book) guarded(a ir.Aspect, r *ir.FSRule, plans []*plan) ir.Held {
	c, ok := ir.ParseCapability(string(a))
	if !ok {
		return exact
	}
	return b.capability(c, r.Caps, plans, "")
}

// nameless is about a rule on a path that no file here can have: what it grants
// cannot be used, and what it withholds is not there.
func nameless(caps ir.CapSet) ir.Held {
	if caps == 0 {
		return ir.Held{Is: ir.Exact, Why: whyNoName}
	}
	return stricter(whyNoName)
}

// capability says how one capability is held in a rule's regions.
func (b *book) capability(c ir.Capability, caps ir.CapSet, plans []*plan, granted string) ir.Held {
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
		if slices.ContainsFunc(plans, func(p *plan) bool { return p.entry != nil && !p.root }) {
			held = append(held, stricter(whySelf))
		}
	case ir.Execute:
		if b.listed() {
			held = append(held, stricter(whyListed))
		}
	case ir.Read, ir.Update:
	}
	if slices.ContainsFunc(plans, func(p *plan) bool {
		return p.entry != nil && p.entry.Absent == AbsentSkip && !p.above.Has(c)
	}) {
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
		held = append(held, coarser(whyOwn, "fs.create"))
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
			held = append(held, coarser(whyGain, "fs.move"))
		}
		if linksUnread(caps, other) || linksUnread(other, caps) {
			held = append(held, coarser(whyLink, "fs.move"))
		}
		if !caps.Contains(other) {
			held = append(held, coarser(whyOthers, "fs.move"))
		}
	}
	replaces := caps.Contains(ir.Caps(ir.Create, ir.Delete))
	if replaces && !caps.Has(ir.Update) {
		held = append(held, coarser(whyReplace, "fs.move"))
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
	job := unenforced(whyNoNetwork, "net.default")
	for i := range b.view.Tool.Net {
		held := exact
		if b.view.Tool.Net[i].Allow {
			held = stricter(whyNoHosts)
		}
		b.add(ir.Net, "net["+strconv.Itoa(i)+"]", ir.AspectConnect, job, held)
	}
	b.add(ir.Net, defaultRule, ir.AspectConnect, job, exact)
}

func (b *book) envCells() {
	for i := range b.view.Tool.Env {
		b.add(ir.Env, "env["+strconv.Itoa(i)+"]", ir.AspectForward, exact, exact)
	}
	set := ir.Held{Is: ir.Exact, Why: whySet}
	if b.view.Tool.Home != ir.HomePrivate {
		set.Why = whySets
	}
	b.add(ir.Env, defaultRule, ir.AspectForward, set, set)
}

// commandCells states the cells of every listed program and of all others.
func (b *book) commandCells() {
	set := b.view.Tool.Commands
	other, job := exact, exact
	switch {
	case b.alone:
		job = coarser(whySurrogate, "commands.program")
	case set != nil:
		job = unenforced(whyAnyProgram, "commands.program")
		other = coarser(whyPrograms, "commands.program")
		for i := range set.Rules {
			b.program(&set.Rules[i])
		}
	}
	b.add(ir.Commands, defaultRule, ir.AspectProgram, job, other)
	b.add(ir.Commands, defaultRule, ir.AspectArgs, exact, exact)
	b.add(ir.Commands, defaultRule, ir.AspectEnvs, exact, exact)
}

func (b *book) program(r *ir.CommandRule) {
	id := "commands." + r.Program
	b.add(ir.Commands, id, ir.AspectProgram, exact, stricter(whyListed))
	args, envs := exact, exact
	if !r.AnyArgs {
		args = unenforced(whyNoArgs, "commands.args")
	}
	if !r.AllEnvs {
		envs = unenforced(whyNoEnvs, "commands.envs")
	}
	b.add(ir.Commands, id, ir.AspectArgs, args, args)
	b.add(ir.Commands, id, ir.AspectEnvs, envs, envs)
}

func (b *book) limitCells() {
	for _, l := range b.view.Tool.Limits {
		accept := "limits." + l.Kind.String()
		job := coarser(whySurrogate, accept)
		held := exact
		switch l.Kind {
		case ir.LimitMemory, ir.LimitProcesses:
		case ir.LimitCPUTime:
			held = coarser(whyUserTime, accept)
			job = join(job, held)
		case ir.LimitWallTime:
			held = ir.Held{Is: ir.Brokered, Why: whyTimer, Accept: accept}
		case ir.LimitOpenFiles, ir.LimitFileSize:
			held = unenforced(whyNoSuchLimit, accept)
			job = held
		}
		b.add(ir.Limits, l.Kind.String(), "limit", job, held)
	}
}
