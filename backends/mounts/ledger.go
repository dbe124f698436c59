package mounts

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Means describes a program that makes a plan's mounts. With the zero value it can do nothing besides.
type Means struct {
	// NoExec is true where it mounts without execution.
	NoExec bool
	// NoSockets is true where a filter of system calls keeps the tool from making any socket but connected
	// pairs.
	NoSockets bool
	// NewSession is true where the tool starts without a controlling terminal.
	NewSession bool
	// OwnProcesses is true where the tool sees and signals only its own processes.
	OwnProcesses bool
	// Forwards is true where the tool gets the user's variables that the policy forwards.
	Forwards bool
	// HostTree is true where the tool sees the host's own tree with covers on it, and not an empty one: the
	// names in / and in directories that lead to granted places can be listed, nothing can be
	// shown again below a cover, no place can be mounted onto itself, and the caller's environment is passed on.
	HostTree bool
	// SetID is true where the tool can set the set-user-ID and set-group-ID bits of its files.
	SetID bool
	// NoDirectory is true where a start with a directory among the standard descriptors is refused.
	NoDirectory bool
	// ByName is true where the program finds places by their names while it makes the tree, so that what another
	// process exchanges meanwhile matters. A start that opens and compares them holds it nevertheless.
	ByName bool
	// Limit says how a limit is held.
	Limit func(ir.LimitKind) ir.Held
}

// Ledger states how a program holds every cell of the plan's policy. The network is closed as a whole:
// the program gives the tool one of its own. The rows are of no platform, like the rows of every backend whose program
// may run anywhere.
func (p *Plan) Ledger(m Means) ir.Ledger {
	w := &ledgerWriter{Plan: p, means: m, byRule: map[ir.RuleID][]*ir.Region{},
		byName: map[ir.RuleID][]backends.Named{}}
	w.proc = slices.ContainsFunc(p.Mounts, func(m Mount) bool { return m.Kind == Processes })
	for _, top := range p.tops {
		top.Walk(func(r *ir.Region) {
			id := r.ID().Stated()
			w.byRule[id] = append(w.byRule[id], r)
		})
		backends.AddNamed(w.byName, top)
	}
	rows := ir.NewLedger(0)
	for _, c := range p.view.Cells() {
		rows.Add(c, ir.Levels{}, w.held(c))
	}
	return rows.Ledger()
}

type ledgerWriter struct {
	*Plan
	means  Means
	byRule map[ir.RuleID][]*ir.Region
	byName map[ir.RuleID][]backends.Named
	proc   bool // there is a mount of processes
}

func (w *ledgerWriter) held(c ir.Cell) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return backends.Stricter(whyAsk)
	}
	switch c.Resource {
	case ir.FS:
		held := w.files(c)
		if w.writes() {
			held = backends.Names(w.view, c, held, whyNames)
		}
		return held
	case ir.Net:
		return w.network(c)
	case ir.Env:
		r, _ := c.Rule.(*ir.EnvRule)
		if w.means.HostTree {
			return ir.Because(ir.Assumed, "", whyCaller)
		}
		return backends.When(r != nil && r.Read && r.Value == "" && !w.means.Forwards, backends.Stricter(whyValues))
	case ir.Commands:
		return w.program(c)
	case ir.Limits:
		if w.means.Limit == nil {
			return backends.Unenforced(ir.GapOfLimit(c.Limit), whyLimit)
		}
		return w.means.Limit(c.Limit)
	case ir.Process:
		return backends.When(!w.means.OwnProcesses, backends.Weaker(ir.GapProcessSignal, whySignal))
	}
	return ir.Held{}
}

// writes reports whether some directory of the workspace is mounted for writing.
func (w *ledgerWriter) writes() bool {
	for r, at := range w.laid {
		if r.At.Root.Kind == ir.Workspace && at.shows().mode == ReadWrite {
			return true
		}
	}
	return false
}

