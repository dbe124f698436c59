package seatbelt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The reasons of the ledger. Each is one sentence part that a reviewer can check.
const (
	whyHidden = "size, times, mode and attributes of what no rule grants anything on are hidden, its existence is not"
	whyRoot   = whyHidden + "; the names in / are listed, without which the loader aborts"
	whyMap    = "without execute, code is not mapped from here: libraries are not loaded"
	whyFill   = "nothing is made here without update: the system lets whoever may create replace files by a rename"
	whyPin    = "the names of rules and of listed programs, and names that lead to them, are neither made nor removed, or " +
		"they could be moved; make them before the start"
	whyAtomic   = "without create, a rename does not replace files here: the system asks for create of what is replaced"
	whyEmptyDir = "a rename replaces an empty directory here, for which the system does not ask for delete"
	whySetID    = "bits that change user or group are not set, and setattrlist(2) is refused"
	whyDevice   = "devices are read and written; their mode, owner and attributes stay"
	whySugid    = "programs that change user or group do not start in a sandbox"
	whyImage    = "without read, the system may refuse to start a program"
	whyPortable = "programs are started by file, and a portable profile knows no files of a host, so it starts none"
	whyMissing  = "no file is known for this program"
	whyLinks    = "hard links are refused: the link could be executed at its new place, and the system does not compare"
	whySocket   = "unix sockets are closed"
	whyHost     = "a profile sees no names, schemes and paths of hosts, so the connection stays closed"
	whyDispute  = "a profile cannot tell this from a connection that another rule denies, so both stay closed"
	whyOwn      = "all addresses of this machine are one host to a profile, so the port is open on its local network addresses"
	whyEvery    = "the port is open to private and loopback addresses as well, and names are resolved"
	whyLoader   = "a listed shell or interpreter runs whatever it reads, and what /bin/sh and the developer tools start in " +
		"their turn may start by itself"
	whyArgs       = "the system does not look at arguments"
	whyEnvs       = "the system does not look at the environment"
	whyLoaderVar  = "the system drops variables of its loader when it starts the sandbox"
	whyPerProcess = "the limit counts each process by itself"
	whyPerUser    = "the limit counts all processes of the user"
	whyMemory     = "the system enforces no limit on the memory of a process"
	whyWall       = "nobody is there to count"
)

// whyGain says where a move would bring what.
func whyGain(g gain) string {
	return "the system does not compare the two ends of a move: what is moved from here into " + g.into + " gains " +
		g.what.String()
}

var exact = ir.Held{Is: ir.Exact}

func stricter(why string) ir.Held { return ir.Held{Is: ir.Stricter, Why: why} }

func coarser(why, accept string) ir.Held { return ir.Held{Is: ir.Coarser, Why: why, Accept: accept} }

func unenforced(why, accept string) ir.Held {
	return ir.Held{Is: ir.Unenforced, Why: why, Accept: accept}
}

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
	case a == b, b.Is < a.Is:
		return a
	case a.Is < b.Is:
		return b
	default:
		a.Why += "; " + b.Why
		return a
	}
}

// book writes the ledger of one tool.
type book struct {
	*plan
	rows *ir.LedgerBuilder
}

func (p *plan) ledger() ir.Ledger {
	b := &book{p, ir.NewLedger(ir.Darwin)}
	b.files()
	b.connections()
	b.environment()
	b.commands()
	b.limits()
	b.add(ir.Process, "default", ir.AspectSignal, exact)
	return b.rows.Ledger()
}

// add states a cell. This platform has one level.
func (b *book) add(r ir.Resource, rule string, a ir.Aspect, h ir.Held) {
	b.rows.Add(r, rule, a, ir.Levels{}, h)
}

// files states the cells of every filesystem rule, of the base as a whole, and of
// what no rule matches.
func (b *book) files() {
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
			b.add(ir.FS, "base", a, held)
		}
	}
	for _, a := range ir.Aspects(ir.FS) {
		b.add(ir.FS, "default", a, either(a == ir.AspectRead, stricter(b.hidden())))
	}
}

func (b *book) hidden() string {
	if b.loader() {
		return whyRoot
	}
	return whyHidden
}

// file says how one aspect of one rule is held. A rule that governs no place, since
// another rule takes all of its own, is held whatever happens.
func (b *book) file(e ir.Entry, a ir.Aspect) ir.Held {
	nodes, caps := b.byRule[e.ID], e.Rule.Caps
	if len(nodes) == 0 {
		return exact
	}
	switch a {
	case ir.AspectRead:
		return read(caps)
	case ir.AspectCreate:
		return b.create(caps, nodes)
	case ir.AspectUpdate:
		return either(caps.Has(ir.Update) && !caps.Has(ir.Create), stricter(whyAtomic))
	case ir.AspectDelete:
		return b.remove(caps, nodes)
	case ir.AspectExecute:
		return b.execute(caps)
	case ir.AspectMetadata:
		return metadata(caps, nodes)
	case ir.AspectMove:
		return b.move(caps)
	case ir.AspectSocket:
		return either(caps.Has(ir.Update), stricter(whySocket))
	case ir.AspectOthers:
		return exact // the kernel asks the profile by path at every call
	default:
		return ir.Held{}
	}
}

func read(caps ir.CapSet) ir.Held {
	if caps == 0 {
		return stricter(whyHidden)
	}
	return either(caps.Has(ir.Read) && !caps.Has(ir.Execute), stricter(whyMap))
}

func (b *book) create(caps ir.CapSet, nodes []*node) ir.Held {
	switch {
	case !caps.Has(ir.Create):
		return exact
	case !caps.Has(ir.Update):
		return stricter(whyFill)
	default:
		return either(slices.ContainsFunc(nodes, leadsOn), stricter(whyPin))
	}
}

