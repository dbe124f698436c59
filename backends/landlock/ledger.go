package landlock

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// ledgerWriter writes the ledger of one tool.
type ledgerWriter struct {
	*ruleset
	// byRule are the properties of the regions that each rule governs.
	byRule map[ir.RuleID]traits
	// noMetadata is true when the filter refuses metadata calls outright.
	noMetadata, noLinks bool
	gain                bool
	// judges are the classes of calls that a supervisor answers, as far as regions tell.
	judges Judges
	// ports is true where rules name hosts, which opens ports if net.host is accepted.
	ports bool
	// surrounded is true where another root lies in a place that the base lets programs be started from.
	surrounded bool
	// ownless is true where the base has places that are the tool's own only under a supervisor:
	// the ruleset grants nothing there.
	ownless bool
}

func (s *ruleset) ledgerWriter() *ledgerWriter {
	w := &ledgerWriter{
		ruleset: s, byRule: make(map[ir.RuleID]traits, len(s.view.Entries())),
		noMetadata: !s.updatesMetadata(), noLinks: s.refusesLinks(), gain: s.unseenGain(), judges: s.judges(),
		ports: named(s.view.Tool.Net),
	}
	s.walk(func(r *ir.Region) {
		t := w.byRule[r.ID()]
		w.byRule[r.ID()] = traits{
			governs: true, expanded: t.expanded | s.expanded(r), foreign: t.foreign | s.foreign(r),
			byName:   t.byName | s.takenByName(r),
			unopened: t.unopened || unopened(r), loose: t.loose || s.loose(r),
		}
		w.surrounded = w.surrounded || r.At.Root.Kind == ir.System && s.expanded(r).Has(ir.Execute)
	})
	w.ownless = !w.served() && slices.ContainsFunc(w.view.Entries(), func(e ir.Entry) bool {
		return e.Rule.Origin.Layer == ir.LayerBase && ir.LinuxOwn(e.Rule.At.Path)
	})
	return w
}

// traits are the properties of the regions that one rule governs: of all regions together, as a rule is held
// as the least of its regions is.
type traits struct {
	governs           bool      // some region
	expanded, foreign ir.CapSet // as of a region
	byName            ir.CapSet // taken in some region by a rule by name
	unopened, loose   bool      // as of a region
}

// kind is all of a rule that its cells depend on.
type kind struct {
	traits
	caps ir.CapSet
	root ir.RootKind
	// guards is set for protected paths, whose names patterns may protect as well.
	guards bool
	byName bool
}

func (w *ledgerWriter) kind(id ir.RuleID, r *ir.FSRule) kind {
	return kind{w.byRule[id], r.Caps, r.At.Root.Kind, r.Guards(), r.ByName()}
}

func (s *ruleset) ledger() ir.Ledger {
	w := s.ledgerWriter()
	return ledgerBy(w, w.kind)
}

func ledgerBy[K comparable](w *ledgerWriter, kind func(ir.RuleID, *ir.FSRule) K) ir.Ledger {
	rows := ir.NewLedger(ir.Linux)
	ir.Fill(rows, w.view, kind, func(c ir.Cell) {
		rows.Add(c, ir.Levels{}, ir.Because(ir.Unenforced, "", whyNoLandlock))
		from, held := 1, w.held(c, 1)
		for _, abi := range steps {
			if next := w.held(c, abi); !next.Equal(held) {
				rows.Add(c, ir.Levels{From: from, To: abi - 1}, held)
				from, held = abi, next
			}
		}
		rows.Add(c, ir.Levels{From: from, To: MaxABI}, held)
	})
	return rows.Ledger()
}

// steps are the ABI versions above the first at which a cell can be held otherwise than at the version before.
var steps = []int{2, 3, 4, 6, 10}

