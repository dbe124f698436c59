package oci_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/lsm"
)

// trial is one policy with its emitted document, read back.
type trial struct {
	view   *ir.View
	doc    *oci.Document
	ledger ir.Ledger
	model  *lsm.Model
	abi    int
	ids    map[ir.Rule]ir.RuleID
	start  irtest.World
	now    irtest.World
	places []ir.Location
}

func newTrial(t *rapid.T, tool *ir.Tool) *trial {
	doc := compiled(t, tool)
	ledger, err := backends.Ledger(doc.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	start := irtest.DrawWorld(t, 12, "${home}", "${tmp}", irtest.Elsewhere.String())
	kind := func(p string) ir.NodeKind {
		if strings.HasPrefix(p, "/") {
			return ir.Dir // the base, which nothing here is about
		}
		return start.Kind(p)
	}
	abi := rapid.IntRange(1, landlock.MaxABI).Draw(t, "abi")
	x := &trial{
		view: ir.NewView(tool, ir.Linux, ir.Facts{}), doc: doc, ledger: ledger, abi: abi, start: start, now: start.Later(t),
		model: lsm.NewModel(doc.Entry, abi, kind), ids: map[ir.Rule]ir.RuleID{},
	}
	x.places = x.now.Places()
	for _, e := range x.view.Entries() {
		x.ids[e.Rule] = e.ID
	}
	return x
}

type fataler interface {
	Fatal(args ...any)
	Helper()
}

// compiled compiles a tool that has a command, and reads the document back.
func compiled(t fataler, tool *ir.Tool) *oci.Document {
	t.Helper()
	tool.Command = &ir.Command{Program: "make"}
	out, err := oci.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || out.Data == nil {
		t.Fatal(err, out.Refusals)
	}
	doc, err := oci.Parse(out.Data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// shown is the mount that shows a place of the container: the last mount around it.
func shown(c oci.Config, p string) (specs.Mount, bool) {
	// The temporary directory of the run is made in the container's.
	p = strings.Replace(p, "${tmp}", "/tmp/run", 1)
	for _, m := range slices.Backward(c.Mounts) {
		if p == m.Destination || strings.HasPrefix(p, m.Destination+"/") {
			return m, true
		}
	}
	return specs.Mount{}, false
}

// passes reports whether a mount lets a capability pass.
func passes(m specs.Mount, c ir.Capability) bool {
	switch c {
	case ir.Read:
		return true
	case ir.Execute:
		return !slices.Contains(m.Options, "noexec")
	case ir.Create, ir.Update, ir.Delete:
		return !slices.Contains(m.Options, "ro")
	default:
		return false
	}
}

// governing is the rule that decides at a place, and its path.
func (x *trial) governing(at ir.Location) (ir.RuleID, string) {
	r := x.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule
	if r == nil {
		return ir.DefaultRule, "${workspace}"
	}
	return x.ids[r], r.(*ir.FSRule).At.String()
}

// allows evaluates the document: the mounts, and the specification that the entry point applies.
func (x *trial) allows(t *rapid.T, at ir.Location, c ir.Capability) bool {
	p := at.String()
	m, ok := shown(x.doc.Config, p)
	kind := x.now.Kind(p)
	var inside bool
	switch c {
	case ir.Create:
		inside = x.model.Create(p, irtest.Kind(t, ir.File, ir.Dir))
	case ir.Read:
		inside = x.model.Read(p, kind)
	case ir.Delete:
		inside = x.model.Delete(p, kind)
	case ir.Update:
		inside = x.model.Update(p)
	case ir.Execute:
		inside = x.model.Execute(p)
	}
	return inside && ok && passes(m, c)
}

var compared atomic.Int64

func (x *trial) access(t *rapid.T) {
	at := rapid.SampledFrom(x.places).Draw(t, "place")
	c, kind := ir.Create, x.now.Kind(at.String())
	if kind != ir.Absent {
		c = rapid.SampledFrom([]ir.Capability{ir.Read, ir.Delete, ir.Update, ir.Execute}).Draw(t, "cap")
	}
	if kind == ir.Dir && (c == ir.Update || c == ir.Execute) {
		return
	}
	id, path := x.governing(at)
	row, ok := x.ledger.Cell(ir.FS, id, ir.AspectOf(c), ir.Linux, x.abi)
	if !ok {
		t.Fatalf("the ledger says nothing of %s of %s at ABI %d", c, id, x.abi)
	}
	held := row.Is
	if held == ir.Exact && x.start.Kind(path) == ir.Absent {
		held = ir.Stricter // a rule on a path that did not exist at the start grants nothing
	}
	compared.Add(1)
	got, want := x.allows(t, at, c), x.view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed()
	if held == ir.Exact && got != want || (held == ir.Stricter || held == ir.Supervised) && got && !want || !row.Is.Held() {
		t.Fatalf("%s of %s at ABI %d is %s: the container says %v, the policy %v", c, at, x.abi, row.Is, got, want)
	}
	// A supervisor can give an access that the ruleset withholds, but no mount must be in its way.
	if m, ok := shown(x.doc.Config, at.String()); want && !(ok && passes(m, c)) {
		t.Fatalf("%s of %s is granted, and the mount at %q withholds it", c, at, m.Destination)
	}
}

// TestDocumentAgainstPolicy holds the emitted text against Decide: mounts and specification together
// decide as the policy does where the ledger says exact, and never allow more than the policy where
// it says stricter or supervised.
func TestDocumentAgainstPolicy(t *testing.T) {
	compared.Store(0)
	const per = 400
	irtest.Check(t, 1000, per, func(rt *rapid.T) {
		x := newTrial(rt, irtest.ToolByName(rt, irtest.Plain, 5))
		for range per {
			x.access(rt)
		}
	})
	fmt.Printf("property %s: %d comparisons\n", t.Name(), compared.Load())
}

// TestNamesAreMounted: a root in which only a rule by name grants something is mounted for it, or the supervisor
// inside would permit what the mount refuses.
func TestNamesAreMounted(t *testing.T) {
	tool := ir.NewTool("t")
	fork := ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}}
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("src"), Names: []string{"out"}, Caps: ir.All},
		{At: fork, External: true, Names: []string{"*.log"}, Caps: ir.Caps(ir.Read)},
	}
	doc := compiled(t, tool)
	for place, want := range map[string][]ir.Capability{
		"${workspace}/src/a/out/f": {ir.Read, ir.Update}, "${external:fork}/a.log": {ir.Read},
	} {
		m, ok := shown(doc.Config, place)
		if !ok || slices.ContainsFunc(want, func(c ir.Capability) bool { return !passes(m, c) }) {
			t.Errorf("%s is shown by %+v, %v", place, m, ok)
		}
	}
}

