package explain

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// Widths of the lines on a rule by name: of its patterns, and of the names that there are now.
const (
	maxPatterns = 36
	maxNow      = 3
)

// counts reports whether a rule by name counts from the place of a region.
func counts(r *ir.Region) bool {
	return slices.ContainsFunc(r.ByName, func(e ir.Entry) bool { return e.Rule.At == r.At })
}

// byName are the lines on the rules by name that count from the place of a region, in the order in which ties
// are decided.
func (p *Policy) byName(r *ir.Region, indent string) []line {
	var out []line
	for _, e := range r.ByName {
		if e.Rule.At != r.At {
			continue
		}
		for _, patterns := range chunks(e.Rule.Names) {
			out = append(out, line{
				at: &placed{indent, told(e.Rule, patterns), e.Rule.Caps}, origin: e.Rule.Origin.String(),
				note: p.now(e.Rule, patterns), grants: capWords(e.Rule.Caps),
			})
		}
	}
	return out
}

// told are some patterns of a rule as its subject has them, from the place that the rule counts from.
func told(r *ir.FSRule, patterns []string) string {
	part := ir.FSRule{At: r.At, Names: patterns}
	return part.Subject()
}

// chunks divides patterns so that a line has room for them.
func chunks(patterns []string) (out [][]string) {
	width := 0
	for _, p := range patterns {
		if n := len(out); n > 0 && width+len(p) < maxPatterns {
			out[n-1] = append(out[n-1], p)
			width += len(p) + 1
			continue
		}
		out = append(out, []string{p})
		width = len(p)
	}
	return out
}

// now says which names there are.
func (p *Policy) now(r *ir.FSRule, patterns []string) string {
	if p.Now == nil {
		return ""
	}
	var found []string
	for _, at := range p.Now[r] {
		decides := p.View.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule == ir.Rule(r)
		if decides && ir.MatchNames(patterns, at.Base()) {
			found = append(found, at.Short())
		}
	}
	switch more := len(found) - maxNow; {
	case len(found) == 0:
		return "none now; also those that come"
	case more > 0:
		return "now " + strings.Join(found[:maxNow], ", ") + " and " + plural.Count(more, "other")
	default:
		return "now " + strings.Join(found, ", ")
	}
}
