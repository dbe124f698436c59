package landlock

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

var exact = ir.Held{Is: ir.Exact}

func stricter(why ...ir.CauseID) ir.Held { return ir.Because(ir.Stricter, "", why...) }

func supervised(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Supervised, gap, why...) }

func weaker(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Weaker, gap, why...) }

// ledgerWriter writes the ledger of one tool.
type ledgerWriter struct {
	*ruleset
	rows *ir.LedgerBuilder
	// byRule are the regions that each rule governs.
	byRule map[ir.RuleID][]*ir.Region
	// noMetadata is true when the filter refuses metadata calls outright.
	noMetadata, noLinks bool
	gain                bool
	// judges are the classes of calls that a supervisor answers, as far as regions tell.
	judges Judges
}

func (s *ruleset) ledger() ir.Ledger {
	b := &ledgerWriter{
		ruleset: s, rows: ir.NewLedger(ir.Linux), byRule: map[ir.RuleID][]*ir.Region{},
		noMetadata: !s.updatesMetadata(), noLinks: s.refusesLinks(), gain: s.unseenGain(), judges: s.judges(),
	}
	s.walk(func(r *ir.Region) { b.byRule[r.ID()] = append(b.byRule[r.ID()], r) })
	b.files()
	b.network()
	b.environment()
	b.commands()
	b.limits()
	b.add(ir.Process, ir.DefaultRule, ir.AspectSignal, func(abi int) ir.Held {
		if abi < 6 {
			return weaker(ir.GapProcessSignal, whySignal)
		}
		return exact
	})
	return b.rows.Ledger()
}

// add states a cell at every ABI version, joining neighbours that are held alike.
func (b *ledgerWriter) add(r ir.Resource, rule ir.RuleID, a ir.Aspect, at func(abi int) ir.Held) {
	b.rows.Add(r, rule, a, ir.Levels{}, ir.Because(ir.Unenforced, "", whyNoLandlock))
	for from := 1; from <= MaxABI; {
		held, to := at(from), from
		for to < MaxABI && at(to+1).Equal(held) {
			to++
		}
		b.rows.Add(r, rule, a, ir.Levels{From: from, To: to}, held)
		from = to + 1
	}
}

func (b *ledgerWriter) same(r ir.Resource, rule ir.RuleID, a ir.Aspect, h ir.Held) {
	b.add(r, rule, a, func(int) ir.Held { return h })
}

// files states the cells of every filesystem rule, of the base as a whole, and of
// what no rule matches.
func (b *ledgerWriter) files() {
	for _, e := range b.view.Stated() {
		b.rule(e)
	}
	if b.view.HasBase() {
		b.baseRows()
	}
	for _, a := range ir.Aspects(ir.FS) {
		held := exact
		if a == ir.AspectMetadata {
			held = b.metadata(false)
		}
		b.same(ir.FS, ir.DefaultRule, a, held)
	}
}

func (b *ledgerWriter) baseRows() {
	surrounded := b.surrounded()
	for _, a := range ir.Aspects(ir.FS) {
		held := exact
		switch a {
		case ir.AspectRead:
			held = b.baseRead(surrounded)
		case ir.AspectExecute:
			if surrounded {
				held = stricter(whyBeside)
			}
		case ir.AspectMetadata:
			held = b.metadata(false)
		case ir.AspectOthers:
			held = ir.Because(ir.Assumed, "", whyMoved)
		}
		b.same(ir.FS, ir.BaseRule, a, held)
	}
}

// served reports whether a supervisor sees every open of the tool.
func (b *ledgerWriter) served() bool {
	return judged{Judges: b.judges, metadata: !b.noMetadata, narrows: b.view.Tool.Commands.Narrows()}.serves()
}

// baseRead says how the reading of the base is held. A tool whose opens are all supervised is
// shown itself in /proc.
func (b *ledgerWriter) baseRead(surrounded bool) ir.Held {
	var why []ir.CauseID
	if !b.served() {
		why = append(why, whyBase)
	}
	if b.view.Tool.Commands.Narrows() {
		why = append(why, whyEnviron)
	}
	if surrounded {
		why = append(why, whyBeside)
	}
	if why == nil {
		return exact
	}
	return stricter(why...)
}

// surrounded reports whether another root lies in what the base lets be started.
func (b *ledgerWriter) surrounded() bool {
	found := false
	b.walk(func(r *ir.Region) {
		found = found || r.At.Root.Kind == ir.System && b.expanded(r).Has(ir.Execute)
	})
	return found
}

