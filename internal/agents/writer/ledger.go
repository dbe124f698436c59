package writer

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// A Holder says how a program holds the cells of a policy under its settings. The parts that differ
// between programs are fields; the rest follows from the plan.
type Holder struct {
	Plan  *Plan // the places
	Hosts Hosts // the entries of the settings, none where they have no lists of hosts
	// Host is why rules that allow have no entry.
	Host ir.CauseID
	// Default has the access that the program itself opens, by the aspect of files.
	Default map[ir.Aspect]ir.Held
	// Written is said about the aspects of writing of each place that is written to.
	Written func(*Place) ir.Held
	// Closed is said about reading at each place that is closed in one that is open, Opened at each
	// that is open in one that is closed.
	Closed, Opened ir.Held
	// Patterns is said about the names that patterns close.
	Patterns ir.Held
	// Open is why a place is read although the policy denies it, empty for a program that can close each.
	Open ir.CauseID
	// Blocked is why files cannot be read although their place can, or no command starts; empty where nothing is.
	Blocked ir.CauseID
	// Moves reports whether a place that the settings do not tell from the one around it can be
	// moved; those that they tell apart cannot.
	Moves bool
	// Socket, Signal and Listen are said where the policy denies, and SocketLess where it grants.
	Socket, SocketLess, Signal, Listen ir.Held
	// Env is said about variables that no rule names, Withheld and Passed about those of a rule.
	Env              ir.Held
	Withheld, Passed func(*ir.EnvRule) ir.Held
	// Programs are said where the policy lists programs; nil for a program that knows nothing of them.
	Programs *Programs
	// Except are said about the aspects of files that a program has no means for, where the policy grants them.
	Except map[ir.Aspect]ir.Held
	// Loose is said where the policy denies, of a program that leaves all of that to a condition.
	Loose ir.Held

	byRule map[ir.RuleID][]*Place // those that a rule governs
}

// Programs says how listed programs are held.
type Programs struct {
	// Any is said about all programs, where the policy lists none.
	Any ir.Held
	// Others is said about those that are not listed, Listed about each one that is, Args about the arguments of
	// those whose arguments a rule lists.
	Others, Args ir.Held
	Listed       func(*ir.CommandRule) ir.Held // by its rule
}

func because(is ir.Enforcement, why ...ir.CauseID) ir.Held { return ir.Because(is, "", why...) }

// Less and More are cells in which a program permits less and more than the policy. None are those
// that it knows nothing about.
func Less(why ...ir.CauseID) ir.Held { return because(ir.Stricter, why...) }

// More is a cell in which a program permits more than the policy.
func More(why ...ir.CauseID) ir.Held { return because(ir.Weaker, why...) }

// Nothing is a cell that a program knows nothing about.
func Nothing(why ...ir.CauseID) ir.Held { return because(ir.Unenforced, why...) }

// Assumed is a cell that is exact as long as something outside of the sandbox stays as it is.
func Assumed(why ...ir.CauseID) ir.Held { return because(ir.Assumed, why...) }

// Ledger states every cell of the policy.
func (h *Holder) Ledger() ir.Ledger {
	h.byRule = map[ir.RuleID][]*Place{}
	for _, at := range h.Plan.Places {
		id := at.ID().Stated()
		h.byRule[id] = append(h.byRule[id], at)
	}
	rows := ir.NewLedger(0)
	for _, c := range h.Plan.View.Cells() {
		rows.Add(c, ir.Levels{}, h.held(c))
	}
	return rows.Ledger()
}

func (h *Holder) held(c ir.Cell) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return Less(WhyAsk)
	}
	switch c.Resource {
	case ir.FS:
		return h.files(c)
	case ir.Net:
		return h.hosts(c)
	case ir.Env:
		return h.variables(c)
	case ir.Commands:
		return h.programs(c)
	case ir.Limits:
		return Nothing(WhyLimit)
	case ir.Process:
		return h.Signal
	}
	return ir.Held{}
}

// files joins the statements about the places that a rule governs.
func (h *Holder) files(c ir.Cell) ir.Held {
	var all []ir.Held
	if c.ID == ir.DefaultRule {
		all = append(all, h.Default[c.Aspect])
	}
	if backends.OfNames(h.Plan.View, c) {
		all = append(all, More(WhyNames))
	}
	for _, at := range h.byRule[c.ID] {
		all = append(all, h.place(at, c.Aspect), h.taken(at, c.Aspect))
	}
	for _, n := range h.Plan.Named {
		if n.ID.Stated() == c.ID {
			all = append(all, h.named(n, c.Aspect))
		}
	}
	return backends.Join(all...)
}

// place says how one aspect of a place is held.
func (h *Holder) place(at *Place, a ir.Aspect) ir.Held {
	lacking, lacks := h.Except[a]
	switch {
	case !grants(at.Caps, a) && lacks:
		return h.loose()
	case !grants(at.Caps, a):
		return backends.Join(h.known(at, a), h.loose())
	case lacks:
		return lacking
	default:
		return h.known(at, a)
	}
}

// grants reports whether capabilities permit what an aspect is about. None permits moves that gain some.
func grants(caps ir.CapSet, a ir.Aspect) bool {
	switch a {
	case ir.AspectRead:
		return caps.Has(ir.Read)
	case ir.AspectCreate:
		return caps.Has(ir.Create)
	case ir.AspectUpdate, ir.AspectMetadata, ir.AspectSocket:
		return caps.Has(ir.Update)
	case ir.AspectDelete:
		return caps.Has(ir.Delete)
	case ir.AspectExecute:
		return caps.Has(ir.Execute)
	default:
		return a != ir.AspectMove
	}
}

