package landlock

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// The reasons of the ledger. Each is one sentence part that a reviewer can check.
const (
	whyNoLandlock = "this kernel has no Landlock"
	whySpine      = "Landlock cannot take a right away below a directory"
	whyList       = "a directory that holds an exception is listed where the host has a supervisor, by calls that pass O_DIRECTORY"
	whyLate       = "names that other processes make beside an exception during the run stay closed until the next start; the tool " +
		"cannot make one itself (late = \"open\" has them supervised)"
	whySpineExec = "a program that appears there starts from a copy in memory, so that /proc/self/exe and $ORIGIN do not lead to its place"
	whyBeside    = "what appears beside the workspace after the start, in a directory of the base, is refused"
	whyEnviron   = "where a rule gives a program fewer variables, no process of the tool reads those of another"
	whyBase      = "without a supervisor, child processes are not shown themselves in /proc, and there is no shared memory and no " +
		"pseudo-terminal by its name"
	whyFill     = "Landlock lets an empty file be made here, but not be filled"
	whyReplace  = "with delete, Landlock would let a rename replace files, which needs update"
	whySelf     = "Landlock has the path itself created and deleted by the rights of its parent, where another rule governs"
	whyTruncate = "truncate(2) and opening for reading with O_TRUNC are refused: Landlock mediates them from ABI 3"
	whyExecute  = "the kernel opens a program for reading before it starts it"
	whyMetadata = "Landlock has no right for mode, owner, times and attributes"
	whyNoUpdate = "calls that change mode, owner, times or attributes are refused everywhere"
	whyRefer    = "moves and links between directories are refused: Landlock allows them from ABI 2"
	whyPinned   = "Landlock lets a directory that leads to a rule's path be renamed"
	whyGain     = "Landlock compares rights, and some of what would be gained is not among the rights of the new directory"
	whyLinks    = "hard links are refused: Landlock does not ask for update of what is linked"
	whyMoveOver = "replacing a file by a rename needs create and delete of it"
	whySocket   = "no socket can be made at all where nobody supervises"
	whyHost     = "the kernel sees addresses and ports, no names, schemes or paths; accepted, TCP to the ports of the rules is " +
		"open to every host (to every port below ABI 4), and UDP for name resolution (to every port below ABI 10)"
	whyAddress  = "the ruleset knows ports, no addresses"
	whySignal   = "Landlock keeps signals inside the sandbox from ABI 6"
	whyLoader   = "the kernel also starts loaders and interpreters by themselves, and files of memory"
	whyArgs     = "the kernel does not look at arguments"
	whyEnvs     = "the kernel does not look at the environment"
	whyPerProc  = "the limit counts each process by itself"
	whyPerTree  = "without a delegated cgroup the limit counts each process by itself"
	whyUserWide = "without a delegated cgroup the limit counts all processes of the user, and does not bind root"
	whyWall     = "no process stays to count"
	whyMoved    = "assumes that no other process, during the run, moves a directory of the rule elsewhere or links a file with a rule " +
		"of its own there: the ruleset knows both by their inodes, so that they stay granted"
)

var exact = ir.Held{Is: ir.Exact}

func stricter(why string) ir.Held { return ir.Held{Is: ir.Stricter, Why: why} }

func brokered(why, accept string) ir.Held {
	return ir.Held{Is: ir.Brokered, Why: why, Accept: accept}
}

func coarser(why, accept string) ir.Held { return ir.Held{Is: ir.Coarser, Why: why, Accept: accept} }

// book writes the ledger of one tool.
type book struct {
	*floor
	rows *ir.LedgerBuilder
	// byEntry are the plans that each rule governs, by rule identifier.
	byEntry map[string][]*plan
	parents map[*plan]*plan
	// noMetadata is true when the filter refuses metadata calls outright.
	noMetadata, noLinks bool
	gain                bool
	// judges are the classes of calls that a supervisor answers, as far as regions tell.
	judges Judges
}

func (f *floor) ledger() ir.Ledger {
	b := &book{
		floor: f, rows: ir.NewLedger(ir.Linux), byEntry: map[string][]*plan{}, parents: map[*plan]*plan{},
		noMetadata: !f.updatesMetadata(), noLinks: f.refusesLinks(), gain: f.unseenGain(),
	}
	f.walk(func(p, parent *plan) {
		b.parents[p] = parent
		id := p.region.Governing.ID
		b.byEntry[id] = append(b.byEntry[id], p)
	})
	b.judges = f.judges()
	b.files()
	b.network()
	b.environment()
	b.commands()
	b.limits()
	b.add(ir.Process, "default", ir.AspectSignal, func(abi int) ir.Held {
		if abi < 6 {
			return coarser(whySignal, "process.signal")
		}
		return exact
	})
	return b.rows.Ledger()
}

