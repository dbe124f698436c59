package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// live compares the lists May of the tools, of which the user can grant while they run. They permit
// nothing by themselves, so it is a difference of its own kind.
func live(old, new *ir.Tool) []Difference {
	if slices.EqualFunc(old.May, new.May, sameRule) {
		return nil
	}
	was, is := ir.Grantable(old), ir.Grantable(new)
	c := newComparison(was, is, ir.Linux)
	out := c.files(c.trees(func(r ir.Root) bool { return r.Kind == ir.Workspace }))
	for i := range out {
		out[i].Kind, out[i].What = Live, "be granted "+out[i].What
		// The question is answered by the policy, which does not differ.
		out[i].Example = ""
	}
	return out
}
