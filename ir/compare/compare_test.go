package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var names = []string{"a", "b", "c"}

// universe is every path of up to three names, one of which no policy knows.
func universe() []ir.Location {
	all := append(slices.Clone(names), "fresh", "ab", "bb", ".env", ".envx")
	out := []ir.Location{ir.In("")}
	last := []string{""}
	for range 3 {
		var next []string
		for _, p := range last {
			for _, n := range all {
				next = append(next, strings.TrimPrefix(p+"/"+n, "/"))
			}
		}
		for _, p := range next {
			out = append(out, ir.In(p))
		}
		last = next
	}
	for _, l := range slices.Clone(out) {
		if l.Depth() < 3 && l.Path != "a" { // the target of a rule, a name that does not move
			out = append(out, ir.Location{Root: irtest.Elsewhere, Path: l.Path})
		}
	}
	return append(out, ir.Location{Root: irtest.Elsewhere, Path: "a/b/fresh"})
}

// drawPair draws a tool and another tool that is often close to it.
func drawPair(t *rapid.T) (a, b *ir.Tool) {
	draw := func() *ir.Tool {
		x := irtest.ToolByName(t, names, 4)
		x.Source.Kind, x.Base = ir.SourceLocal, ir.BaseNone
		return x
	}
	a = draw()
	if rapid.Bool().Draw(t, "unrelated") {
		return a, draw()
	}
	c := *a
	c.FS = slices.Clone(a.FS)
	switch {
	case len(c.FS) > 0 && rapid.Bool().Draw(t, "drop"):
		i := rapid.IntRange(0, len(c.FS)-1).Draw(t, "which")
		c.FS = slices.Delete(c.FS, i, i+1)
	case rapid.Bool().Draw(t, "add by name"):
		irtest.ByName(t, &c, names, 1)
	default:
		c.FS = append(c.FS, irtest.FSRules(t, names, 1)...)
	}
	return a, &c
}

// brute asks every operation of a finite universe.
func brute(a, b *ir.Tool, ops []ir.Operation) (wider, narrower bool) {
	// Rules that name their places by themselves lie in each other by their names.
	old, new := ir.NewView(shared(a), ir.Linux, ir.Facts{}), ir.NewView(shared(b), ir.Linux, ir.Facts{})
	for _, op := range ops {
		was, is := old.Decide(op).Allowed(), new.Decide(op).Allowed()
		wider, narrower = wider || is && !was, narrower || was && !is
	}
	return wider, narrower
}

func verdict(wider, narrower bool) Verdict {
	out := Equivalent
	if wider {
		out = out.and(true)
	}
	if narrower {
		out = out.and(false)
	}
	return out
}

// fileOperations is a sample of the universe's operations that contains all simple operations.
func fileOperations(t *rapid.T) []ir.Operation {
	places := universe()
	var out []ir.Operation
	for _, at := range places {
		for _, c := range ir.Capabilities {
			out = append(out, ir.Access{Cap: c, On: ir.Direct(at)})
		}
	}
	for _, src := range places {
		for range 3 {
			for _, w := range ways(ir.Direct(src), ir.Direct(rapid.SampledFrom(places).Draw(t, "dst"))) {
				out = append(out, w.asked)
			}
		}
	}
	return out
}

// TestFilesAgainstBruteForce: no widening is missed and none is made up. Every region contains
// exactly the differing operations.
func TestFilesAgainstBruteForce(t *testing.T) {
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		a, b := drawPair(rt)
		ds := Policies(Policy{Tool: a}, Policy{Tool: b})
		ops := fileOperations(rt)
		wider, narrower := brute(a, b, ops)
		// The sample may miss a move; a reported move was asked of both policies.
		got := Sum(filter(ds, ir.FS))
		if wider && got != Widened && got != Changed || narrower && got != Narrowed && got != Changed {
			rt.Fatalf("got %v, brute force finds wider %v, narrower %v\nold %v\nnew %v\n%+v", got, wider, narrower, a.FS, b.FS, ds)
		}
		c := newComparison(shared(a), shared(b), ir.Linux)
		for _, tr := range c.trees(func(ir.Root) bool { return true }) {
			covers1(rt, c, tr)
		}
		c.examples(rt, ds)
		c.judgedMoves(rt, ds, ops)
	})
}

