package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Rules that name their places by themselves have a root each, and only a host knows that a root lies in another.
// Policies are compared by names: below the home and below the root directory.

// shared returns a tool whose rules of that kind lie below one root for each kind of name; the
// tool itself where it has none.
// See decision D34.
func shared(t *ir.Tool) *ir.Tool {
	if !slices.ContainsFunc(t.FS, func(r ir.FSRule) bool { return r.At.Root.Direct() }) {
		return t
	}
	out := *t
	out.FS = slices.Clone(t.FS)
	for i := range out.FS {
		out.FS[i].At = byName(out.FS[i].At)
	}
	return &out
}

func byName(l ir.Location) ir.Location {
	if !l.Root.Direct() {
		return l
	}
	top, rest, _ := strings.Cut(l.Short(), "/")
	if top != "~" {
		top += "/"
	}
	return ir.Location{Root: ir.Root{Kind: ir.External, Name: top}, Path: rest}
}

// original returns the rule of a tool that a rule of its shared form is, and any other rule as
// it is.
func original(t, shared *ir.Tool, r ir.Rule) ir.Rule {
	for i := range shared.FS {
		if r == ir.Rule(&shared.FS[i]) {
			return &t.FS[i]
		}
	}
	return r
}
