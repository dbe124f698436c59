package seatbelt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// cells lists every requirement that a ledger must state for a tool.
func cells(tool *ir.Tool, view *ir.View) []string {
	var out []string
	add := func(r ir.Resource, rules ...ir.RuleID) {
		for _, rule := range rules {
			for _, a := range ir.Aspects(r) {
				out = append(out, fmt.Sprintf("%s %s %s", r, rule, a))
			}
		}
	}
	for _, e := range view.Stated() {
		add(ir.FS, e.ID)
	}
	if view.HasBase() {
		add(ir.FS, ir.BaseRule)
	}
	add(ir.FS, "default")
	for i := range tool.Net {
		aspect := ir.AspectConnect
		if tool.Net[i].Listen {
			aspect = ir.AspectListen
		}
		out = append(out, fmt.Sprintf("%s %s %s", ir.Net, ir.NetRuleID(i), aspect))
	}
	for i := range tool.Env {
		add(ir.Env, ir.EnvRuleID(i))
	}
	if tool.Commands != nil {
		for i := range tool.Commands.Rules {
			add(ir.Commands, tool.Commands.Rules[i].ID())
		}
	}
	for _, l := range tool.Limits {
		add(ir.Limits, l.ID())
	}
	add(ir.Net, "default")
	add(ir.Env, "default")
	add(ir.Commands, "default")
	add(ir.Process, "default")
	slices.Sort(out)
	return out
}

