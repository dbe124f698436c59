package compare

import (
	"slices"
	"strconv"

	"github.com/accessc/accessc/ir"
)

// bounds compares limits, constraints on invocations, which gaps are accepted, and whether the home is
// shared.
func bounds(old, new *ir.Tool) []Difference {
	var out []Difference
	for _, k := range ir.LimitKinds {
		a, b := limit(old, k), limit(new, k)
		if a != b {
			out = append(out, Difference{
				Kind: Bound, Resource: ir.Limits, Wider: a != 0 && (b == 0 || b > a), What: "use", Where: k.String(),
				Limits: [2]uint64{a, b},
			})
		}
	}
	for _, gap := range accepted(old, new) {
		was, is := accepts(old, gap), accepts(new, gap)
		if was != is {
			out = append(out, Difference{Kind: Unheld, Wider: is, What: "accept the gap", Where: string(gap)})
		}
	}
	if old.HomeShared != new.HomeShared {
		out = append(out, Difference{Kind: Sharing, Wider: new.HomeShared, What: "share",
			Where: "the home with other tools"})
	}
	return append(out, constraints(old.Constraints, new.Constraints)...)
}

// limit is 0 where there is none.
func limit(t *ir.Tool, k ir.LimitKind) uint64 {
	for _, l := range t.Limits {
		if l.Kind == k {
			return l.Value
		}
	}
	return 0
}

func accepts(t *ir.Tool, gap ir.Gap) bool {
	return slices.ContainsFunc(t.Accept, func(a ir.Acceptance) bool { return a.Gap == gap })
}

func accepted(ts ...*ir.Tool) []ir.Gap {
	var out []ir.Gap
	for _, t := range ts {
		for _, a := range t.Accept {
			out = append(out, a.Gap)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// constraints compares how often, and after which other tools, a tool may be invoked.
func constraints(old, new *ir.Constraints) []Difference {
	a, b := orNone(old), orNone(new)
	var out []Difference
	add := func(wider bool, where string) {
		out = append(out, Difference{Kind: Invocation, Wider: wider, What: "invoke", Where: where})
	}
	if a.Forbidden != b.Forbidden {
		add(a.Forbidden, "forbidden")
	}
	if m, n := a.MaxInvocations, b.MaxInvocations; m != n {
		add(m != 0 && (n == 0 || n > m), "more than "+strconv.Itoa(fewer(m, n))+" times")
	}
	// All of the listed tools must have run before.
	for _, name := range union(a.OnlyAfter, b.OnlyAfter) {
		was, is := slices.Contains(a.OnlyAfter, name), slices.Contains(b.OnlyAfter, name)
		if was != is {
			add(was, "before "+name)
		}
	}
	return out
}

// fewer is the smaller of two numbers of which 0 means any.
func fewer(m, n int) int {
	if m == 0 || n == 0 {
		return m + n
	}
	return min(m, n)
}

func orNone(c *ir.Constraints) ir.Constraints {
	if c == nil {
		return ir.Constraints{}
	}
	return *c
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