func (b *book) remove(caps ir.CapSet, nodes []*node) ir.Held {
	if !caps.Has(ir.Delete) {
		return either(caps.Contains(creates), coarser(whyEmptyDir, "fs.move"))
	}
	return either(slices.ContainsFunc(nodes, leadsOn), stricter(whyPin))
}

// leadsOn reports whether a node is pinned although the policy lets it be made or
// removed, which it never does for a root or the symlink of an external rule.
func leadsOn(n *node) bool { return n.Pinned && !n.Link }

func (b *book) execute(caps ir.CapSet) ir.Held {
	if !caps.Has(ir.Execute) {
		return exact
	}
	out := worse(stricter(whySugid), either(!caps.Has(ir.Read), stricter(whyImage)))
	return worse(out, either(b.tool.Commands != nil && b.form != backends.Resolved, stricter(whyPortable)))
}

func metadata(caps ir.CapSet, nodes []*node) ir.Held {
	switch {
	case !caps.Has(ir.Update):
		return exact
	case nodes[0].base:
		return stricter(whyDevice)
	default:
		return stricter(whySetID)
	}
}

// move says what renames and links out of a rule's region may carry. What they need
// of the place that they lead to is in its create, update and delete.
func (b *book) move(caps ir.CapSet) ir.Held {
	if g, ok := b.moves.renames[caps]; ok {
		return coarser(whyGain(g), "fs.move")
	}
	return either(b.moves.withheld[caps], stricter(whyLinks))
}

func (b *book) connections() {
	o := opened(b.tool)
	for i := range o.rules {
		b.add(ir.Net, "net["+strconv.Itoa(i)+"]", ir.AspectConnect, o.held(i))
	}
	b.add(ir.Net, "default", ir.AspectConnect, worse(
		either(len(o.every) > 0, coarser(whyEvery, "net.address")),
		either(len(o.own) > 0, coarser(whyOwn, "net.address")),
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
		return either(exposed, coarser(whyEvery, "net.address"))
	case !r.Allow:
		exposed := slices.ContainsFunc(o.own, func(port uint16) bool { return mayMatch(r, port) })
		return either(exposed && !own(r.Host), coarser(whyOwn, "net.address"))
	case !o.reaches(r) && (own(r.Host) || r.Host.Kind == ir.HostAny) && plain(r):
		return stricter(whyDispute)
	case !o.reaches(r):
		return stricter(whyHost)
	case own(r.Host) && slices.Contains(o.own, r.Port):
		return coarser(whyOwn, "net.address")
	default:
		return either(r.Host.Kind == ir.HostAny && plain(r), coarser(whyEvery, "net.address"))
	}
}

// environment is built by whoever starts the tool; nothing else is in it. Programs of
// the system, as sandbox-exec is one, run without the variables of the loader (System
// Integrity Protection, dyld(1)), and so do not hand them on.
func (b *book) environment() {
	for i := range b.tool.Env {
		r := &b.tool.Env[i]
		b.add(ir.Env, "env["+strconv.Itoa(i)+"]", ir.AspectForward, either(r.Read && strings.HasPrefix(r.Name, "DYLD_"), stricter(whyLoaderVar)))
	}
	b.add(ir.Env, "default", ir.AspectForward, exact)
}

func (b *book) commands() {
	set := b.tool.Commands
	started := b.own != nil || b.form != backends.Resolved && set != nil && len(set.Rules) > 0
	if set != nil {
		for i := range set.Rules {
			r := &set.Rules[i]
			started = started || b.starts(r)
			id := "commands." + r.Program
			b.add(ir.Commands, id, ir.AspectProgram, b.program(r, coarser(whyLoader, "commands.program")))
			args, envs := coarser(whyArgs, "commands.args"), coarser(whyEnvs, "commands.envs")
			b.add(ir.Commands, id, ir.AspectArgs, either(!r.AnyArgs, b.program(r, args)))
			b.add(ir.Commands, id, ir.AspectEnvs, either(!r.AllEnvs, b.program(r, envs)))
		}
	}
	b.add(ir.Commands, "default", ir.AspectProgram, either(set != nil && started, coarser(whyLoader, "commands.program")))
	b.add(ir.Commands, "default", ir.AspectArgs, exact)
	b.add(ir.Commands, "default", ir.AspectEnvs, exact)
}

// program returns h for a program that can be started, and why it cannot otherwise.
// A portable profile starts none, but it is what people review, and what holds on the
// host where it will be resolved must not come as a surprise.
func (b *book) program(r *ir.CommandRule, h ir.Held) ir.Held {
	switch {
	case b.starts(r):
		return h
	case b.form != backends.Resolved:
		h.Why += "; " + whyPortable
		return h
	default:
		return stricter(whyMissing)
	}
}

// limits are set by whoever starts the tool, as setrlimit(2) of macOS has them.
func (b *book) limits() {
	for _, l := range b.tool.Limits {
		held := exact
		accept := "limits." + l.Kind.String()
		switch l.Kind {
		case ir.LimitMemory:
			held = unenforced(whyMemory, accept)
		case ir.LimitCPUTime:
			held = coarser(whyPerProcess, accept)
		case ir.LimitProcesses:
			held = coarser(whyPerUser, accept)
		case ir.LimitWallTime:
			held = unenforced(whyWall, accept)
		case ir.LimitOpenFiles, ir.LimitFileSize:
		}
		b.add(ir.Limits, l.Kind.String(), "limit", held)
	}
}