// checkLedger checks that a ledger states every requirement once, with a reason and a name to
// accept it by wherever these belong.
func checkLedger(l ir.Ledger, want []string) error {
	var got []string
	for _, row := range l {
		if row.Platform != ir.Darwin || row.Levels != (ir.Levels{}) {
			return fmt.Errorf("a row of another platform: %+v", row)
		}
		if row.Is == ir.Unstated || (row.Causes == nil) != (row.Is == ir.Exact) {
			return fmt.Errorf("a reason is missing, or there for nothing: %+v", row)
		}
		needsName := row.Is == ir.Weaker || row.Is == ir.Advisory || row.Is == ir.Unenforced
		if needsName != row.Gap.Known() {
			return fmt.Errorf("the name to accept it by: %+v", row)
		}
		for _, c := range row.Causes {
			if _, ok := Sentences()[c.ID]; !ok {
				return fmt.Errorf("there is no sentence for %s", c)
			}
		}
		for _, rule := range row.Rules {
			for _, a := range row.Aspects {
				got = append(got, fmt.Sprintf("%s %s %s", row.Resource, rule, a))
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Errorf("cells\n%v\nwant\n%v", got, want)
	}
	return nil
}

// TestLedgerIsWhole checks for random policies that every requirement is stated exactly once.
func TestLedgerIsWhole(t *testing.T) {
	irtest.Check(t, 1000, 2, func(rt *rapid.T) {
		s := drawScenario(rt, 0)
		s.tool.Net = drawNet(rt)
		s.tool.Commands = drawCommands(rt)
		for _, k := range ir.LimitKinds {
			if rapid.Bool().Draw(rt, k.String()) {
				s.tool.Limits = append(s.tool.Limits, ir.Limit{Kind: k, Value: 1})
			}
		}
		for _, form := range []backends.Form{backends.Portable, backends.Resolved} {
			target := s.target(form)
			out, err := Backend{}.Compile(s.tool, target)
			if err != nil {
				rt.Fatal(err)
			}
			if err := checkLedger(out.Ledger, cells(s.tool, ir.NewView(s.tool, ir.Darwin, target.Facts))); err != nil {
				rt.Fatalf("%v: %v\n%s", form, err, s.String())
			}
		}
	})
}

// cites reports whether a row has a cause, in the form that documents have; none is always
// there.
func cites(row ir.Row, why ir.CauseID) bool {
	return why == "" || slices.ContainsFunc(row.Causes, func(c ir.Cause) bool { return c.String() == string(why) })
}

// TestLedger looks up the cells that the design turns on, each in the smallest policy
// that shows it.
func TestLedger(t *testing.T) {
	read, write := ir.Caps(ir.Read), ir.Write.With(ir.Read)
	tool := func(rules ...ir.FSRule) *ir.Tool {
		return &ir.Tool{Name: "t", Base: ir.BaseNone, Home: ir.HomeReal, FS: rules}
	}
	at := func(path string, caps ir.CapSet) ir.FSRule { return ruleAt(1, path, caps) }
	for _, c := range []struct {
		tool   *ir.Tool
		rule   ir.RuleID
		aspect ir.Aspect
		is     ir.Enforcement
		why    ir.CauseID
	}{
		{tool(at("", ir.All)), "fs[0]", ir.AspectRead, ir.Exact, ""},
		{tool(at("", ir.All)), "fs[0]", ir.AspectMove, ir.Exact, ""},
		{tool(at("", read)), "fs[0]", ir.AspectRead, ir.Stricter, start.WhyMap},
		{tool(at("", 0)), "fs[0]", ir.AspectRead, ir.Stricter, start.WhyHidden},
		{tool(at("", ir.Caps(ir.Create))), "fs[0]", ir.AspectCreate, ir.Stricter, start.WhyFill},
		{tool(at("", creates)), "fs[0]", ir.AspectCreate, ir.Exact, ""},
		{tool(at("", creates)), "fs[0]", ir.AspectDelete, ir.Weaker, start.WhyEmptyDir},
		{tool(at("", ir.Caps(ir.Update))), "fs[0]", ir.AspectUpdate, ir.Stricter, start.WhyAtomic},
		{tool(at("", ir.Caps(ir.Update))), "fs[0]", ir.AspectMetadata, ir.Stricter, start.WhyTimes},
		{tool(at("", linkable)), "fs[0]", ir.AspectMetadata, ir.Stricter, start.WhySetID},
		{tool(at("", ir.All), at("a/b", 0)), "fs[0]", ir.AspectDelete, ir.Stricter, start.WhyPin},
		{tool(at("", ir.All), at("a/b", 0)), "fs[1]", ir.AspectDelete, ir.Exact, ""},
		{tool(at("", read), at("a", ir.All)), "fs[1]", ir.AspectCreate, ir.Stricter, start.WhyPin},
		{tool(at("", ir.All), at("a", ir.All)), "fs[0]", ir.AspectDelete, ir.Exact, ""},
		{tool(at("", 0), at("", ir.All)), "fs[0]", ir.AspectRead, ir.Exact, ""},
		{tool(at("", write)), "fs[0]", ir.AspectMove, ir.Weaker, "seatbelt.escalation(execute: tmp)"},
		{tool(at("", linkable)), "fs[0]", ir.AspectMove, ir.Exact, ""},
		{tool(at("", linkable.With(ir.Create))), "fs[0]", ir.AspectMove, ir.Stricter, start.WhyLinks},
		{tool(at("", ir.All), at("inbox", ir.Caps(ir.Delete))), "fs[1]", ir.AspectMove, ir.Weaker, "seatbelt.escalation(read: fs[0])"},
		{tool(at("", ir.All)), "fs[0]", ir.AspectExecute, ir.Stricter, start.WhySugid},
		{tool(at("", ir.Caps(ir.Execute))), "fs[0]", ir.AspectExecute, ir.Stricter, start.WhyImage},
		{tool(at("", ir.All)), "fs[0]", ir.AspectSocket, ir.Stricter, start.WhySocket},
		{tool(at("", read)), "fs[0]", ir.AspectSocket, ir.Exact, ""},
		{tool(), "default", ir.AspectRead, ir.Stricter, start.WhyHidden},
		{ir.NewTool("t"), "default", ir.AspectRead, ir.Stricter, start.WhyRoot},
		{ir.NewTool("t"), "base", ir.AspectMetadata, ir.Stricter, start.WhyDevice},
		{ir.NewTool("t"), "base", ir.AspectExecute, ir.Stricter, start.WhySugid},
		{ir.NewTool("t"), "tmp", ir.AspectMove, ir.Exact, ""},
	} {
		l := compile(t, c.tool, backends.Target{Form: backends.Portable}).Ledger
		row, ok := l.Cell(ir.FS, c.rule, c.aspect, ir.Darwin, 0)
		if !ok || row.Is != c.is || (c.why == "") != (row.Causes == nil) || !cites(row, c.why) {
			t.Errorf("%v %s %s: got %+v, want %s %q", c.tool.FS, c.rule, c.aspect, row, c.is, c.why)
		}
	}
}

// TestLedgerElsewhere looks up requirements of the other resources.
func TestLedgerElsewhere(t *testing.T) {
	tool := example()
	tool.Env = append(tool.Env[:1:1], ir.EnvRule{Name: "DYLD_INSERT_LIBRARIES", Read: true}, ir.EnvRule{Name: "DYLD_", Prefix: true})
	for _, k := range ir.LimitKinds {
		tool.Limits = append(tool.Limits, ir.Limit{Kind: k, Value: 1})
	}
	portable := compile(t, tool, backends.Target{Form: backends.Portable}).Ledger
	host := compile(t, tool, resolved(exampleHost())).Ledger
	for _, c := range []struct {
		ledger ir.Ledger
		r      ir.Resource
		rule   ir.RuleID
		aspect ir.Aspect
		is     ir.Enforcement
		gap    ir.Gap
	}{
		{host, ir.Net, "net[0]", ir.AspectConnect, ir.Weaker, "net.address"},
		{host, ir.Net, "net[1]", ir.AspectConnect, ir.Stricter, ""},
		{host, ir.Net, "default", ir.AspectConnect, ir.Weaker, "net.address"},
		{host, ir.Commands, "commands.git", ir.AspectProgram, ir.Weaker, "commands.program"},
		{host, ir.Commands, "commands.git", ir.AspectArgs, ir.Exact, ""},
		{host, ir.Commands, "commands.sh", ir.AspectArgs, ir.Weaker, "commands.args"},
		{host, ir.Commands, "commands.gone", ir.AspectProgram, ir.Stricter, ""},
		{host, ir.Commands, "default", ir.AspectProgram, ir.Weaker, "commands.program"},
		{portable, ir.Commands, "commands.git", ir.AspectProgram, ir.Weaker, "commands.program"},
		{portable, ir.Commands, "commands.sh", ir.AspectArgs, ir.Weaker, "commands.args"},
		{portable, ir.Commands, "default", ir.AspectProgram, ir.Weaker, "commands.program"},
		{portable, ir.FS, "fs[1]", ir.AspectExecute, ir.Stricter, ""},
		{host, ir.Process, "default", ir.AspectSignal, ir.Assumed, ""},
		{host, ir.Env, "env[0]", ir.AspectForward, ir.Exact, ""},
		{host, ir.Env, "env[1]", ir.AspectForward, ir.Stricter, ""},
		{host, ir.Env, "env[2]", ir.AspectForward, ir.Assumed, ""},
		{host, ir.Env, "default", ir.AspectForward, ir.Assumed, ""},
		{host, ir.Limits, "memory", "limit", ir.Unenforced, "limits.memory"},
		{host, ir.Limits, "processes", "limit", ir.Weaker, "limits.processes"},
		{host, ir.Limits, "cpu_time", "limit", ir.Weaker, "limits.cpu_time"},
		{host, ir.Limits, "wall_time", "limit", ir.Unenforced, "limits.wall_time"},
		{host, ir.Limits, "open_files", "limit", ir.Exact, ""},
		{host, ir.Limits, "file_size", "limit", ir.Exact, ""},
	} {
		if row, ok := c.ledger.Cell(c.r, c.rule, c.aspect, ir.Darwin, 0); !ok || row.Is != c.is || row.Gap != c.gap {
			t.Errorf("%s %s %s: got %+v", c.r, c.rule, c.aspect, row)
		}
	}
}

// TestProtectedPlacesDiffer: one row speaks for all protected places. Cause: it was derived from
// the capabilities of all of them together, so that a place that is wholly hidden counted as a place that can be read
// and started.
func TestProtectedPlacesDiffer(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In("a"), Caps: ir.Write}}
	tool.Protects = true
	tool.Protected = []ir.ProtectedPath{{Path: "a/x", Why: "test"}}
	out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	row, ok := out.Ledger.Cell(ir.FS, "protected", ir.AspectRead, ir.Darwin, 0)
	if !ok || row.Is != ir.Stricter || !slices.Contains(row.Causes, ir.Cause{ID: start.WhyHidden}) {
		t.Errorf("reading protected places is %v, %v", row.Is, row.Causes)
	}
}

