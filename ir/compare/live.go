package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// live compares the lists May and MayNet of the tools, of which the user can grant while they run. They permit
// nothing by themselves, so it is a difference of its own kind.
func live(old, new *ir.Tool) []Difference {
	if sameMay(old, new) {
		return nil
	}
	was, is := ir.Grantable(old), ir.Grantable(new)
	c := newComparison(was, is, ir.Linux)
	out := append(c.files(c.trees(func(r ir.Root) bool { return r.Kind == ir.Workspace })), c.network()...)
	for i := range out {
		out[i].Kind, out[i].What = Live, "be granted "+out[i].What
		// The question is answered by the policy, which does not differ.
		out[i].Example = ""
	}
	return out
}

func sameMay(a, b *ir.Tool) bool {
	return slices.EqualFunc(a.May, b.May, sameRule) && sameNetwork(&ir.Tool{Net: a.MayNet}, &ir.Tool{Net: b.MayNet})
}
