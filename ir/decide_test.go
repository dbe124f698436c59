package ir_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// naive implements the text of the specification as directly as possible: a rule by name stands for the same
// rule at every path below its own whose last component matches. Of all rules whose path is a prefix, by
// component, the rule with the most components wins in full, the last such rule on a tie; without a match nothing is
// granted. Where a protected path is the deepest of the rules that are no rules by name, nothing is written.
func naive(rules []ir.FSRule, at ir.Location) ir.CapSet {
	var caps ir.CapSet
	most, deepest, guarded := -1, -1, false
	for _, r := range rules {
		if r.At.Root != at.Root || r.At.Path != "" && !strings.HasPrefix(at.Path+"/", r.At.Path+"/") {
			continue
		}
		depth := naiveDepth(r, at)
		if depth >= most && depth >= 0 {
			caps, most = r.Caps, depth
		}
		if !r.ByName() && depth >= deepest {
			deepest, guarded = depth, r.Guards()
		}
	}
	if guarded {
		caps &^= ir.Write
	}
	return caps
}

// naiveDepth is the number of components of the path, on the way to a place below the rule's place, that the
// rule stands for; -1 if there is none.
func naiveDepth(r ir.FSRule, at ir.Location) int {
	if !r.ByName() {
		return r.At.Depth()
	}
	parts := strings.Split(at.Path, "/")
	for n := at.Depth(); n > r.At.Depth(); n-- {
		for _, p := range r.Names {
			if naiveMatch(p, parts[n-1]) {
				return n
			}
		}
	}
	return -1
}

// naiveMatch matches a pattern of ASCII as path.Match does, which has the same syntax but for "[^", and counts
// characters.
func naiveMatch(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// naiveRename says from the text when a rename may happen. A path is pinned when
// some path at or below it has other capabilities than the directory above.
func naiveRename(rules []ir.FSRule, op ir.Rename) bool {
	src, dst := op.Src.At, op.Dst.At
	s, d := naive(rules, src), naive(rules, dst)
	need := map[ir.NodeKind]ir.CapSet{
		ir.Absent: ir.Caps(ir.Create), ir.File: ir.Caps(ir.Update), ir.Dir: ir.Caps(ir.Create, ir.Delete),
		ir.Unknown: ir.Write,
	}[op.DstKind]
	matters := ir.All
	if op.SrcKind == ir.File {
		matters = ir.FileCaps
	}
	return src.Path != "" && dst.Path != "" && s.Has(ir.Delete) && d.Contains(need) &&
		!naivePinned(rules, src) && !naivePinned(rules, dst) && s.Contains(d&matters) &&
		(op.SrcKind == ir.File || !naiveGainBelow(rules, src, dst))
}

// naiveGainBelow reports whether some file in a directory would have more after a move. The names are of every
// class that the patterns tell apart.
func naiveGainBelow(rules []ir.FSRule, src, dst ir.Location) bool {
	if !slices.ContainsFunc(rules, func(r ir.FSRule) bool { return r.ByName() }) {
		return false
	}
	names := []string{"a", "b", "ab", "aa", "bb", "abb", "aaa", ".env", ".enva", "c", "cb", "ccb", "cc", "ccc"}
	var below func(dir string, depth int) bool
	below = func(dir string, depth int) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			at := path.Join(dir, name)
			if naive(rules, dst.Child(at))&^naive(rules, src.Child(at)) != 0 {
				return true
			}
			matched := slices.ContainsFunc(rules, func(r ir.FSRule) bool {
				return slices.ContainsFunc(r.Names, func(p string) bool { return naiveMatch(p, name) })
			})
			return matched && depth > 1 && below(at, depth-1)
		})
	}
	return below("", 2)
}

// naivePinned reports whether some path at or below l has other capabilities than it had without the rules that
// are written for it.
func naivePinned(rules []ir.FSRule, l ir.Location) bool {
	return slices.ContainsFunc(rules, func(r ir.FSRule) bool {
		if r.At.Path == "" || !r.At.Under(l) {
			return false
		}
		// The place of a rule by name, and a place where a rule changes something.
		without := slices.DeleteFunc(slices.Clone(rules), func(o ir.FSRule) bool { return !o.ByName() && o.At == r.At })
		plain := r.Guards() && naive(byPath(rules), r.At) != naive(byPath(without), r.At)
		return plain || r.ByName() || naive(rules, r.At) != naive(without, r.At)
	})
}