// add states a cell at every ABI version, joining neighbours that are held alike.
func (b *book) add(r ir.Resource, rule string, a ir.Aspect, at func(abi int) ir.Held) {
	b.rows.Add(r, rule, a, ir.Levels{}, ir.Held{Is: ir.Unenforced, Why: whyNoLandlock})
	for from := 1; from <= MaxABI; {
		held, to := at(from), from
		for to < MaxABI && at(to+1) == held {
			to++
		}
		b.rows.Add(r, rule, a, ir.Levels{From: from, To: to}, held)
		from = to + 1
	}
}

func (b *book) same(r ir.Resource, rule string, a ir.Aspect, h ir.Held) {
	b.add(r, rule, a, func(int) ir.Held { return h })
}

// files states the cells of every filesystem rule, of the base as a whole, and of
// what no rule matches.
func (b *book) files() {
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
		b.same(ir.FS, "default", a, held)
	}
}

func (b *book) baseRows() {
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
			held = ir.Held{Is: ir.Assumed, Why: whyMoved}
		}
		b.same(ir.FS, "base", a, held)
	}
}

// served reports whether a supervisor sees every open of the tool.
func (b *book) served() bool {
	return judged{Judges: b.judges, metadata: !b.noMetadata, narrows: b.view.Tool.Commands.Narrows()}.serves()
}

// baseRead says how the reading of the base is held. A tool whose opens are all supervised is
// shown itself in /proc.
func (b *book) baseRead(surrounded bool) ir.Held {
	var why []string
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
	return stricter(strings.Join(why, "; "))
}

// surrounded reports whether another root lies in what the base lets be started.
func (b *book) surrounded() bool {
	found := false
	b.walk(func(p, _ *plan) {
		found = found || p.region.At.Root.Kind == ir.System && p.spine()&groupExecute != 0
	})
	return found
}

func (b *book) rule(e ir.Entry) {
	caps := e.Rule.Caps
	plans := b.byEntry[e.ID]
	for _, c := range ir.Capabilities {
		b.add(ir.FS, e.ID, ir.AspectOf(c), func(abi int) ir.Held {
			if !caps.Has(c) || len(plans) == 0 {
				return exact
			}
			return b.granted(c, caps, plans, abi)
		})
	}
	private := e.Rule.At.Root.Kind == ir.Home || e.Rule.At.Root.Kind == ir.Temp
	held := b.metadata(caps.Has(ir.Update))
	if private && b.noMetadata {
		held = stricter(whyNoUpdate)
	}
	b.same(ir.FS, e.ID, ir.AspectMetadata, held)
	b.add(ir.FS, e.ID, ir.AspectMove, func(abi int) ir.Held { return b.move(caps, plans, abi) })
	socket := exact
	if caps.Has(ir.Update) {
		socket = stricter(whySocket)
	}
	b.same(ir.FS, e.ID, ir.AspectSocket, socket)
	b.same(ir.FS, e.ID, ir.AspectOthers, b.others(e))
}

// metadata is how chmod and its like are held: refused outright when nothing may
// be updated, otherwise neither withheld nor limited by Landlock.
func (b *book) metadata(granted bool) ir.Held {
	switch {
	case !b.noMetadata:
		return brokered(whyMetadata, "fs.metadata")
	case granted:
		return stricter(whyNoUpdate)
	default:
		return exact
	}
}

// granted says how the floor holds a capability that a rule grants.
func (b *book) granted(c ir.Capability, caps ir.CapSet, plans []*plan, abi int) ir.Held {
	g := groupOf(c)
	if c == ir.Create {
		// Making a file takes the right to fill it.
		g |= groupUpdate
	}
	switch {
	case c == ir.Execute && slices.ContainsFunc(plans, (*plan).unopened):
		return stricter(whyExecute)
	case c == ir.Create && caps.Has(ir.Delete) && !caps.Has(ir.Update):
		return brokered(whyReplace, "fs.create")
	case c == ir.Create && !caps.Has(ir.Update):
		return brokered(whyFill, "fs.create")
	case slices.ContainsFunc(plans, func(p *plan) bool { return p.spine()&g != 0 }) && !b.judged(c):
		if c == ir.Read {
			return stricter(whyLate + "; " + whyList)
		}
		return stricter(whyLate)
	case slices.ContainsFunc(plans, func(p *plan) bool { return p.spine()&g != 0 }):
		if c == ir.Execute {
			return brokered(whySpine+"; "+whySpineExec, "fs.revoke")
		}
		if c == ir.Update && abi < 3 {
			return brokered(whySpine+"; "+whyTruncate, "fs.revoke")
		}
		return brokered(whySpine, "fs.revoke")
	case c == ir.Update && abi < 3:
		return stricter(whyTruncate)
	case (c == ir.Create || c == ir.Delete) && slices.ContainsFunc(plans, func(p *plan) bool { return p.foreign(b.parents[p], g) }):
		return brokered(whySelf, "fs.create")
	}
	return exact
}

