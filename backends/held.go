package backends

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// Exact is a cell in which the platform does as the policy says.
var Exact = ir.Held{Is: ir.Exact}

// Stricter is a cell in which the platform permits less.
func Stricter(why ...ir.CauseID) ir.Held { return ir.Because(ir.Stricter, "", why...) }

// Supervised is a cell that a supervisor holds, and a gap without a supervisor.
func Supervised(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Supervised, gap, why...) }

// Weaker is a cell in which the platform permits more.
func Weaker(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Weaker, gap, why...) }

// Unenforced is a cell that nothing enforces.
func Unenforced(gap ir.Gap, why ...ir.CauseID) ir.Held { return ir.Because(ir.Unenforced, gap, why...) }

// When returns h where it applies, and Exact otherwise.
func When(applies bool, h ir.Held) ir.Held {
	if applies {
		return h
	}
	return Exact
}

// Weakness orders enforcements by how little may be relied upon.
func Weakness(e ir.Enforcement) int {
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

// Join makes one cell of all that is to be said about it: the weakest enforcement, and
// every cause once, those for the weakest first.
func Join(all ...ir.Held) ir.Held {
	out, causes := Exact, 0
	for i := range all {
		causes += len(all[i].Causes)
		if i == 0 || Weakness(all[i].Is) > Weakness(out.Is) {
			out = all[i]
		}
	}
	if out.Causes = nil; causes == 0 {
		return out
	}
	out.Causes = make([]ir.Cause, 0, causes)
	for weakness := Weakness(out.Is); weakness >= 0; weakness-- {
		for i := range all {
			if Weakness(all[i].Is) == weakness {
				out.Causes = addMissing(out.Causes, all[i].Causes)
			}
		}
	}
	return out
}

// Names is how a cell is held by means that know places and no patterns: names that patterns of protected paths match
// can be made, changed and moved.
func Names(v *ir.View, c ir.Cell, held ir.Held, why ir.CauseID) ir.Held {
	if OfNames(v, c) {
		return Join(held, Weaker(ir.GapFSProtected, why))
	}
	return held
}

// OfNames reports whether a cell is about what patterns of protected paths take away.
func OfNames(v *ir.View, c ir.Cell) bool {
	r, ok := c.Rule.(*ir.FSRule)
	return ok && r.Guards() && v.ProtectsNames() &&
		(c.Aspect == ir.AspectCreate || c.Aspect == ir.AspectUpdate || c.Aspect == ir.AspectDelete ||
			c.Aspect == ir.AspectMove)
}

func addMissing(to, causes []ir.Cause) []ir.Cause {
	for _, c := range causes {
		if !slices.Contains(to, c) {
			to = append(to, c)
		}
	}
	return to
}

// Program says how a rule about a program is held where arguments and variables of programs are not, for the
// reasons given.
func Program(r *ir.CommandRule, a ir.Aspect, args, envs ir.CauseID) ir.Held {
	switch {
	case !r.Restricts(a) || a == ir.AspectProgram:
		return Exact
	case a == ir.AspectArgs:
		return Weaker(ir.GapCommandsArgs, args)
	default:
		return Weaker(ir.GapCommandsEnvs, envs)
	}
}
