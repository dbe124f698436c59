package ir_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irtest"
)

// naive is the evaluator of the specification's text, as short as it can be said:
// of all rules whose path is a prefix, by component, the one with the most
// components wins in full, the last one on a tie; without one nothing is granted.
func naive(rules []ir.FSRule, at ir.Location) ir.CapSet {
	var caps ir.CapSet
	most := -1
	for _, r := range rules {
		if r.At.Root == at.Root && (r.At.Path == "" || strings.HasPrefix(at.Path+"/", r.At.Path+"/")) && r.At.Depth() >= most {
			caps, most = r.Caps, r.At.Depth()
		}
	}
	return caps
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
	pinned := func(l ir.Location) bool {
		return slices.ContainsFunc(rules, func(r ir.FSRule) bool {
			parent, ok := r.At.Parent()
			return ok && r.At.Under(l) && naive(rules, r.At) != naive(rules, parent)
		})
	}
	return src.Path != "" && dst.Path != "" && s.Has(ir.Delete) && d.Contains(need) &&
		!pinned(src) && !pinned(dst) && s.Contains(d&matters)
}

func rulesOf(t *ir.Tool) []ir.FSRule { return append(ir.ImpliedRules(t), t.FS...) }

// TestDecideAgainstNaive holds Decide against the evaluators above: a million
// triples of policy, operation and path at full scale.
func TestDecideAgainstNaive(t *testing.T) {
	const per = 100
	irtest.Check(t, 10_000, per, func(rt *rapid.T) {
		tool := irtest.Tool(rt, irtest.Plain, 7)
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		rules := rulesOf(tool)
		for range per {
			at := irtest.Place(rt, irtest.Plain)
			if rapid.Bool().Draw(rt, "simple") {
				c := rapid.SampledFrom(ir.Capabilities[:]).Draw(rt, "cap")
				want := naive(rules, at).Has(c) && (at.Path != "" || c != ir.Create && c != ir.Delete)
				if got := view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed(); got != want {
					rt.Fatalf("%v %v: got %v, want %v", c, at, got, want)
				}
				continue
			}
			op := ir.Rename{
				Src: ir.Direct(at), Dst: ir.Direct(irtest.Place(rt, irtest.Plain)),
				SrcKind: irtest.Kind(rt, ir.File, ir.Dir, ir.Unknown),
				DstKind: irtest.Kind(rt, ir.Absent, ir.File, ir.Dir, ir.Unknown),
			}
			if got, want := view.Decide(op).Allowed(), naiveRename(rules, op); got != want {
				rt.Fatalf("%+v: got %v, want %v", op, got, want)
			}
		}
	})
}