// judgedMoves: a move that only a pin or the check for escalation forbids on one side is among
// the differences of that direction.
func (c *comparison) judgedMoves(rt *rapid.T, ds []Difference, ops []ir.Operation) {
	for _, op := range ops {
		old, new, differs := c.ask(op)
		denied := old
		if !new.Allowed() {
			denied = new
		}
		if !differs || denied.Reason != ir.ReasonNoGain && denied.Reason != ir.ReasonPinned {
			continue
		}
		said := func(d Difference) bool {
			return d.Resource == ir.FS && d.Wider == new.Allowed() && (strings.Contains(d.What, verbOf(op)) || d.What == "move or replace")
		}
		if !slices.ContainsFunc(ds, said) {
			rt.Fatalf("%#v: %v (%v), then %v (%v), of which nothing is said: %+v", op, old.Effect, old.Reason, new.Effect, new.Reason, ds)
		}
	}
}

func verbOf(op ir.Operation) string {
	switch op.(type) {
	case ir.Link:
		return "link"
	case ir.Exchange:
		return "exchange"
	default:
		return "rename"
	}
}

// covers1 checks the regions of one root against every path of the universe.
func covers1(rt *rapid.T, c *comparison, tr *placeTree) {
	for _, wider := range []bool{true, false} {
		regions := only(tr, wider, ir.All).regions()
		cells := all(tr)
		for _, at := range universe() {
			if at.Root != tr.item.at.Root || at.Path == "" {
				continue
			}
			more := caps(c.new, at) &^ caps(c.old, at)
			if !wider {
				more = caps(c.old, at) &^ caps(c.new, at)
			}
			var said ir.CapSet
			hits := 0
			for _, r := range regions {
				if at.Under(r.item.at) && !slices.ContainsFunc(r.except, func(p *place) bool { return at.Under(p.at) }) {
					said |= r.label
					hits++
				}
			}
			if i := c.nameCellAt(cells, at); i != nil {
				said, hits = i.more(wider), 1
			}
			if said != more || hits > 1 {
				rt.Fatalf("%v: regions say %v (%d of them), it is %v", at, said, hits, more)
			}
		}
	}
}

// nameCellAt is the cell of names that a place belongs to, nil if it belongs to none.
func (c *comparison) nameCellAt(cells []*place, at ir.Location) *nameCell {
	var in *place
	for _, p := range cells {
		if at.Under(p.at) && (in == nil || p.at.Depth() > in.at.Depth()) {
			in = p
		}
	}
	s := c.stateAt(at)
	if i := slices.IndexFunc(in.byName, func(n *nameCell) bool { return nameState{n.by, n.old, n.new} == s }); i >= 0 {
		return in.byName[i]
	}
	return nil
}

// examples checks that the example of a difference differs as stated.
func (c *comparison) examples(rt *rapid.T, ds []Difference) {
	for _, d := range ds {
		move := strings.Contains(d.Where, "→") || d.What == "move or replace"
		if d.Example == "" && !move {
			rt.Fatalf("no example: %+v", d)
		}
		if d.Old == d.New && d.Resource != ir.Commands {
			rt.Fatalf("nothing tells the sides apart: %+v", d)
		}
	}
}

func filter(ds []Difference, r ir.Resource) []Difference {
	return slices.DeleteFunc(slices.Clone(ds), func(d Difference) bool { return d.Resource != r })
}

// closed is a tool that permits nothing but the additions of a test.
func closed() *ir.Tool {
	return Nothing(&ir.Tool{Name: "t", Base: ir.BaseNone, Home: ir.HomeReal, Commands: &ir.CommandSet{}}).Tool
}

// near draws a list and another list that is often close to it.
func near[T any](t *rapid.T, draw func(*rapid.T, int) []T) (a, b []T) {
	a = draw(t, 4)
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		return a, draw(t, 4)
	case 1:
		return a, append(slices.Clone(a), draw(t, 1)...)
	default:
		return a, slices.Clone(a[:len(a)/2])
	}
}

// against compares the verdict on one resource with brute force.
func against(rt *rapid.T, a, b *ir.Tool, r ir.Resource, ops []ir.Operation) {
	ds := filter(Policies(Policy{Tool: a}, Policy{Tool: b}), r)
	if got, want := Sum(ds), verdict(brute(a, b, ops)); got != want {
		rt.Fatalf("got %v, brute force says %v\nold %+v\nnew %+v\n%+v", got, want, a, b, ds)
	}
	back := Sum(filter(Policies(Policy{Tool: b}, Policy{Tool: a}), r))
	mirror := map[Verdict]Verdict{Equivalent: Equivalent, Changed: Changed, Narrowed: Widened, Widened: Narrowed}
	if back != mirror[Sum(ds)] {
		rt.Fatalf("there %v, back %v", Sum(ds), back)
	}
}