// files says how an aspect of all regions is held that a rule governs.
func (w *ledgerWriter) files(c ir.Cell) ir.Held {
	all := []ir.Held{backends.Exact}
	for _, r := range w.byRule[c.ID] {
		all = append(all, w.region(r, c.Aspect))
	}
	for _, n := range w.byName[c.ID] {
		all = append(all, w.named(n, c.Aspect))
	}
	if _, ok := c.Rule.(*ir.FSRule); ok && c.Aspect == ir.AspectMove && len(w.byName) > 0 && w.writable(c.ID) {
		all = append(all, backends.Weaker(ir.GapFSNames, whyBrings))
	}
	if w.proc && c.ID == ir.DefaultRule && c.Aspect == ir.AspectRead {
		all = append(all, backends.Weaker(ir.GapFSDefault, whyProc))
	}
	if w.means.HostTree && c.ID == ir.DefaultRule && c.Aspect != ir.AspectExecute && c.Aspect != ir.AspectOthers {
		all = append(all, backends.Weaker(ir.GapFSDefault, whyTree))
	}
	if c.ID == ir.DefaultRule && (c.Aspect == ir.AspectRead || c.Aspect == ir.AspectUpdate) {
		all = append(all, ir.Because(ir.Assumed, "", whyReopened))
		all = append(all, backends.When(!w.means.NoDirectory, ir.Because(ir.Assumed, "", whyHanded)))
		all = append(all, backends.When(w.means.ByName, ir.Because(ir.Assumed, "", whyNamed)))
	}
	return backends.Join(all...)
}

// writable reports whether names can be moved in some region that a rule governs.
func (w *ledgerWriter) writable(id ir.RuleID) bool {
	return slices.ContainsFunc(w.byRule[id], func(r *ir.Region) bool { return w.laid[r].shows().mode == ReadWrite })
}

// named says how an aspect of a rule by name is held in a region: as the mount gives it that shows the region.
// See decision D256.
func (w *ledgerWriter) named(n backends.Named, a ir.Aspect) ir.Held {
	at := w.laid[n.Region]
	has := at.shows()
	var all []ir.Held
	switch {
	case at.covered:
		has = access{}
	case w.means.HostTree && a != ir.AspectExecute && a != ir.AspectOthers && w.leads(n.Region):
		all = append(all, backends.Weaker(ir.GapFSDefault, whyTree))
	}
	given := has.mode.gives(has.noExec && w.means.NoExec)
	all = append(all, n.Held(a, given, whyByName, whyNoName))
	switch {
	case a == ir.AspectSocket:
		all = append(all, w.socket(n.Caps, has))
	case a == ir.AspectOthers && has.mode != Closed:
		all = append(all, ir.Because(ir.Assumed, "", whyMovedAway))
	case a == ir.AspectUpdate && has.mode == ReadOnly && !n.Caps.Has(ir.Update):
		all = append(all, ir.Because(ir.Assumed, "", whyLeftPipe))
	case a == ir.AspectMetadata && has.mode == ReadWrite && w.means.SetID:
		all = append(all, ir.Because(ir.Assumed, "", whySetID))
	case a == ir.AspectMove && has.mode == ReadWrite:
		all = append(all, backends.Stricter(whyApart))
	}
	for _, around := range at.gone {
		other := n
		all = append(all, other.Held(a, around.mode.gives(around.noExec && w.means.NoExec), whyByName, whyNoName))
	}
	return backends.Join(all...)
}

// region says how an aspect of a region is held, at the start and, where it may be missing then, later.
func (w *ledgerWriter) region(r *ir.Region, a ir.Aspect) ir.Held {
	at := w.laid[r]
	switch at.by {
	case Link:
		loose := a == ir.AspectMove && at.around.mode == ReadWrite
		return backends.When(loose, backends.Weaker(ir.GapFSMove, whyLink))
	case Lead:
		return backends.Exact
	case Device, Devices, Memory, Processes:
		return w.system(r, at.by, a)
	case Bind, Hide:
	}
	var all []ir.Held
	if w.means.HostTree && !at.covered && a != ir.AspectExecute && a != ir.AspectOthers && w.leads(r) {
		all = append(all, backends.Weaker(ir.GapFSDefault, whyTree))
	}
	if at.node != ir.Absent {
		all = append(all, w.there(r, at, a))
	}
	for _, around := range at.gone {
		all = append(all, w.later(r, around, a))
	}
	held := backends.Join(all...)
	if w.means.SetID && a == ir.AspectMetadata && at.shows().mode == ReadWrite && !at.covered {
		held = backends.Join(held, ir.Because(ir.Assumed, "", whySetID))
	}
	if at.linked && held.Is == ir.Weaker {
		return backends.Join(held, backends.Weaker(held.Gap, whyLink))
	}
	return held
}