// held says how a cell is held at an ABI version.
func (w *ledgerWriter) held(c ir.Cell, abi int) ir.Held {
	switch {
	case c.Aspect == ir.AspectAsk:
		return ir.Because(ir.Exact, "", whyAsk)
	case c.ID == ir.ClosedRule || c.Resource == ir.FS && c.ID == ir.DefaultRule && isCapability(c.Aspect):
		return ir.Because(ir.Exact, "", whyKernel)
	}
	switch r := c.Rule.(type) {
	case *ir.FSRule:
		return w.names(c, r, w.rule(c, r, abi))
	case *ir.NetRule:
		if r.Listen {
			return w.listen()
		}
		return w.connect(r, abi)
	case *ir.EnvRule:
		return backends.Exact
	case *ir.CommandRule:
		return program(r, c.Aspect)
	}
	switch c.Resource {
	case ir.FS:
		if c.ID == ir.BaseRule {
			return w.base(c.Aspect)
		}
		if c.Aspect == ir.AspectMetadata {
			return w.metadata(false)
		}
	case ir.Net:
		if c.Aspect == ir.AspectListen {
			return w.listen()
		}
		return w.denied(abi)
	case ir.Commands:
		return backends.When(c.Aspect == ir.AspectProgram && w.view.Tool.Commands != nil,
			backends.Supervised(ir.GapCommandsProgram, whyLoader))
	case ir.Limits:
		return limit(c.Limit)
	case ir.Process:
		return backends.When(abi < 6, backends.Weaker(ir.GapProcessSignal, whySignal))
	case ir.Env:
	}
	return backends.Exact
}

func isCapability(a ir.Aspect) bool {
	_, ok := ir.ParseCapability(string(a))
	return ok
}

// base says how the base as a whole is held.
func (w *ledgerWriter) base(a ir.Aspect) ir.Held {
	switch a {
	case ir.AspectRead:
		return w.baseRead()
	case ir.AspectExecute:
		return backends.When(w.surrounded, backends.Stricter(whyBeside))
	case ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectMove, ir.AspectSocket:
		return backends.When(w.ownless, backends.Stricter(whyBase))
	case ir.AspectMetadata:
		return w.metadata(false)
	case ir.AspectOthers:
		return ir.Because(ir.Assumed, "", whyMoved, whyHeld)
	default:
		return backends.Exact
	}
}

// served reports whether a supervisor sees every open of the tool.
func (w *ledgerWriter) served() bool {
	j := w.ruleset.judged(w.judges)
	j.late = false // its rows say so themselves
	return j.serves()
}

// baseRead says how the reading of the base is held. A tool whose opens are all supervised is
// shown itself in /proc.
func (w *ledgerWriter) baseRead() ir.Held {
	var why []ir.CauseID
	if w.ownless {
		why = append(why, whyBase)
	}
	if w.view.Tool.Commands.Narrows() {
		why = append(why, whyEnviron)
	}
	if w.surrounded {
		why = append(why, whyBeside)
	}
	if why == nil {
		return backends.Exact
	}
	return backends.Stricter(why...)
}

func (w *ledgerWriter) rule(cell ir.Cell, r *ir.FSRule, abi int) ir.Held {
	t := w.byRule[cell.ID]
	if c, ok := ir.ParseCapability(string(cell.Aspect)); r.ByName() && (ok || cell.Aspect == ir.AspectMove) {
		return w.heldByName(c, r)
	}
	switch cell.Aspect {
	case ir.AspectMetadata:
		private := r.At.Root.Kind == ir.Home || r.At.Root.Kind == ir.Temp
		if private && w.noMetadata && r.Caps.Has(ir.Update) {
			return backends.Supervised("", whyOwn)
		}
		return w.metadata(r.Caps.Has(ir.Update))
	case ir.AspectMove:
		return w.move(r.Caps, t, abi)
	case ir.AspectSocket:
		return backends.When(r.Caps.Has(ir.Update), backends.Stricter(whySocket))
	case ir.AspectOthers:
		return w.others(r)
	default:
		c, _ := ir.ParseCapability(string(cell.Aspect))
		if !r.Caps.Has(c) || !t.governs {
			return backends.Exact
		}
		return w.granted(c, r.Caps, t, abi)
	}
}

// names adds how names are held that patterns protect: the supervisor judges each when it is made, and directories that
// could bring some when they are moved.
func (w *ledgerWriter) names(c ir.Cell, r *ir.FSRule, held ir.Held) ir.Held {
	switch {
	case !w.view.ProtectsNames():
		return held
	case r.Guards() && slices.Contains([]ir.Aspect{ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete}, c.Aspect):
		return backends.Join(backends.Supervised(ir.GapFSProtected, whyNames), held)
	case c.Aspect == ir.AspectMove && r.At.Root.Kind == ir.Workspace && r.Caps.Has(ir.Create):
		return backends.Join(held, backends.Supervised(ir.GapFSProtected, whyBrings))
	default:
		return held
	}
}