// coverNames checks the regions of names against every name of the universe. A prefix
// stands for no name that loads code.
func (c *comparison) coverNames(rt *rapid.T, ops []ir.Operation) {
	regions := c.names().regions()
	for _, op := range ops {
		name := op.(ir.Forward).Name
		in := func(v variable) bool {
			return !v.prefix && v.text == name || v.prefix && strings.HasPrefix(name, v.text) && !ir.LoaderVariable(name)
		}
		said, hits := 0, 0
		for _, r := range regions {
			if in(r.item) && !slices.ContainsFunc(r.except, in) {
				said, hits = r.label, hits+1
			}
		}
		want := 0
		if _, new, differs := c.ask(op); differs {
			want = 2*btoi(new.Allowed()) - 1
		}
		if ir.LoaderVariable(name) {
			want *= loads
		}
		if c.own(variable{text: name, sample: name}) {
			continue // accessc sets it, whatever a region says about the names around it
		}
		if said != want || hits > 1 {
			rt.Fatalf("%s: %d regions say %d, it is %d", name, hits, said, want)
		}
	}
}

func drawEnv(t *rapid.T, n int) []ir.EnvRule {
	out := make([]ir.EnvRule, rapid.IntRange(0, n).Draw(t, "rules"))
	for i := range out {
		out[i] = ir.EnvRule{
			Name:   rapid.SampledFrom([]string{"", "A", "AB", "B", "LD_PRELOAD", "L", "HOME", "TMPDIR", "ABC"}).Draw(t, "name"),
			Prefix: rapid.Bool().Draw(t, "prefix"), Read: rapid.Bool().Draw(t, "read"),
		}
	}
	return slices.DeleteFunc(out, func(r ir.EnvRule) bool { return r.Name == "" && !r.Prefix })
}

// variables is a universe of names.
func variables() []ir.Operation {
	var ops []ir.Operation
	for _, name := range []string{
		"A", "AB", "ABC", "ABCD", "AX", "B", "BX", "C", "LD_PRELOAD", "LD_X", "L", "LX", "HOME", "HOMEX", "TMPDIR", "TMPDIRX", "TMP", "Z",
		"XDG_CACHE_HOME", ir.ContextVariable, "ABX", "LD_PRELOADX",
	} {
		ops = append(ops, ir.Forward{Name: name})
	}
	return ops
}

func TestEnvironmentAgainstBruteForce(t *testing.T) {
	ops := variables()
	irtest.Check(t, 10000, 1, func(rt *rapid.T) {
		a, b := closed(), closed()
		a.Env, b.Env = near(rt, drawEnv)
		a.Home = rapid.SampledFrom([]ir.HomeKind{ir.HomePrivate, ir.HomeReal}).Draw(rt, "home")
		b.Home = a.Home
		against(rt, a, b, ir.Env, ops)
		newComparison(a, b, ir.Linux).coverNames(rt, ops)
	})
}

func drawCommands(t *rapid.T, n int) []ir.CommandRule {
	var out []ir.CommandRule
	for _, program := range []string{"git", "make"} {
		if !rapid.Bool().Draw(t, program) {
			continue
		}
		r := ir.CommandRule{Program: program, AllEnvs: true, AnyArgs: rapid.IntRange(0, 3).Draw(t, "any") == 0}
		for range rapid.IntRange(0, n).Draw(t, "patterns") {
			r.Args = append(r.Args, ir.ArgPattern{
				Words: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 2).Draw(t, "words"), Rest: rapid.Bool().Draw(t, "rest"),
			})
		}
		out = append(out, r)
	}
	return out
}

// runs is a universe of programs and argument lists.
func runs() []ir.Operation {
	lists := [][]string{nil}
	for last, n := lists, 0; n < 3; n++ {
		var next [][]string
		for _, l := range last {
			for _, w := range []string{"a", "b", "z"} {
				next = append(next, append(slices.Clone(l), w))
			}
		}
		lists, last = append(lists, next...), next
	}
	var ops []ir.Operation
	for _, p := range []string{"git", "make", "rm"} {
		for _, l := range lists {
			ops = append(ops, ir.Run{Program: p, Args: l})
		}
	}
	return ops
}

func TestCommandsAgainstBruteForce(t *testing.T) {
	ops := runs()
	irtest.Check(t, 10000, 1, func(rt *rapid.T) {
		a, b := closed(), closed()
		x, y := near(rt, drawCommands)
		for _, side := range []struct {
			tool  *ir.Tool
			rules []ir.CommandRule
		}{{a, x}, {b, y}} {
			side.tool.Commands = &ir.CommandSet{Rules: distinct(side.rules)}
			if rapid.IntRange(0, 5).Draw(rt, "no table") == 0 {
				side.tool.Commands = nil
			}
		}
		against(rt, a, b, ir.Commands, ops)
		if a.Commands != nil || b.Commands != nil {
			newComparison(a, b, ir.Linux).coverLists(rt, ops)
		}
	})
}