// there says how an aspect of a region is held that is there at the start.
func (w *ledgerWriter) there(r *ir.Region, at laid, a ir.Aspect) ir.Held {
	has := at.shows()
	if w.means.HostTree {
		if at.covered {
			return backends.When(r.Caps != 0, backends.Stricter(whyCovered))
		}
		if a == ir.AspectMove && has.mode == ReadWrite {
			return backends.Weaker(ir.GapFSMove, whyLoose, whyApart)
		}
	}
	switch a {
	case ir.AspectOthers:
		return w.others(r, at, has)
	case ir.AspectMove:
		return backends.When(has.mode == ReadWrite, backends.Stricter(whyApart))
	case ir.AspectDelete:
		if at.own && r.Caps.Has(ir.Delete) && !r.IsRoot() {
			return backends.Stricter(whyOwnName)
		}
	case ir.AspectUpdate:
		if has.mode == ReadOnly && !r.Caps.Has(ir.Update) {
			return ir.Because(ir.Assumed, "", whyLeftPipe)
		}
	}
	return w.capability(r.Caps, has, a, ir.GapFSWrite, whyWhole)
}

// leads reports whether a region that shows nothing is in a directory, or is a directory, that leads to places which
// are shown.
func (w *ledgerWriter) leads(r *ir.Region) bool {
	shown := false
	for ; r != nil && !shown && !w.laid[r].own && w.laid[r].shows().mode == Closed; r = r.Above {
		r.Walk(func(in *ir.Region) {
			at := w.laid[in]
			shown = shown || at.own && !at.covered && at.want.mode != Closed
		})
	}
	return shown
}

// capability says how an aspect is held that a mount gives or not. An access that it gives beyond
// the capabilities is under a gap, unless that is about reading or starting.
func (w *ledgerWriter) capability(caps ir.CapSet, has access, a ir.Aspect, gap ir.Gap, why ir.CauseID) ir.Held {
	c, known := ir.ParseCapability(string(a))
	if !known {
		c = ir.Update // metadata and sockets
	}
	given := has.mode.gives(has.noExec && w.means.NoExec).Has(c)
	switch {
	case a == ir.AspectSocket:
		return w.socket(caps, has)
	case caps.Has(c) && !given:
		return backends.Stricter(whyUnread)
	case given && !caps.Has(c) && c == ir.Execute:
		return backends.Weaker(ir.GapFSExecute, whyStarts)
	case given && !caps.Has(c):
		return backends.Weaker(gap, why)
	case c == ir.Read && caps.Has(c) && has.noExec && w.means.NoExec:
		return backends.Stricter(whyMapped)
	}
	return backends.Exact
}

func (w *ledgerWriter) socket(caps ir.CapSet, has access) ir.Held {
	switch {
	case w.means.NoSockets:
		return backends.When(caps.Has(ir.Update), backends.Stricter(whyNoSocket))
	case has.mode != Closed && !caps.Has(ir.Update):
		return backends.Weaker(ir.GapFSSocket, whySocket)
	}
	return backends.Exact
}

// later says how an aspect of a region is held in which files are made after the start, where around
// governs them.
func (w *ledgerWriter) later(r *ir.Region, around access, a ir.Aspect) ir.Held {
	gap := ir.GapFSLate
	if r.LeadsToGuarded() {
		gap = ir.GapFSProtected
	}
	given := around.mode.gives(around.noExec && w.means.NoExec)
	switch c, known := ir.ParseCapability(string(a)); {
	case a == ir.AspectOthers:
		return backends.When(around.mode != Closed, ir.Because(ir.Assumed, "", whyMovedAway))
	case a == ir.AspectMove:
		return backends.When(around.mode == ReadWrite && r.Pinned, backends.Weaker(gap, whyLate))
	case known && r.Caps.Has(c) && !given.Has(c):
		return backends.Stricter(whyMissing)
	case a == ir.AspectUpdate && around.mode == ReadOnly && !r.Caps.Has(ir.Update):
		return ir.Because(ir.Assumed, "", whyLeftPipe)
	case a == ir.AspectMetadata && r.Caps.Has(ir.Update) && !given.Has(ir.Update):
		return backends.Stricter(whyMissing)
	case a == ir.AspectSocket && !w.means.NoSockets && around.mode == Closed && r.Caps.Has(ir.Update):
		return backends.Stricter(whyMissing)
	case r.Caps != w.capsAround(r):
		return w.capability(r.Caps, around, a, gap, whyLate)
	default:
		return w.capability(r.Caps, around, a, ir.GapFSWrite, whyWhole)
	}
}

