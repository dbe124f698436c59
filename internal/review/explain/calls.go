package explain

import (
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// called adds which tools of MCP servers may be called to the changes of their entries and servers. A server without a
// table is among them only if that has changed.
func called(cs []Change, old, new []compare.Policy) []Change {
	of := func(ps []compare.Policy) []*ir.Tool {
		var out []*ir.Tool
		for _, p := range ps {
			out = append(out, p.Tool)
		}
		return out
	}
	found := compare.Calls(of(old), of(new))
	for i := range cs {
		cs[i].add(found[cs[i].Name])
		delete(found, cs[i].Name)
	}
	for _, server := range slices.Sorted(maps.Keys(found)) {
		c := Change{Name: server}
		c.add(found[server])
		cs = append(cs, c)
	}
	slices.SortStableFunc(cs, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return cs
}

func (c *Change) add(ds []compare.Difference) {
	c.Differences = append(c.Differences, ds...)
	c.Verdict = compare.Sum(c.Differences)
}
