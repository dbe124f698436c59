package landlockconfig

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// newest is the last version of the ABI that a ledger states. From ABI 6 on all are alike: a
// configuration knows no right of a later version.
const newest = 11

// steps are the first versions of ranges whose cells can be held otherwise than before.
var steps = []int{1, 2, 3, 4, 6}

func (g *grants) ledger() ir.Ledger {
	rows := ir.NewLedger(ir.Linux)
	for _, c := range g.view.Cells() {
		rows.Add(c, ir.Levels{}, ir.Because(ir.Unenforced, "", whyNoLandlock))
		from, held := steps[0], g.held(c, steps[0])
		for _, abi := range steps[1:] {
			if next := g.held(c, abi); !next.Equal(held) {
				rows.Add(c, ir.Levels{From: from, To: abi - 1}, held)
				from, held = abi, next
			}
		}
		rows.Add(c, ir.Levels{From: from, To: newest}, held)
	}
	return rows.Ledger()
}

// held says how a cell is held at an ABI version.
func (g *grants) held(c ir.Cell, abi int) ir.Held {
	if c.Aspect == ir.AspectAsk {
		return backends.Stricter(whyAsk)
	}
	switch r := c.Rule.(type) {
	case *ir.FSRule:
		return backends.Names(g.view, c, g.rule(c, r, abi), whyDeeper)
	case *ir.NetRule:
		if r.Listen {
			return g.listener(r, abi)
		}
		return g.connection(r, abi)
	case *ir.CommandRule:
		return backends.Program(r, c.Aspect, whyArgs, whyEnvs)
	case *ir.EnvRule: // as every variable
	}
	switch c.Resource {
	case ir.FS:
		return g.outside(c, abi)
	case ir.Net:
		return g.denied(c.Aspect, abi)
	case ir.Env:
		return ir.Because(ir.Assumed, "", whyEnvironment)
	case ir.Commands:
		return backends.When(c.Aspect == ir.AspectProgram && g.tool.Commands != nil,
			backends.Weaker(ir.GapCommandsProgram, whyPrograms))
	case ir.Limits:
		return backends.Unenforced(ir.GapOfLimit(c.Limit), whyLimit)
	case ir.Process:
		return backends.When(abi < 6, backends.Weaker(ir.GapProcessSignal, whySignal))
	default:
		return ir.Held{}
	}
}

// outside says how the base as a whole, and all that no rule is about, are held.
func (g *grants) outside(c ir.Cell, abi int) ir.Held {
	base := c.ID == ir.BaseRule
	switch c.Aspect {
	case ir.AspectMetadata, ir.AspectSocket:
		return backends.Join(unknown(c.Aspect), backends.When(base, backends.Stricter(whyBase)))
	case ir.AspectUpdate:
		return backends.Join(backends.When(abi < 3, backends.Weaker(ir.GapFSPaths, whyTruncate)),
			backends.When(base, backends.Stricter(whyBase)))
	case ir.AspectOthers:
		return backends.When(base, ir.Because(ir.Assumed, "", whyPlaces))
	case ir.AspectRead, ir.AspectCreate, ir.AspectDelete:
		return backends.When(base, backends.Stricter(whyBase))
	case ir.AspectExecute:
		return backends.When(base && g.surrounded(), backends.Stricter(whyException))
	default:
		return backends.Exact
	}
}

// surrounded reports whether another root lies in a directory whose programs the base lets be started.
func (g *grants) surrounded() bool {
	return slices.ContainsFunc(g.tops, func(top *ir.Region) bool {
		found := false
		top.Walk(func(r *ir.Region) {
			found = found || r.At.Root.Kind == ir.System && (wants(r)&g.lacks[r]).Has(ir.Execute)
		})
		return found
	})
}

// unknown says how an aspect is held that Landlock has no right for.
func unknown(a ir.Aspect) ir.Held {
	if a == ir.AspectMetadata {
		return backends.Weaker(ir.GapFSMetadata, whyMetadata)
	}
	return backends.Weaker(ir.GapFSSocket, whySocket)
}