// capsAround are the capabilities of the directory above.
func (w *ledgerWriter) capsAround(r *ir.Region) ir.CapSet {
	if r.Above == nil {
		return 0
	}
	return r.Above.Caps
}

// others says how a region is held when other processes change the files at its place.
func (w *ledgerWriter) others(r *ir.Region, at laid, has access) ir.Held {
	var all []ir.Held
	if at.own && at.around.mode.gives(at.around.noExec && w.means.NoExec)&^r.Caps != 0 {
		all = append(all, backends.Weaker(ir.GapFSReplaced, whyReplaced))
	}
	if has.mode != Closed {
		all = append(all, ir.Because(ir.Assumed, "", whyMovedAway))
	}
	return backends.Join(all...)
}

// system says how an aspect of a device, of shared memory or of /proc is held.
func (w *ledgerWriter) system(r *ir.Region, by Kind, a ir.Aspect) ir.Held {
	switch {
	case a == ir.AspectExecute && by == Memory && !w.means.NoExec:
		return backends.Weaker(ir.GapFSExecute, whyStarts)
	case (a == ir.AspectUpdate || a == ir.AspectMetadata) && (by == Device || by == Devices) && !r.Caps.Has(ir.Update):
		return backends.Weaker(ir.GapFSDefault, whyDevice)
	case (a == ir.AspectRead || a == ir.AspectUpdate) && r.At.Path == ir.LinuxTerminal:
		if w.means.NewSession {
			return backends.Stricter(whyTerminal)
		}
		return ir.Because(ir.Assumed, "", whyTyped)
	case a == ir.AspectSocket && by == Memory:
		return w.socket(r.Caps, access{mode: ReadWrite})
	}
	return backends.Exact
}

// See decision D257.
func (w *ledgerWriter) network(c ir.Cell) ir.Held {
	r, _ := c.Rule.(*ir.NetRule)
	switch {
	case r == nil && w.means.NoSockets:
		return backends.Exact
	case r == nil && c.Aspect == ir.AspectConnect:
		return ir.Because(ir.Assumed, "", whyVsock, whySockets)
	case r == nil || !r.Allow && r.Listen && !w.means.NoSockets:
		return backends.Weaker(ir.GapNetListen, whyLoopback)
	case !r.Allow:
		return backends.Exact
	case w.means.NoSockets:
		return backends.Stricter(whyNoSocket)
	case r.Listen:
		return backends.Stricter(whyListen)
	}
	return backends.Stricter(whyHost)
}

func (w *ledgerWriter) program(c ir.Cell) ir.Held {
	r, _ := c.Rule.(*ir.CommandRule)
	switch {
	case w.view.Tool.Commands == nil, r != nil && !r.Restricts(c.Aspect):
		return backends.Exact
	case c.Aspect == ir.AspectProgram:
		return backends.When(r == nil, backends.Weaker(ir.GapCommandsProgram, whyPrograms))
	case r == nil:
		return backends.Exact
	case c.Aspect == ir.AspectArgs:
		return backends.Weaker(ir.GapCommandsArgs, whyArgs)
	default:
		return backends.Weaker(ir.GapCommandsEnvs, whyEnvs)
	}
}

// Rlimits says how limits are held where nothing but resource limits of processes (setrlimit(2)) is set,
// before the tool starts.
func Rlimits(k ir.LimitKind) ir.Held {
	gap := ir.GapOfLimit(k)
	switch k {
	case ir.LimitMemory, ir.LimitCPUTime:
		return backends.Weaker(gap, whyPerProc)
	case ir.LimitProcesses:
		return backends.Weaker(gap, whyPerUser)
	case ir.LimitWallTime:
		return backends.Unenforced(gap, whyLimit)
	case ir.LimitOpenFiles, ir.LimitFileSize:
	}
	return backends.Exact
}
