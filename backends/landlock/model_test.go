package landlock_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/lsm"
)

// trial is one policy with its emitted specification and ledger.
type trial struct {
	view   *ir.View
	model  *lsm.Model
	abi    int
	ids    map[ir.Rule]ir.RuleID
	ledger ir.Ledger
	start  irtest.World
	now    irtest.World
	// places are the paths that are there now, and names that could be made.
	places []ir.Location
}

func newTrial(t *rapid.T, tool *ir.Tool) *trial {
	out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := landlock.Parse(out.Data)
	if err != nil {
		t.Fatal(err)
	}
	start := irtest.DrawWorld(t, 12, "${home}", "${tmp}", irtest.Elsewhere.String())
	now := start.Later(t)
	kind := func(p string) ir.NodeKind {
		if strings.HasPrefix(p, "/") {
			return ir.Dir // the base, which nothing here is about
		}
		return start.Kind(p)
	}
	abi := rapid.IntRange(1, landlock.MaxABI).Draw(t, "abi")
	x := &trial{
		view: ir.NewView(tool, ir.Linux, ir.Facts{}), ledger: out.Ledger, start: start, now: now, places: now.Places(),
		model: lsm.NewModel(spec, abi, kind), abi: abi, ids: map[ir.Rule]ir.RuleID{},
	}
	for _, e := range x.view.Entries() {
		x.ids[e.Rule] = e.ID
	}
	return x
}

// governing returns the identifier of the rule that decides at a place, and the
// path of that rule.
func (x *trial) governing(at ir.Location) (id ir.RuleID, path string) {
	r := x.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule
	if r == nil {
		return ir.DefaultRule, "${workspace}"
	}
	return x.ids[r], r.(*ir.FSRule).At.String()
}

func (x *trial) held(t *rapid.T, at ir.Location, a ir.Aspect) ir.Enforcement {
	id, _ := x.governing(at)
	row, ok := x.ledger.Cell(ir.FS, id, a, ir.Linux, x.abi)
	if !ok {
		t.Fatalf("the ledger says nothing of %s of %s at ABI %d", a, id, x.abi)
	}
	return row.Is
}

// weaker joins the enforcement of several requirements into the enforcement of an operation on all of them.
func weaker(es ...ir.Enforcement) ir.Enforcement {
	out := ir.Exact
	for _, e := range es {
		if e == ir.Supervised || e == ir.Weaker || out == ir.Exact {
			out = e
		}
	}
	return out
}

// compared counts the comparisons that were made: not every draw yields one.
var compared atomic.Int64

// compare compares the model's answer with the policy's, as far as the ledger goes.
func compare(t *rapid.T, what string, held ir.Enforcement, model, policy bool) {
	compared.Add(1)
	switch {
	case held == ir.Exact && model != policy,
		(held == ir.Stricter || held == ir.Supervised) && model && !policy,
		held == ir.Weaker && policy && !model:
		t.Fatalf("%s (%v): the specification says %v, the policy %v", what, held, model, policy)
	}
}

func (x *trial) access(t *rapid.T) {
	at := rapid.SampledFrom(x.places).Draw(t, "place")
	p := at.String()
	kind := x.now.Kind(p)
	var got bool
	c := ir.Create
	if kind != ir.Absent {
		c = rapid.SampledFrom([]ir.Capability{ir.Read, ir.Delete, ir.Update, ir.Execute}).Draw(t, "cap")
	}
	switch {
	case c == ir.Create:
		got = x.model.Create(p, irtest.Kind(t, ir.File, ir.Dir))
	case c == ir.Read:
		got = x.model.Read(p, kind)
	case c == ir.Delete:
		got = x.model.Delete(p, kind)
	case kind == ir.Dir:
		return
	case c == ir.Update:
		got = x.model.Update(p)
	default:
		got = x.model.Execute(p)
	}
	held := x.held(t, at, ir.AspectOf(c))
	if x.lateRule(at) {
		held = weaker(held, ir.Stricter)
	}
	compare(t, c.String()+" "+p, held, got, x.view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed())
}

// lateRule reports whether the rule that decides at a place is on a path that did
// not exist at the start; such a rule grants nothing.
func (x *trial) lateRule(at ir.Location) bool {
	_, path := x.governing(at)
	return x.start.Kind(path) == ir.Absent
}