// TestLacking: the row of the base names the programs that fail beside its files, and the row of signals the semaphores
// that only the base "system" opens. Cause: only the page said it.
func TestLacking(t *testing.T) {
	for base, semaphores := range map[ir.BaseName]bool{ir.BaseSystem: true, ir.BaseMinimal: false, ir.BaseNone: false} {
		tool := ir.NewTool("t")
		tool.Base = base
		out := compile(t, tool, backends.Target{Form: backends.Portable})
		for aspect, why := range map[ir.Aspect]ir.CauseID{ir.AspectRead: start.WhyAncestors, ir.AspectExecute: start.WhyServices} {
			row, ok := out.Ledger.Cell(ir.FS, ir.BaseRule, aspect, ir.Darwin, 0)
			if ok != (base != ir.BaseNone) || ok && (row.Is != ir.Stricter || !row.Cites(why)) {
				t.Errorf("%s, %s: got %+v", base, aspect, row)
			}
		}
		if row, _ := out.Ledger.Cell(ir.Process, ir.DefaultRule, ir.AspectSignal, ir.Darwin, 0); row.Is != ir.Assumed || row.Cites(start.WhySemaphore) != semaphores ||
			strings.Contains(string(out.Data), "ipc-posix-sem") != semaphores {
			t.Errorf("%s: got %+v", base, row)
		}
	}
}