// loose is the condition of everything that the policy denies.
func (h *Holder) loose() ir.Held { return backends.When(h.Loose.Is != ir.Unstated, h.Loose) }

// known says how an aspect is held by a program that has means for it.
func (h *Holder) known(at *Place, a ir.Aspect) ir.Held {
	switch a {
	case ir.AspectRead:
		return h.reading(at)
	case ir.AspectCreate:
		return h.writing(at, ir.Create)
	case ir.AspectUpdate, ir.AspectMetadata:
		return h.writing(at, ir.Update)
	case ir.AspectDelete:
		return h.writing(at, ir.Delete)
	case ir.AspectExecute:
		return backends.Join(differs(at.Has > None, at.Caps.Has(ir.Execute), More(WhyExecute), Less(at.unread())),
			backends.When(at.Caps.Has(ir.Execute), h.blocked()))
	case ir.AspectMove:
		return backends.When(at.Has == Write && h.movable(at), More(WhyMoves))
	case ir.AspectSocket:
		if at.Caps.Has(ir.Update) {
			return h.SocketLess
		}
		return h.Socket
	case ir.AspectOthers:
		return backends.When(at.Has > None, Assumed(WhyFollows))
	default:
		return ir.Held{}
	}
}

// differs is exact where a program does as the policy says.
func differs(does, should bool, more, less ir.Held) ir.Held {
	switch {
	case does && !should:
		return more
	case should && !does:
		return less
	default:
		return backends.Exact
	}
}

func (h *Holder) reading(at *Place) ir.Held {
	out := differs(at.Has > None, at.Caps.Has(ir.Read), More(h.Open), Less(at.unread()))
	return backends.Join(out, backends.When(at.Caps.Has(ir.Read), h.blocked()),
		backends.When(at.Has == None && at.Most > None, h.Closed),
		backends.When(at.Has > at.Least && at.Path != "" && !at.workspace(), h.Opened))
}

func (h *Holder) blocked() ir.Held { return backends.When(h.Blocked != "", Less(h.Blocked)) }

// workspace reports whether a place is the directory in which the program starts.
func (p *Place) workspace() bool { return p.IsRoot() && p.At.Root.Kind == ir.Workspace }

func (h *Holder) writing(at *Place, c ir.Capability) ir.Held {
	less := Less(at.unread())
	if at.Has == Read {
		less = Less(at.unwritten())
	}
	out := differs(at.Has == Write, at.Caps.Has(c), backends.Exact, less)
	if at.Has < Write {
		return out
	}
	return backends.Join(out, h.Written(at))
}

// unread and unwritten are why a place gets less than the rule's capabilities.
func (p *Place) unread() ir.CauseID {
	if p.Less != "" {
		return p.Less
	}
	return WhyUnread
}

func (p *Place) unwritten() ir.CauseID {
	if p.Less != "" {
		return p.Less
	}
	return WhyWhole
}

// movable reports whether a file at a place that is written to can come to one with other
// capabilities, or the name of such a place can be moved.
func (h *Holder) movable(at *Place) bool {
	for _, o := range h.Plan.Places {
		switch {
		case len(at.ByName) > 0:
			return true
		case o.Has == Write && o.Caps != at.Caps && !Kernel(o.At):
			return true
		case o.Outer != at:
		case o.Link || o.Through || h.Moves && o.Pinned && o.Has == at.Has || o.Has == at.Has && o.Pinned &&
			o.Caps != at.Caps:
			return true
		}
	}
	return false
}

func (h *Holder) hosts(c ir.Cell) ir.Held {
	r, ok := c.Rule.(*ir.NetRule)
	switch {
	case !ok && c.Aspect == ir.AspectListen:
		return h.Listen
	case !ok:
		return backends.Join(backends.When(len(h.Hosts.Allowed) > 0, More(WhyBytes)), h.loose())
	case r.Listen && r.Allow:
		return Less(WhyListen)
	case r.Listen:
		return h.loose()
	case r.Allow && !h.Hosts.open[c.Index]:
		return Less(h.Host)
	case h.Hosts.past[c.Index]:
		return More(WhyBytes)
	case !r.Allow:
		return h.loose()
	default:
		return backends.When(h.Hosts.less[c.Index], Less(WhyBoth))
	}
}

func (h *Holder) variables(c ir.Cell) ir.Held {
	r, ok := c.Rule.(*ir.EnvRule)
	switch {
	case !ok:
		return h.Env
	case r.Read:
		return backends.Join(h.Passed(r), backends.When(r.Value != "", Less(WhyValue)))
	default:
		return h.Withheld(r)
	}
}

func (h *Holder) programs(c ir.Cell) ir.Held {
	known := h.Programs
	if known == nil {
		known = &Programs{Others: Nothing(WhyPrograms), Args: Nothing(WhyArgs),
			Listed: func(*ir.CommandRule) ir.Held { return backends.Exact }}
	}
	r, ok := c.Rule.(*ir.CommandRule)
	switch {
	case !ok && c.Aspect != ir.AspectProgram:
		return backends.Exact
	case !ok && h.Plan.Tool.Commands != nil:
		return known.Others
	case !ok:
		return backends.When(known.Any.Is != ir.Unstated, known.Any)
	case c.Aspect == ir.AspectProgram:
		return known.Listed(r)
	case !r.Restricts(c.Aspect):
		return backends.Exact
	case c.Aspect == ir.AspectArgs:
		return known.Args
	default:
		return Nothing(WhyEnvs)
	}
}
