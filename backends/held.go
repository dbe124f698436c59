package backends

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// Exact is a cell in which the platform does as the policy says.
var Exact = ir.Held{Is: ir.Exact}

// Stricter is a cell in which the platform permits less.
func Stricter(why ...ir.CauseID) ir.Held { return ir.Because(ir.Stricter, "", why...) }

// Supervised is a cell that a supervisor holds, and a gap without one.
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
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b ir.Held) int { return Weakness(b.Is) - Weakness(a.Is) })
	out := Exact
	var causes []ir.Cause
	for i, h := range all {
		if i == 0 {
			out = h
		}
		for _, c := range h.Causes {
			if !slices.Contains(causes, c) {
				causes = append(causes, c)
			}
		}
	}
	out.Causes = causes
	return out
}
