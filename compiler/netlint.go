package compiler

import (
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// lintNet warns about pairs of equal specificity, one allowing and one denying,
// that some target matches both of. Such pairs share a host, and their paths lie
// on one line and differ by at most the two other things that count.
func (c *compilation) lintNet(t *ir.Tool) {
	// at lists the rules of a path, under those of the paths below it.
	at, under := map[string][]*ir.NetRule{}, map[string][]*ir.NetRule{}
	for i := range t.Net {
		r := &t.Net[i]
		whole := len(r.Path)
		for n := max(whole-2, 0); n <= whole; n++ {
			c.compareNet(at[netKey(r, n)], r)
			if n < whole {
				remember(under, netKey(r, n), r)
			}
		}
		c.compareNet(under[netKey(r, whole)], r)
		remember(at, netKey(r, whole), r)
	}
}

// remember keeps the latest few rules of a key: a lint that names one pair of a
// hundred thousand equal rules is as good as one that names all.
func remember(m map[string][]*ir.NetRule, key string, r *ir.NetRule) {
	const few = 8
	list := append(m[key], r)
	m[key] = list[max(len(list)-few, 0):]
}

func netKey(r *ir.NetRule, segments int) string {
	return r.Host.String() + " " + strconv.Itoa(segments) + " " + strings.Join(r.Path[:segments], "/")
}

func (c *compilation) compareNet(earlier []*ir.NetRule, after *ir.NetRule) {
	for _, before := range earlier {
		if before.Allow == after.Allow || !before.Ties(after) {
			continue
		}
		verb := "denied"
		if after.Allow {
			verb = "allowed"
		}
		c.orderDecides(before, after, leafAt(after.Leaves, "host", after.Origin), "requests that both match are "+verb+", since this rule is later")
	}
}
