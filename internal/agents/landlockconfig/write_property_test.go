package landlockconfig

import (
	"fmt"
	"path"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// strict are the causes that say that a cell permits less.
var strict = []ir.CauseID{whyException, whyUnread, whyReplace, whyFill, whyItself, whyBase, whyCompared, whyRefer, whyNames, whyAddress, whyAsk}

func permitsLess(h ir.Held) bool { return slices.ContainsFunc(strict, h.Cites) }

// permitsMore reports whether a cell says that the configuration permits more.
func permitsMore(h ir.Held) bool { return h.Is == ir.Weaker }

// directories are the places of the roots in these tests.
var directories = map[string]string{"workspace": "/w s", "home": "/state/home", "tmp": "/run/tmp", "external__7e": "/home/u", "external__7e_2fa": "/home/u/a"}

func bindings(tool *ir.Tool) *ir.Bindings {
	b := &ir.Bindings{Workspace: "/w s", Home: "/state/home", Temp: "/run/tmp"}
	irtest.Bind(b, tool, "/home/u")
	return b
}

// question is a policy, its configuration, and the ledger between them.
type question struct {
	*rapid.T
	bind   *ir.Bindings
	view   *ir.View
	ledger ir.Ledger
	kernel *kernel
	text   []byte
}

// row is the cell of the rule that decided.
func (q *question) row(rule ir.Rule, r ir.Resource, a ir.Aspect) ir.Held {
	id := ir.DefaultRule
	for _, e := range q.view.Entries() {
		if rule == ir.Rule(e.Rule) {
			id = e.ID
		}
	}
	row, ok := q.ledger.Cell(r, id, a, ir.Linux, q.kernel.abi)
	if !ok {
		q.Fatalf("%s %s has no row at ABI %d\n%s", id, a, q.kernel.abi, q.text)
	}
	return row.Held
}

// draw compiles a random policy. Its portable form does not know which root lies in which.
func draw(rt *rapid.T, more ...ir.FSRule) *question {
	tool := irtest.ToolByName(rt, irtest.Names, 6)
	tool.FS = append(tool.FS, more...)
	b := bindings(tool)
	target := backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: b}}
	nested := slices.ContainsFunc(tool.FS, func(r ir.FSRule) bool { return r.At.Root.Name == "~/a" })
	if !nested && rapid.Bool().Draw(rt, "portable") {
		target = backends.Target{Form: backends.Portable}
	}
	text := compile(rt, tool, target)
	c, err := parse(text)
	if err != nil {
		rt.Fatal(err)
	}
	ledger, err := stated(c)
	if err != nil {
		rt.Fatal(err)
	}
	abi := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 11}).Draw(rt, "abi")
	return &question{rt, b, ir.NewView(tool, ir.Linux, ir.Facts{Bindings: b}), ledger, load(c, abi, directories), text}
}

func (q *question) place(names []string) (ir.Location, string) {
	for {
		if abs, bound := q.bind.Path(irtest.Place(q.T, names)); bound {
			return q.bind.Locate(abs), abs
		}
	}
}

// TestFilesAgainstPolicy puts the same questions to random policies and to their emitted
// configurations. The answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	const per = 50
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		q := draw(rt)
		c, _ := parse(q.text)
		m := model(c, directories)
		for range per {
			at, abs := q.place(irtest.Names)
			capability := rapid.SampledFrom(ir.Capabilities[:]).Draw(rt, "capability")
			v := q.view.Decide(ir.Access{Cap: capability, On: ir.Direct(at), Name: ir.NameLink})
			all, some := q.kernel.permits(capability, abs)
			if (capability == ir.Read || capability == ir.Update) && q.kernel.abi >= 5 && m.Permits(capability.String(), abs) != all {
				rt.Fatalf("%s %s: two evaluations of the configuration differ\n%s", capability, abs, q.text)
			}
			aspect := ir.AspectOf(capability)
			if v.Reason == ir.ReasonLeads {
				aspect = ir.AspectMove
			}
			is := q.row(v.Rule, ir.FS, aspect)
			seen[fmt.Sprintf("%v %v", v.Allowed(), some)]++
			switch {
			case v.Reason == ir.ReasonRoot:
			case v.Allowed() && !all && !permitsLess(is), !v.Allowed() && some && !permitsMore(is):
				rt.Fatalf("ABI %d: %s %s: policy %+v, configuration %v %v, ledger %+v\n%s", q.kernel.abi, capability, abs, v, all, some, is, q.text)
			}
		}
	})
	irtest.Happened(t, seen, "true true", "true false", "false false", "false true")
}