// heldByName says how a rule by name is held: the supervisor judges each name when it is used.
func (w *ledgerWriter) heldByName(c ir.Capability, r *ir.FSRule) ir.Held {
	if c == ir.Execute && r.Caps.Has(c) && !r.Caps.Has(ir.Read) {
		return backends.Stricter(whyExecute)
	}
	return backends.Supervised(ir.GapFSNames, whyByName)
}

// metadata is how chmod and its like are held: refused outright when nothing may
// be updated, otherwise neither withheld nor limited by Landlock.
func (w *ledgerWriter) metadata(granted bool) ir.Held {
	switch {
	case !w.noMetadata:
		return backends.Supervised(ir.GapFSMetadata, whyMetadata)
	case granted:
		return backends.Stricter(whyNoUpdate)
	default:
		return backends.Exact
	}
}

// granted says how the ruleset holds a capability that a rule grants.
func (w *ledgerWriter) granted(c ir.Capability, caps ir.CapSet, t traits, abi int) ir.Held {
	takes := ir.Caps(c)
	if c == ir.Create {
		// Making a file takes the right to fill it.
		takes = takes.With(ir.Update)
	}
	expands := t.expanded&takes != 0
	switch {
	case c == ir.Execute && t.unopened:
		return backends.Stricter(whyExecute)
	case t.byName&takes != 0 && c == ir.Execute:
		return backends.Supervised(ir.GapFSNames, whyByName, whyFromMemory)
	case t.byName&takes != 0:
		return backends.Supervised(ir.GapFSNames, whyByName)
	case c == ir.Create && caps.Has(ir.Delete) && !caps.Has(ir.Update):
		return backends.Supervised(ir.GapFSCreate, whyReplace)
	case c == ir.Create && !caps.Has(ir.Update):
		return backends.Supervised(ir.GapFSCreate, whyFill)
	case expands && !w.judged(c):
		if c == ir.Read {
			return backends.Stricter(whyLate, whyList)
		}
		return backends.Stricter(whyLate)
	case expands:
		if c == ir.Execute {
			return backends.Supervised(ir.GapFSRevoke, whyExpanded, whyFromMemory)
		}
		if c == ir.Update && abi < 3 {
			return backends.Supervised(ir.GapFSRevoke, whyExpanded, whyTruncate)
		}
		return backends.Supervised(ir.GapFSRevoke, whyExpanded)
	case c == ir.Update && abi < 3:
		return backends.Stricter(whyTruncate)
	case (c == ir.Create || c == ir.Delete) && t.foreign&takes != 0:
		return backends.Supervised(ir.GapFSCreate, whySelf)
	}
	return backends.Exact
}

// judged reports whether a supervisor answers the calls that a capability is about.
func (w *ledgerWriter) judged(c ir.Capability) bool {
	switch c {
	case ir.Read:
		return w.judges.Reads
	case ir.Create, ir.Delete:
		return w.judges.Names
	case ir.Update:
		return w.judges.Updates
	case ir.Execute:
		return w.judges.Starts || w.view.Tool.Commands != nil
	default:
		return false
	}
}

// others says how a rule is held when other processes move what it was about: calls that
// are judged are judged where the file is now. The kernel judges an open, a mapping and a link
// once, when it is made; reading and writing a descriptor asks for nothing (landlock(7)).
// See decision D43.
func (w *ledgerWriter) others(r *ir.FSRule) ir.Held {
	var why []ir.CauseID
	private := r.At.Root.Kind != ir.Workspace && r.At.Root.Kind != ir.External
	if slices.ContainsFunc(r.Caps.List(), func(c ir.Capability) bool { return private || !w.judged(c) }) {
		why = append(why, whyMoved)
	}
	// A file that is made is open for writing.
	if r.Caps&ir.Caps(ir.Read, ir.Create, ir.Update) != 0 {
		why = append(why, whyHeld)
	}
	return backends.When(why != nil, ir.Because(ir.Assumed, "", why...))
}