// naiveName says from the text whether a name of a kind can be made or removed where the
// capability is granted: a name that leads to a rule's path stays a directory, and a rule's
// path does not become a symlink.
func naiveName(rules []ir.FSRule, op ir.Access) bool {
	l := op.On.At
	switch {
	case !naivePinned(rules, l) || op.Name == ir.NameAny || op.Name == ir.NameDir:
		return true
	case slices.ContainsFunc(rules, func(r ir.FSRule) bool { return r.At == l }): // also the place of a rule by name
		return op.Cap == ir.Delete || op.Name != ir.NameLink
	}
	return false
}

// rulesOf lists the rules of a tool, the rules of protected paths as the specification says: the
// governing grant without writing, unless a rule is written for the path.
func rulesOf(t *ir.Tool) []ir.FSRule {
	own := append(ir.ImpliedRules(t), t.FS...)
	rules := slices.Clone(own)
	if !t.Protects {
		return rules
	}
	guarded := func(at ir.Location) bool { // by a protected path that no later rule is below
		rule := func(list []ir.FSRule) int {
			most := -1
			for _, r := range list {
				if at.Under(r.At) {
					most = max(most, r.At.Depth())
				}
			}
			return most
		}
		guards := slices.DeleteFunc(slices.Clone(rules), func(r ir.FSRule) bool { return !r.Guards() })
		return rule(guards) >= 0 && rule(guards) == rule(rules)
	}
	for _, p := range append(ir.ProtectedPaths(), t.Protected...) {
		if p.Pattern {
			continue
		}
		at := p.At()
		if slices.ContainsFunc(rules, func(r ir.FSRule) bool { return !r.ByName() && r.At == at }) {
			continue
		}
		switch caps := naive(rules, at); {
		case p.Open && guarded(at):
			rules = append(rules, ir.FSRule{At: at, Caps: naive(own, at)})
		case !p.Open && (naive(byPath(rules), at)&ir.Write != 0 || slices.ContainsFunc(rules, func(r ir.FSRule) bool {
			return r.ByName() && r.At.Root == at.Root && r.Caps&ir.Write != 0
		})):
			rules = append(rules, ir.FSRule{At: at, Caps: caps &^ ir.Write, Origin: ir.Origin{Layer: ir.LayerProtected}})
		}
	}
	return rules
}

// byPath are the rules that are no rules by name.
func byPath(rules []ir.FSRule) []ir.FSRule {
	return slices.DeleteFunc(slices.Clone(rules), func(r ir.FSRule) bool { return r.ByName() })
}

// TestDecideAgainstNaive compares Decide with the evaluators above: a million triples of
// policy, operation and path at full scale.
func TestDecideAgainstNaive(t *testing.T) {
	const per = 100
	irtest.Check(t, 10_000, per, func(rt *rapid.T) {
		tool := irtest.Tool(rt, irtest.Plain, 7)
		irtest.ByName(rt, tool, irtest.Plain, 2)
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		rules := rulesOf(tool)
		for range per {
			at := irtest.Place(rt, irtest.Plain)
			if rapid.Bool().Draw(rt, "simple") {
				c := rapid.SampledFrom(ir.Capabilities[:]).Draw(rt, "cap")
				op := ir.Access{Cap: c, On: ir.Direct(at), Name: ir.NameKind(rapid.IntRange(0, 3).Draw(rt, "name"))}
				want := naive(rules, at).Has(c)
				if c == ir.Create || c == ir.Delete {
					want = want && at.Path != "" && naiveName(rules, op)
				}
				if got := view.Decide(op).Allowed(); got != want {
					rt.Fatalf("%+v: got %v, want %v", op, got, want)
				}
				continue
			}
			op := ir.Rename{
				Src: ir.Direct(at), Dst: ir.Direct(irtest.Place(rt, irtest.Plain)),
				SrcKind: irtest.Kind(rt, ir.File, ir.Dir, ir.Unknown),
				DstKind: irtest.Kind(rt, ir.Absent, ir.File, ir.Dir, ir.Unknown),
			}
			want := naiveRename(rules, op)
			if op.SrcKind != ir.File && op.Dst.At.Root.Kind == ir.Workspace && op.Src.At.Root.Kind != ir.Workspace {
				// The directory may hold names that are protected in any directory of the workspace.
				want = want && !view.ProtectsNames()
			}
			if got := view.Decide(op).Allowed(); got != want {
				rt.Fatalf("%+v: got %v, want %v", op, got, want)
			}
		}
	})
}