// TestEveryCell states each cell of random policies once for every version of the ABI, with a
// sentence wherever it is not exact.
func TestEveryCell(t *testing.T) {
	irtest.Check(t, 600, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		tool.Net = irtest.NetRules(rt, 4)
		tool.Env = append(tool.Env, ir.EnvRule{Name: "GO", Prefix: true, Read: rapid.Bool().Draw(rt, "go")})
		tool.May = []ir.FSRule{{At: ir.In("secrets"), Caps: ir.All}}
		tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}, {Kind: ir.LimitCPUTime, Value: 1000}}
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "make"}}}
		ledger, err := backends.Ledger(compiled(rt, tool).Ledger)
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range ir.NewView(tool, ir.Linux, ir.Facts{}).Cells() {
			for abi := 0; abi <= landlock.MaxABI; abi++ {
				checkRows(rt, ledger.On(ir.Linux, abi), c, abi)
			}
		}
	})
}

// checkRows checks the rows of a level that are about one cell.
func checkRows(t *rapid.T, l ir.Ledger, c ir.Cell, abi int) {
	var rows []ir.Row
	for _, row := range l {
		if row.Resource == c.Resource && slices.Contains(row.Rules, c.ID) && slices.Contains(row.Aspects, c.Aspect) {
			rows = append(rows, row)
		}
	}
	switch {
	case len(rows) != 1:
		t.Fatalf("%s %s at ABI %d has %d rows", c.ID, c.Aspect, abi, len(rows))
	case rows[0].Is == ir.Unstated, rows[0].Is != ir.Exact && len(rows[0].Causes) == 0, abi > 0 && !rows[0].Is.Held() && !rows[0].Gap.Known():
		t.Fatalf("%s %s at ABI %d: %+v", c.ID, c.Aspect, abi, rows[0])
	}
	for _, cause := range rows[0].Causes {
		said := func(s backends.Sentences) bool { return s.Of(cause) != cause.String() }
		if !slices.ContainsFunc(registry.Sentences(), said) {
			t.Fatalf("%s has no sentence", cause)
		}
	}
}