func (b *ledgerWriter) rule(e ir.Entry) {
	caps := e.Rule.Caps
	regions := b.byRule[e.ID]
	for _, c := range ir.Capabilities {
		b.add(ir.FS, e.ID, ir.AspectOf(c), func(abi int) ir.Held {
			if !caps.Has(c) || len(regions) == 0 {
				return exact
			}
			return b.granted(c, caps, regions, abi)
		})
	}
	private := e.Rule.At.Root.Kind == ir.Home || e.Rule.At.Root.Kind == ir.Temp
	held := b.metadata(caps.Has(ir.Update))
	if private && b.noMetadata {
		held = stricter(whyNoUpdate)
	}
	b.same(ir.FS, e.ID, ir.AspectMetadata, held)
	b.add(ir.FS, e.ID, ir.AspectMove, func(abi int) ir.Held { return b.move(caps, regions, abi) })
	socket := exact
	if caps.Has(ir.Update) {
		socket = stricter(whySocket)
	}
	b.same(ir.FS, e.ID, ir.AspectSocket, socket)
	b.same(ir.FS, e.ID, ir.AspectOthers, b.others(e))
}

// metadata is how chmod and its like are held: refused outright when nothing may
// be updated, otherwise neither withheld nor limited by Landlock.
func (b *ledgerWriter) metadata(granted bool) ir.Held {
	switch {
	case !b.noMetadata:
		return supervised(ir.GapFSMetadata, whyMetadata)
	case granted:
		return stricter(whyNoUpdate)
	default:
		return exact
	}
}

// granted says how the ruleset holds a capability that a rule grants.
func (b *ledgerWriter) granted(c ir.Capability, caps ir.CapSet, regions []*ir.Region, abi int) ir.Held {
	takes := ir.Caps(c)
	if c == ir.Create {
		// Making a file takes the right to fill it.
		takes = takes.With(ir.Update)
	}
	expands := slices.ContainsFunc(regions, func(r *ir.Region) bool { return b.expanded(r)&takes != 0 })
	switch {
	case c == ir.Execute && slices.ContainsFunc(regions, unopened):
		return stricter(whyExecute)
	case c == ir.Create && caps.Has(ir.Delete) && !caps.Has(ir.Update):
		return supervised(ir.GapFSCreate, whyReplace)
	case c == ir.Create && !caps.Has(ir.Update):
		return supervised(ir.GapFSCreate, whyFill)
	case expands && !b.judged(c):
		if c == ir.Read {
			return stricter(whyLate, whyList)
		}
		return stricter(whyLate)
	case expands:
		if c == ir.Execute {
			return supervised(ir.GapFSRevoke, whyExpanded, whyFromMemory)
		}
		if c == ir.Update && abi < 3 {
			return supervised(ir.GapFSRevoke, whyExpanded, whyTruncate)
		}
		return supervised(ir.GapFSRevoke, whyExpanded)
	case c == ir.Update && abi < 3:
		return stricter(whyTruncate)
	case (c == ir.Create || c == ir.Delete) && slices.ContainsFunc(regions, func(r *ir.Region) bool { return b.foreign(r, takes) }):
		return supervised(ir.GapFSCreate, whySelf)
	}
	return exact
}

// judged reports whether a supervisor answers the calls that a capability is about.
func (b *ledgerWriter) judged(c ir.Capability) bool {
	switch c {
	case ir.Read:
		return b.judges.Reads
	case ir.Create, ir.Delete:
		return b.judges.Names
	case ir.Update:
		return b.judges.Updates
	case ir.Execute:
		return b.judges.Starts || b.view.Tool.Commands != nil
	default:
		return false
	}
}

// others says how a rule is held when other processes move what it was about: calls that
// are judged are judged where the file is now.
// See RATIONALE D45.
func (b *ledgerWriter) others(e ir.Entry) ir.Held {
	private := e.Rule.At.Root.Kind != ir.Workspace && e.Rule.At.Root.Kind != ir.External
	for _, c := range e.Rule.Caps.List() {
		if private || !b.judged(c) {
			return ir.Because(ir.Assumed, "", whyMoved)
		}
	}
	return exact
}

// move says how renames and links out of and into a rule's region are held.
func (b *ledgerWriter) move(caps ir.CapSet, regions []*ir.Region, abi int) ir.Held {
	switch {
	case slices.ContainsFunc(regions, b.loose):
		return supervised(ir.GapFSMove, whyPinned)
	case b.gain && caps&(ir.Write|ir.FileCaps) != 0:
		return supervised(ir.GapFSMove, whyGain)
	case caps&ir.Write == 0:
		return exact
	case abi < 2:
		return stricter(whyRefer)
	case b.noLinks:
		return stricter(whyLinks)
	case caps.Has(ir.Update) && !caps.Contains(ir.Write):
		return stricter(whyMoveOver)
	}
	return exact
}