func (x *trial) move(t *rapid.T) {
	src, dst := rapid.SampledFrom(x.places).Draw(t, "src"), rapid.SampledFrom(x.places).Draw(t, "dst")
	sp, dp := src.String(), dst.String()
	srcKind, dstKind := x.now.Kind(sp), x.now.Kind(dp)
	if !x.now.Movable(sp, dp) {
		return
	}
	held := []ir.Enforcement{x.held(t, src, ir.AspectMove), x.held(t, dst, ir.AspectMove)}
	for _, c := range []ir.Capability{ir.Create, ir.Update, ir.Delete} {
		held = append(held, x.held(t, src, ir.AspectOf(c)), x.held(t, dst, ir.AspectOf(c)))
	}
	if x.lateRule(src) || x.lateRule(dst) {
		held = append(held, ir.Stricter)
	}
	supervised := x.held(t, src, ir.AspectMove) == ir.Supervised || x.held(t, dst, ir.AspectMove) == ir.Supervised
	if supervised {
		// What the kernel by itself would do with such moves is neither more nor less.
		return
	}
	if rapid.Bool().Draw(t, "link") {
		if srcKind == ir.File && dstKind == ir.Absent {
			op := ir.Link{Src: ir.Direct(src), Dst: ir.Direct(dst)}
			compare(t, "link "+sp+" "+dp, weaker(held...), x.model.Link(sp, dp), x.view.Decide(op).Allowed())
		}
		return
	}
	op := ir.Rename{Src: ir.Direct(src), Dst: ir.Direct(dst), SrcKind: srcKind, DstKind: dstKind}
	compare(t, "rename "+sp+" "+dp, weaker(held...), x.model.Rename(sp, dp, srcKind, dstKind), x.view.Decide(op).Allowed())
}

// TestSpecAgainstPolicy holds the emitted text against Decide: what the ledger calls
// exact is equal, what it calls stricter or supervised is never more.
func TestSpecAgainstPolicy(t *testing.T) {
	compared.Store(0)
	const per = 400
	irtest.Check(t, 6000, per, func(rt *rapid.T) {
		x := newTrial(rt, irtest.ToolByName(rt, irtest.Plain, 5))
		for range per / 2 {
			x.access(rt)
			x.move(rt)
		}
	})
	fmt.Printf("property %s: %d comparisons\n", t.Name(), compared.Load())
}

// TestLedgerIsComplete checks that there is exactly one row for every requirement.
func TestLedgerIsComplete(t *testing.T) {
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		rules := []ir.RuleID{"home", "tmp", "base", "default"}
		for i := range tool.FS {
			rules = append(rules, ir.FSRuleID(i))
		}
		for abi := 0; abi <= landlock.MaxABI; abi++ {
			for _, rule := range rules {
				for _, a := range ir.Aspects(ir.FS) {
					if n := count(out.Ledger, rule, a, abi); n != 1 {
						rt.Fatalf("%d rows for %s of %s at ABI %d", n, a, rule, abi)
					}
				}
			}
		}
	})
}

func count(l ir.Ledger, rule ir.RuleID, a ir.Aspect, level int) int {
	n := 0
	for _, r := range l {
		for range 1 {
			if _, ok := (ir.Ledger{r}).Cell(ir.FS, rule, a, ir.Linux, level); ok {
				n++
			}
		}
	}
	return n
}

// TestOneIdentifierManyRules: protected paths share an identifier. Cause: the test whether
// files may be started without being read used the capabilities of all of them together, so
// that one path that may be read made another exact.
func TestOneIdentifierManyRules(t *testing.T) {
	tool := &ir.Tool{Base: ir.BaseSystem, Protects: true, FS: []ir.FSRule{
		{Written: ".", At: ir.In(""), Caps: ir.Caps(ir.Read, ir.Delete)},
		{Written: "access", At: ir.In("access"), Caps: ir.Caps(ir.Delete, ir.Execute)},
	}}
	out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	row, ok := out.Ledger.Cell(ir.FS, "protected", ir.AspectExecute, ir.Linux, landlock.MaxABI)
	if !ok || row.Is != ir.Stricter {
		t.Errorf("access/manifest.json may be started and not be read, and is %v", row.Is)
	}
}