// rule says how an aspect of a rule on files is held.
func (g *grants) rule(cell ir.Cell, r *ir.FSRule, abi int) ir.Held {
	regions := g.byRule[cell.ID]
	switch cell.Aspect {
	case ir.AspectMetadata, ir.AspectSocket:
		open := slices.ContainsFunc(regions, func(r *ir.Region) bool { return !r.Caps.Has(ir.Update) })
		return backends.When(open, unknown(cell.Aspect))
	case ir.AspectMove:
		return g.move(regions, abi)
	case ir.AspectOthers:
		return backends.When(r.Caps != 0, g.places())
	}
	c, _ := ir.ParseCapability(string(cell.Aspect))
	held := []ir.Held{backends.Exact}
	for _, region := range regions {
		switch {
		case region.Caps.Has(c):
			held = append(held, g.granted(region, c))
		case c == ir.Update && abi < 3:
			held = append(held, backends.Weaker(ir.GapFSPaths, whyTruncate))
		}
	}
	return backends.Join(held...)
}

// places are the conditions under which grants are about the places of the policy.
func (g *grants) places() ir.Held {
	if g.target.Form == backends.Portable {
		return ir.Because(ir.Assumed, "", whyPlaces, whyApart)
	}
	return ir.Because(ir.Assumed, "", whyPlaces)
}

// granted says how a capability is held that the policy grants in a region.
func (g *grants) granted(r *ir.Region, c ir.Capability) ir.Held {
	named := c == ir.Create || c == ir.Delete
	switch {
	case r.Link || r.Through:
		return backends.Exact // the places that it leads to are regions
	case c == ir.Execute && !r.Caps.Has(ir.Read):
		return backends.Stricter(whyUnread)
	case c == ir.Create && !wants(r).Has(ir.Create):
		return backends.Stricter(whyReplace)
	case !g.has[r].Has(c):
		return backends.Stricter(whyException)
	case c == ir.Create && !g.has[r].Has(ir.Update):
		return backends.Stricter(whyFill)
	case named && !r.IsRoot() && !g.has[r.Above].Has(c):
		return backends.Stricter(whyItself)
	default:
		return backends.Exact
	}
}

// move says how renames and links out of and into a rule's regions are held.
func (g *grants) move(regions []*ir.Region, abi int) ir.Held {
	var held []ir.Held
	for _, r := range regions {
		held = append(held,
			backends.When(g.loose(r), backends.Weaker(ir.GapFSMove, whyPinned)),
			backends.When(g.links(r), backends.Weaker(ir.GapFSMove, whyLinks)),
			backends.When(g.withheldGain && abi >= 2 && r.Caps&(ir.Write|ir.FileCaps) != 0,
				backends.Weaker(ir.GapFSMove, whyWithheld)),
			backends.When(g.narrows(r), backends.Stricter(whyCompared)),
			backends.When(r.Caps&ir.Write != 0 && abi < 2, backends.Stricter(whyRefer)))
	}
	return backends.Join(held...)
}

// loose reports whether a name that leads to a rule can be moved or replaced: the name of r itself, or a name directly
// in r.
func (g *grants) loose(r *ir.Region) bool {
	movable := func(dir *ir.Region) bool { return dir != nil && g.has[dir]&names != 0 }
	return r.Pinned && movable(r.Above) || movable(r) &&
		slices.ContainsFunc(r.Below, func(b *ir.Region) bool { return b.Pinned })
}

// narrows reports whether the kernel can refuse a move out of or into r which the policy allows: it asks for the rights
// of the directories around the names, for both create and delete where a name is replaced, and compares the granted
// rights.
func (g *grants) narrows(r *ir.Region) bool {
	if r.Caps&ir.Write == 0 {
		return false
	}
	return g.withholds || !r.Caps.Contains(ir.Write) || !r.IsRoot() && g.has[r.Above] != g.has[r]
}

// links reports whether a file of r may get a further name that takes capabilities which the file lacks.
func (g *grants) links(r *ir.Region) bool {
	return refers(g.has[r]) && !r.Caps.Contains(ir.Caps(ir.Read, ir.Update))
}

// gainsWithheld reports whether a file could move to where the policy grants a capability that it lacked, and
// the kernel does not see it, since that capability is withheld there.
func (g *grants) gainsWithheld() bool {
	type ends struct{ caps, has ir.CapSet }
	seen := map[ends]bool{} // regions are many, their sets few
	for _, top := range g.tops {
		top.Walk(func(r *ir.Region) {
			seen[ends{r.Caps, g.has[r]}] = true
			for _, n := range g.named[r] {
				seen[ends{n.Caps, g.has[n]}] = true
			}
		})
	}
	for from := range seen {
		for to := range seen {
			if refers(from.has) && to.has.Has(ir.Create) && to.caps&^from.caps != 0 && to.has&^from.has == 0 {
				return true
			}
		}
	}
	return false
}