// unseenGain reports whether a move that the policy refuses because something
// would be gained could pass the kernel's own comparison, since what is gained is
// not a right of the new directory in the ruleset.
func (s *ruleset) unseenGain() bool {
	var movable, hidden []ir.CapSet
	s.walk(func(r *ir.Region) {
		caps := r.Caps
		if caps.Has(ir.Delete) || caps.Contains(ir.Caps(ir.Read, ir.Update)) {
			movable = append(movable, caps)
		}
		// Directly in the directory the kernel sees what is granted on it as a whole,
		// deeper, in its entries, also what is granted on them one by one.
		for _, seen := range []ir.CapSet{s.whole(r), s.wants(r)} {
			if !seen.Has(ir.Create) {
				continue
			}
			gain := caps &^ seen
			if s.view.Tool.Commands != nil {
				// Listed files are pinned, and no other can be started.
				gain = gain.Without(ir.Execute)
			}
			hidden = append(hidden, gain)
		}
	})
	for _, gain := range hidden {
		for _, had := range movable {
			if gain&^had != 0 {
				return true
			}
		}
	}
	return false
}

// network states the cells of every net rule. What is denied stays denied as long
// as no cell is accepted that opens ports.
func (b *ledgerWriter) network() {
	opens := false
	for i := range b.view.Tool.Net {
		opens = opens || b.view.Tool.Net[i].Allow && !literal(&b.view.Tool.Net[i], b.view.Tool.Net)
	}
	denied := func(int) ir.Held { return exact }
	if opens {
		denied = anyHost
	}
	for i := range b.view.Tool.Net {
		r := &b.view.Tool.Net[i]
		if r.Allow && literal(r, b.view.Tool.Net) {
			b.same(ir.Net, ir.NetRuleID(i), ir.AspectConnect, supervised(ir.GapNetAddress, whyAddress))
			continue
		}
		b.add(ir.Net, ir.NetRuleID(i), ir.AspectConnect, denied)
	}
	b.add(ir.Net, ir.DefaultRule, ir.AspectConnect, denied)
}

// anyHost is how the names of hosts are held, with the ports that accepting that opens.
func anyHost(abi int) ir.Held {
	causes := []ir.CauseID{whyHost}
	if abi < 4 {
		causes = append(causes, whyAnyTCP)
	}
	if abi < 10 {
		causes = append(causes, whyAnyUDP)
	}
	return ir.Because(ir.Advisory, ir.GapNetHost, causes...)
}

// literal reports whether a rule is about one address and port, which a connect call
// shows, and no other rule says more about that address than such a call does.
func literal(r *ir.NetRule, all []ir.NetRule) bool {
	shown := func(r *ir.NetRule) bool { return r.Scheme == "" && len(r.Path) == 0 }
	return r.Host.Kind == ir.HostAddr && r.Port != 0 && shown(r) &&
		!slices.ContainsFunc(all, func(o ir.NetRule) bool { return o.Host == r.Host && !shown(&o) })
}

func (b *ledgerWriter) environment() {
	for i := range b.view.Tool.Env {
		b.same(ir.Env, ir.EnvRuleID(i), ir.AspectForward, exact)
	}
	b.same(ir.Env, ir.DefaultRule, ir.AspectForward, exact)
}

func (b *ledgerWriter) commands() {
	set := b.view.Tool.Commands
	if set == nil {
		for _, a := range ir.Aspects(ir.Commands) {
			b.same(ir.Commands, ir.DefaultRule, a, exact)
		}
		return
	}
	program := supervised(ir.GapCommandsProgram, whyLoader)
	for i := range set.Rules {
		r := &set.Rules[i]
		id := r.ID()
		b.same(ir.Commands, id, ir.AspectProgram, program)
		b.same(ir.Commands, id, ir.AspectArgs, unless(r.AnyArgs, supervised(ir.GapCommandsArgs, whyArgs)))
		b.same(ir.Commands, id, ir.AspectEnvs, unless(r.AllEnvs, supervised(ir.GapCommandsEnvs, whyEnvs)))
	}
	b.same(ir.Commands, ir.DefaultRule, ir.AspectProgram, program)
	b.same(ir.Commands, ir.DefaultRule, ir.AspectArgs, exact)
	b.same(ir.Commands, ir.DefaultRule, ir.AspectEnvs, exact)
}

func unless(free bool, h ir.Held) ir.Held {
	if free {
		return exact
	}
	return h
}

func (b *ledgerWriter) limits() {
	for _, l := range b.view.Tool.Limits {
		held := exact
		gap := ir.GapOfLimit(l.Kind)
		switch l.Kind {
		case ir.LimitMemory:
			held = weaker(gap, whyPerTree)
		case ir.LimitCPUTime:
			held = weaker(gap, whyPerProc)
		case ir.LimitProcesses:
			held = weaker(gap, whyUserWide)
		case ir.LimitWallTime:
			held = supervised(gap, whyWall)
		case ir.LimitOpenFiles, ir.LimitFileSize:
		}
		b.same(ir.Limits, l.ID(), "limit", held)
	}
}
