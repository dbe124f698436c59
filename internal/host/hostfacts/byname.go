package hostfacts

import (
	"github.com/accessc/accessc/ir"
)

// NamesNow are the existing names that the patterns of a tool's rules by name match, by rule. The search ends
// after the nearest 50,000 names.
func (r *Result) NamesNow(t *ir.Tool) map[*ir.FSRule][]ir.Location {
	out := map[*ir.FSRule][]ir.Location{}
	for i := range t.FS {
		rule := &t.FS[i]
		if !rule.ByName() {
			continue
		}
		var patterns []ir.SensitivePattern
		for _, name := range rule.Names {
			patterns = append(patterns, ir.SensitivePattern{Pattern: rule.At.Child("**/" + name).Short()})
		}
		bound := r.bindings(t)
		for _, at := range r.search(rule.At, bound, patterns) {
			if ir.MatchNames(rule.Names, at.Base()) {
				out[rule] = append(out[rule], at)
			}
		}
	}
	return out
}