// judged reports whether a supervisor answers the calls that a capability is about.
func (b *book) judged(c ir.Capability) bool {
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
func (b *book) others(e ir.Entry) ir.Held {
	private := e.Rule.At.Root.Kind != ir.Workspace && e.Rule.At.Root.Kind != ir.External
	for _, c := range e.Rule.Caps.List() {
		if private || !b.judged(c) {
			return ir.Held{Is: ir.Assumed, Why: whyMoved}
		}
	}
	return exact
}

// move says how renames and links out of and into a rule's region are held.
func (b *book) move(caps ir.CapSet, plans []*plan, abi int) ir.Held {
	switch {
	case slices.ContainsFunc(plans, func(p *plan) bool { return p.loose(b.parents[p]) }):
		return brokered(whyPinned, "fs.move")
	case b.gain && caps&(ir.Write|ir.FileCaps) != 0:
		return brokered(whyGain, "fs.move")
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
// not a right of the new directory in the floor.
func (f *floor) unseenGain() bool {
	var movable, hidden []ir.CapSet
	f.walk(func(p, _ *plan) {
		caps := p.region.Caps
		if caps.Has(ir.Delete) || caps.Contains(ir.Caps(ir.Read, ir.Update)) {
			movable = append(movable, caps)
		}
		// Directly in the directory the kernel sees what is granted on it as a whole,
		// deeper, in its entries, also what is granted on them one by one.
		for _, seen := range []group{p.whole(), p.wants} {
			if seen&groupCreate == 0 {
				continue
			}
			gain := caps &^ seen.caps()
			if f.view.Tool.Commands != nil {
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
func (b *book) network() {
	opens := false
	for i := range b.view.Tool.Net {
		opens = opens || b.view.Tool.Net[i].Allow && !literal(&b.view.Tool.Net[i], b.view.Tool.Net)
	}
	denied := exact
	if opens {
		denied = ir.Held{Is: ir.Cooperative, Why: whyHost, Accept: "net.host"}
	}
	for i := range b.view.Tool.Net {
		r := &b.view.Tool.Net[i]
		held := denied
		if r.Allow && literal(r, b.view.Tool.Net) {
			held = brokered(whyAddress, "net.address")
		}
		b.same(ir.Net, "net["+strconv.Itoa(i)+"]", ir.AspectConnect, held)
	}
	b.same(ir.Net, "default", ir.AspectConnect, denied)
}

// literal reports whether a rule is about one address and port, which a connect call
// shows, and no other rule says more about that address than such a call does.
func literal(r *ir.NetRule, all []ir.NetRule) bool {
	shown := func(r *ir.NetRule) bool { return r.Scheme == "" && len(r.Path) == 0 }
	return r.Host.Kind == ir.HostAddr && r.Port != 0 && shown(r) &&
		!slices.ContainsFunc(all, func(o ir.NetRule) bool { return o.Host == r.Host && !shown(&o) })
}

func (b *book) environment() {
	for i := range b.view.Tool.Env {
		b.same(ir.Env, "env["+strconv.Itoa(i)+"]", ir.AspectForward, exact)
	}
	b.same(ir.Env, "default", ir.AspectForward, exact)
}

func (b *book) commands() {
	set := b.view.Tool.Commands
	if set == nil {
		for _, a := range ir.Aspects(ir.Commands) {
			b.same(ir.Commands, "default", a, exact)
		}
		return
	}
	program := brokered(whyLoader, "commands.program")
	for i := range set.Rules {
		r := &set.Rules[i]
		id := "commands." + r.Program
		b.same(ir.Commands, id, ir.AspectProgram, program)
		b.same(ir.Commands, id, ir.AspectArgs, unless(r.AnyArgs, brokered(whyArgs, "commands.args")))
		b.same(ir.Commands, id, ir.AspectEnvs, unless(r.AllEnvs, brokered(whyEnvs, "commands.envs")))
	}
	b.same(ir.Commands, "default", ir.AspectProgram, program)
	b.same(ir.Commands, "default", ir.AspectArgs, exact)
	b.same(ir.Commands, "default", ir.AspectEnvs, exact)
}

func unless(free bool, h ir.Held) ir.Held {
	if free {
		return exact
	}
	return h
}

func (b *book) limits() {
	for _, l := range b.view.Tool.Limits {
		held := exact
		accept := "limits." + l.Kind.String()
		switch l.Kind {
		case ir.LimitMemory:
			held = coarser(whyPerTree, accept)
		case ir.LimitCPUTime:
			held = coarser(whyPerProc, accept)
		case ir.LimitProcesses:
			held = coarser(whyUserWide, accept)
		case ir.LimitWallTime:
			held = brokered(whyWall, accept)
		case ir.LimitOpenFiles, ir.LimitFileSize:
		}
		b.same(ir.Limits, l.Kind.String(), "limit", held)
	}
}
