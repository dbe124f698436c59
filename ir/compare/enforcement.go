package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// held is the weakest enforcement of each aspect on one platform.
type held map[ir.Resource]map[ir.Aspect]ir.Enforcement

// enforcement compares how the platform enforces the two policies, per resource and aspect by
// the weakest requirement: weaker enforcement permits more. A restriction that only one of the
// two has at all permits more where it is missing, however it is enforced. A new restriction
// that is not enforced permits nothing new, so it is no widening either: granted are the
// differences between the grants of the two.
func (c *comparison) enforcement(old, new ir.Ledger, granted []Difference) []Difference {
	a, b := weakest(old, c.platform), weakest(new, c.platform)
	var out []Difference
	for r := ir.FS; r <= ir.Process; r++ {
		if r == ir.Commands && (c.old.Tool.Commands == nil || c.new.Tool.Commands == nil) {
			continue
		}
		aspects := ir.Aspects(r)
		if r == ir.Limits {
			aspects = limitAspects(a[r], b[r])
		}
		for _, aspect := range aspects {
			was, is := a[r][aspect], b[r][aspect]
			missing := r == ir.Limits && (was == ir.Unstated || is == ir.Unstated)
			if unheld(was) == unheld(is) || missing {
				continue
			}
			out = append(out, Difference{
				Kind: Enforcement, Resource: r, Wider: unheld(is) > unheld(was) && !restricted(granted, r, aspect),
				What:  string(aspect) + " is " + word(is) + ", was " + word(was),
				Where: c.platform.String(),
			})
		}
	}
	return out
}

// restricted reports whether the new policy grants less of an aspect, and nothing more.
func restricted(granted []Difference, r ir.Resource, a ir.Aspect) bool {
	less := false
	for _, d := range granted {
		if d.Resource != r || d.Kind != Grant || r == ir.FS && !slices.Contains(strings.Fields(d.What), string(a)) {
			continue
		}
		if d.Wider {
			return false
		}
		less = true
	}
	return less
}

func limitAspects(ms ...map[ir.Aspect]ir.Enforcement) []ir.Aspect {
	var out []ir.Aspect
	for _, m := range ms {
		for a := range m {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	slices.SortFunc(out, func(a, b ir.Aspect) int { return strings.Compare(string(a), string(b)) })
	return out
}

func word(e ir.Enforcement) string {
	if e == ir.Unstated {
		return "not stated"
	}
	return e.String()
}

// unheld ranks how much more than the policy a platform permits.
func unheld(e ir.Enforcement) int {
	switch e {
	case ir.Weaker:
		return 1
	case ir.Advisory:
		return 2
	case ir.Unenforced:
		return 3
	case ir.Unstated, ir.Exact, ir.Supervised, ir.Stricter, ir.Assumed:
		return 0
	default:
		return 3
	}
}

// weakest takes the weakest enforcement of every aspect at the best level of the platform.
func weakest(l ir.Ledger, p ir.Platform) held {
	best := 0
	for _, row := range l {
		if row.Platform == p {
			best = max(best, row.Levels.To)
		}
	}
	out := held{}
	for _, row := range l.On(p, best) {
		for _, a := range row.Aspects {
			if out[row.Resource] == nil {
				out[row.Resource] = map[ir.Aspect]ir.Enforcement{}
			}
			if now, known := out[row.Resource][a]; !known || unheld(row.Is) > unheld(now) {
				out[row.Resource][a] = row.Is
			}
		}
	}
	return out
}