// coverLists checks the regions of argument lists against every list of the universe.
func (c *comparison) coverLists(rt *rapid.T, ops []ir.Operation) {
	for _, r := range c.programs() {
		regions := c.argumentLists(&r).regions()
		for _, op := range ops {
			run := op.(ir.Run)
			if run.Program != r.Program {
				continue
			}
			in := func(w words) bool {
				return len(run.Args) >= len(w.args) && slices.Equal(run.Args[:len(w.args)], w.args) && (w.open || len(run.Args) == len(w.args))
			}
			said, hits := 0, 0
			for _, reg := range regions {
				if in(reg.item) && !slices.ContainsFunc(reg.except, in) {
					said, hits = reg.label, hits+1
				}
			}
			want := 0
			if _, new, differs := c.ask(op); differs {
				want = 2*btoi(new.Allowed()) - 1
			}
			if said != want || hits > 1 {
				rt.Fatalf("%s %v: %d regions say %d, it is %d", run.Program, run.Args, hits, said, want)
			}
		}
	}
}

func distinct(rs []ir.CommandRule) []ir.CommandRule {
	var out []ir.CommandRule
	for _, r := range rs {
		if !slices.ContainsFunc(out, func(o ir.CommandRule) bool { return o.Program == r.Program }) {
			out = append(out, r)
		}
	}
	return out
}

// TestBounds: removing a limit is a widening, and so is raising it.
func TestBounds(t *testing.T) {
	limits := func(v ...uint64) *ir.Tool {
		x := closed()
		for _, n := range v {
			x.Limits = append(x.Limits, ir.Limit{Kind: ir.LimitMemory, Value: n})
		}
		return x
	}
	constrained := func(c ir.Constraints) *ir.Tool {
		x := closed()
		x.Constraints = &c
		return x
	}
	accepting := closed()
	accepting.Accept = []ir.Acceptance{{Gap: "net.host"}}
	foreign := closed()
	foreign.Source.Kind = ir.SourceMCP
	for i, c := range []struct {
		old, new *ir.Tool
		want     Verdict
	}{
		{limits(), limits(), Equivalent},
		{limits(5), limits(5), Equivalent},
		{limits(5), limits(), Widened},
		{limits(5), limits(6), Widened},
		{limits(), limits(5), Narrowed},
		{constrained(ir.Constraints{MaxInvocations: 3}), closed(), Widened},
		{constrained(ir.Constraints{MaxInvocations: 3}), constrained(ir.Constraints{MaxInvocations: 2}), Narrowed},
		{constrained(ir.Constraints{OnlyAfter: []string{"a"}}), constrained(ir.Constraints{OnlyAfter: []string{"a", "b"}}), Narrowed},
		{constrained(ir.Constraints{OnlyAfter: []string{"a"}}), constrained(ir.Constraints{OnlyAfter: []string{"b"}}), Changed},
		{constrained(ir.Constraints{Forbidden: true}), closed(), Widened},
		{closed(), accepting, Widened},
		{closed(), foreign, Widened},
		{foreign, closed(), Narrowed},
		{foreign, foreign, Equivalent},
	} {
		if got := Sum(Policies(Policy{Tool: c.old}, Policy{Tool: c.new})); got != c.want {
			t.Errorf("%d: got %v, want %v", i, got, c.want)
		}
	}
}

// TestEnforcement: weaker enforcement permits more.
func TestEnforcement(t *testing.T) {
	row := func(is ir.Enforcement) ir.Ledger {
		return ir.Ledger{{
			Resource: ir.FS, Rules: []ir.RuleID{"fs[0]"}, Aspects: []ir.Aspect{ir.AspectMove}, Platform: ir.Darwin, Held: ir.Held{Is: is},
		}}
	}
	for _, c := range []struct {
		old, new ir.Enforcement
		want     Verdict
	}{
		{ir.Exact, ir.Weaker, Widened}, {ir.Unenforced, ir.Stricter, Narrowed}, {ir.Stricter, ir.Exact, Equivalent},
	} {
		ds := Policies(Policy{closed(), row(c.old)}, Policy{closed(), row(c.new)})
		if got := Sum(ds); got != c.want {
			t.Errorf("%v to %v: got %v, want %v", c.old, c.new, got, c.want)
		}
		if c.want != Equivalent && fmt.Sprint(ds[0].Platforms) != "[darwin]" {
			t.Errorf("on %v", ds[0].Platforms)
		}
	}
}