// TestMovesAgainstPolicy does the same for renames, and for links.
func TestMovesAgainstPolicy(t *testing.T) {
	const per = 50
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		// A name that leads to a rule is pinned, and Landlock has no pins. Drawn rules hardly ever grant the directory
		// that it is in.
		var more []ir.FSRule
		if rapid.Bool().Draw(rt, "leads") {
			more = []ir.FSRule{
				{Written: "leads", At: ir.In("leads"), Caps: ir.Write.With(ir.Read)},
				{Written: "leads/a/b", At: ir.In("leads/a/b"), Caps: ir.All},
			}
		}
		q := draw(rt, more...)
		c, _ := parse(q.text)
		m := model(c, directories)
		for i := range per {
			from, src := q.place(irtest.Plain)
			to, dst := q.place(irtest.Plain)
			if i == 0 && more != nil {
				from, to = ir.In("leads/c"), ir.In("leads/a")
				src, _ = q.bind.Path(from)
				dst, _ = q.bind.Path(to)
			}
			if from.Path == "" || to.Path == "" || src == dst || ir.Within(dst, src) || ir.Within(src, dst) {
				continue
			}
			dir := rapid.Bool().Draw(rt, "directory")
			kind := ir.File
			if dir {
				kind = ir.Dir
			}
			v, got := q.view.Decide(ir.Rename{Src: ir.Direct(from), Dst: ir.Direct(to), SrcKind: kind, DstKind: ir.Absent}), q.kernel.renames(src, dst, dir)
			// A rule on the destination is about the file there, which the move replaces; the model
			// has it for any name, and is asked about another name in that directory.
			if beside := path.Dir(dst) + "/..absent"; q.kernel.abi >= 5 && got && !m.Moves(src, beside, dir) {
				rt.Fatalf("%s to %s: two evaluations of the configuration differ\n%s", src, dst, q.text)
			}
			over := !dir && rapid.Bool().Draw(rt, "over a file")
			if over {
				v = q.view.Decide(ir.Rename{Src: ir.Direct(from), Dst: ir.Direct(to), SrcKind: kind, DstKind: ir.File})
				got = got && q.kernel.has(path.Dir(dst), "remove_file")
			}
			if !dir && !over && rapid.Bool().Draw(rt, "link") {
				v, got = q.view.Decide(ir.Link{Src: ir.Direct(from), Dst: ir.Direct(to)}), q.kernel.links(src, dst, false)
			}
			var rows []ir.Held
			for _, at := range []ir.Location{from, to} {
				rows = append(rows, q.row(q.view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)}).Rule, ir.FS, ir.AspectMove))
			}
			if v.Pin != nil {
				rows = append(rows, q.row(v.Pin, ir.FS, ir.AspectMove))
			}
			if v.Reason == ir.ReasonNoGain { // the rule may be about a protected path, which the destination would make
				rows = append(rows, q.row(v.Rule, ir.FS, ir.AspectMove))
			}
			seen[fmt.Sprintf("%v %v", v.Allowed(), got)]++
			if v.Allowed() && !got && !slices.ContainsFunc(rows, permitsLess) || !v.Allowed() && got && !slices.ContainsFunc(rows, permitsMore) {
				rt.Fatalf("ABI %d: %s to %s: policy %+v, configuration %v, ledger %+v\n%s", q.kernel.abi, src, dst, v, got, rows, q.text)
			}
		}
	})
	irtest.Happened(t, seen, "true true", "true false", "false false", "false true")
}

// TestNetworkAgainstPolicy does the same for connections and listeners.
func TestNetworkAgainstPolicy(t *testing.T) {
	const per = 40
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Net = irtest.NetRules(rt, 5)
		if rapid.Bool().Draw(rt, "accepted") {
			tool.Accept = []ir.Acceptance{{Gap: ir.GapNetHost}}
		}
		text := compile(rt, tool, backends.Target{Form: backends.Portable})
		c, err := parse(text)
		if err != nil {
			rt.Fatal(err)
		}
		ledger, err := stated(c)
		if err != nil {
			rt.Fatal(err)
		}
		m, view := model(c, nil), ir.NewView(tool, ir.Linux, ir.Facts{})
		for range per {
			op := irtest.NetOp(rt, tool.Net)
			var passes bool
			switch op := op.(type) {
			case ir.Connect:
				passes = m.Connects("", op.To.Port)
			case ir.Listen:
				passes = m.Listens(op.Port)
			}
			v := view.Decide(op)
			rule, aspect := irtest.NetCell(tool.Net, op, v)
			row, ok := ledger.Cell(ir.Net, rule, aspect, ir.Linux, ABI)
			seen[fmt.Sprintf("%s %v %v", aspect, v.Allowed(), passes)]++
			if !ok || passes && !v.Allowed() && !permitsMore(row.Held) || v.Allowed() && !passes && !permitsLess(row.Held) {
				rt.Fatalf("%+v: policy %v, configuration %v, row %+v\nrules %+v\n%s", op, v.Allowed(), passes, row, tool.Net, text)
			}
		}
	})
	irtest.Happened(t, seen, "connect true true", "connect true false", "connect false true", "connect false false", "listen true true", "listen true false", "listen false false")
}