// move says how renames and links out of and into a rule's region are held.
func (w *ledgerWriter) move(caps ir.CapSet, t traits, abi int) ir.Held {
	switch {
	case t.loose:
		return backends.Supervised(ir.GapFSMove, whyPinned)
	case w.gain && caps&(ir.Write|ir.FileCaps) != 0:
		return backends.Supervised(ir.GapFSMove, whyGain)
	case caps&ir.Write == 0:
		return backends.Exact
	case abi < 2:
		return backends.Stricter(whyRefer)
	case w.noLinks:
		return backends.Stricter(whyLinks)
	case caps.Has(ir.Update) && !caps.Contains(ir.Write):
		return backends.Stricter(whyMoveOver)
	}
	return backends.Exact
}

// unseenGain reports whether a move that the policy refuses because something
// would be gained could pass the kernel's own comparison, since what is gained is
// not a right of the new directory in the ruleset.
func (s *ruleset) unseenGain() bool {
	for _, r := range s.byName() {
		if r.Caps&names != 0 || s.makes() {
			return true
		}
	}
	var movable, hidden []ir.CapSet // each set once: rules are many, sets few
	add := func(to *[]ir.CapSet, caps ir.CapSet) {
		if !slices.Contains(*to, caps) {
			*to = append(*to, caps)
		}
	}
	s.walk(func(r *ir.Region) {
		caps := r.Caps
		if caps.Has(ir.Delete) || caps.Contains(ir.Caps(ir.Read, ir.Update)) {
			add(&movable, caps)
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
			add(&hidden, gain)
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

// makes reports whether names can be made or removed in some place that rules are written about.
func (s *ruleset) makes() bool {
	out := false
	s.walk(func(r *ir.Region) { out = out || governed(r) && r.Caps&names != 0 })
	return out
}

// connect says how a net rule is held.
func (w *ledgerWriter) connect(r *ir.NetRule, abi int) ir.Held {
	seen := len(r.Path)+len(r.Methods) == 0 || r.Inspect || r.Scheme == "http"
	switch {
	case r.Allow && literal(r, w.view.Tool.Net):
		return backends.Supervised(ir.GapNetAddress, whyAddress)
	case r.Allow && r.Scheme != "" && !backends.Carried(r.Scheme):
		return backends.Stricter(whyScheme)
	case !r.Allow && backends.Streams(r, w.view.Tool.Net):
		return ir.Because(ir.Advisory, ir.GapNetPath, whyStream)
	case !seen && w.ports:
		return ir.Because(ir.Advisory, ir.GapNetPath, whyPath)
	case r.Allow && !r.Inspect && !r.Opaque && (r.Scheme == "" || r.Scheme == "https"):
		return w.denied(abi, whyServer)
	}
	return w.denied(abi)
}

// denied says how connections are held to rules that name hosts.
func (w *ledgerWriter) denied(abi int, more ...ir.CauseID) ir.Held {
	causes := append([]ir.CauseID{whyHost}, more...)
	if abi < 4 {
		causes = append(causes, whyAnyTCP)
	}
	if abi < 10 {
		causes = append(causes, whyAnyUDP)
	}
	return backends.When(w.ports, backends.Supervised(ir.GapNetHost, causes...))
}

// listen says how accepting connections is held.
func (w *ledgerWriter) listen() ir.Held {
	return backends.When(listens(w.view.Tool.Net), backends.Supervised(ir.GapNetListen, whyListen))
}

func program(r *ir.CommandRule, a ir.Aspect) ir.Held {
	switch {
	case !r.Restricts(a):
		return backends.Exact
	case a == ir.AspectArgs:
		return backends.Supervised(ir.GapCommandsArgs, whyArgs)
	case a == ir.AspectEnvs:
		return backends.Supervised(ir.GapCommandsEnvs, whyEnvs)
	default:
		return backends.Supervised(ir.GapCommandsProgram, whyLoader)
	}
}

func limit(k ir.LimitKind) ir.Held {
	gap := ir.GapOfLimit(k)
	switch k {
	case ir.LimitMemory:
		return backends.Weaker(gap, whyPerTree)
	case ir.LimitCPUTime:
		return backends.Weaker(gap, whyPerProc)
	case ir.LimitProcesses:
		return backends.Weaker(gap, whyUserWide)
	case ir.LimitWallTime:
		return backends.Supervised(gap, whyWall)
	case ir.LimitOpenFiles, ir.LimitFileSize:
	}
	return backends.Exact
}
