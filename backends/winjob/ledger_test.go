package winjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// anyTool draws a policy of every resource, with names that no file here can have.
func anyTool(t *rapid.T) *ir.Tool {
	tool := genTool(t, append([]string{"a:b", "CON", "x?"}, irtest.Plain...))
	tool.Net = irtest.NetRules(t, 3)
	for range rapid.IntRange(0, 3).Draw(t, "env") {
		tool.Env = append(tool.Env, ir.EnvRule{
			Name:   rapid.SampledFrom([]string{"PATH", "systemroot", "LOCAL", "TEMP", ""}).Draw(t, "variable"),
			Prefix: rapid.Bool().Draw(t, "prefix"), Read: rapid.Bool().Draw(t, "read"),
		})
	}
	for _, k := range ir.LimitKinds {
		if rapid.Bool().Draw(t, "limited") {
			tool.Limits = append(tool.Limits, ir.Limit{Kind: k, Value: rapid.Uint64Range(1, 1<<63).Draw(t, "limit")})
		}
	}
	if tool.Commands != nil {
		for i := range tool.Commands.Rules {
			r := &tool.Commands.Rules[i]
			r.AnyArgs, r.AllEnvs = rapid.Bool().Draw(t, "args"), rapid.Bool().Draw(t, "envs")
		}
	}
	return tool
}

// rulesOf lists the identifiers that a ledger speaks of, by resource.
func rulesOf(v *ir.View) map[ir.Resource][]ir.RuleID {
	out := map[ir.Resource][]ir.RuleID{}
	add := func(r ir.Resource, id ir.RuleID) { out[r] = append(out[r], id) }
	for _, e := range v.Stated() {
		add(ir.FS, e.ID)
	}
	if v.HasBase() {
		add(ir.FS, ir.BaseRule)
	}
	for i := range v.Tool.Net {
		add(ir.Net, ir.NetRuleID(i))
	}
	for i := range v.Tool.Env {
		add(ir.Env, ir.EnvRuleID(i))
	}
	if v.Tool.Commands != nil {
		for _, r := range v.Tool.Commands.Rules {
			add(ir.Commands, r.ID())
		}
	}
	for _, l := range v.Tool.Limits {
		add(ir.Limits, l.ID())
	}
	for _, r := range []ir.Resource{ir.FS, ir.Net, ir.Env, ir.Commands, ir.Process} {
		add(r, ir.DefaultRule)
	}
	return out
}

// stated counts how often the ledger states each requirement.
func stated(l ir.Ledger) map[string]int {
	n := map[string]int{}
	for _, row := range l {
		for _, rule := range row.Rules {
			for _, a := range row.Aspects {
				for tier := row.Levels.From; tier <= row.Levels.To; tier++ {
					n[fmt.Sprint(row.Platform, row.Resource, rule, a, tier)]++
				}
			}
		}
	}
	return n
}

// TestEveryCellIsStatedOnce: for every rule, aspect and tier there is one row, and no row is
// about anything else; a row that is not exact has a reason, and a row that is not enforced a name under which it can
// be accepted.
func TestEveryCellIsStatedOnce(t *testing.T) {
	irtest.Check(t, 3000, 1, func(rt *rapid.T) {
		tool := anyTool(rt)
		target := genTarget(rt, tool, irtest.Plain)
		_, ledger, _ := Build(tool, target)
		have := stated(ledger)
		for r, rules := range rulesOf(ir.NewView(tool, ir.Windows, target.Facts)) {
			for _, rule := range rules {
				for _, a := range aspects(tool, r, rule) {
					for tier := 0; tier <= ir.BestTier; tier++ {
						key := fmt.Sprint(ir.Windows, r, rule, a, tier)
						if have[key] != 1 {
							rt.Fatalf("%s is stated %d times", key, have[key])
						}
						delete(have, key)
					}
				}
			}
		}
		if len(have) > 0 {
			rt.Fatalf("there are no such cells: %v", have)
		}
		for _, row := range ledger {
			checkRow(rt, row)
		}
	})
}

// aspects are the aspects of a resource that a rule has; rules of the network have one of them.
func aspects(tool *ir.Tool, r ir.Resource, rule ir.RuleID) []ir.Aspect {
	for i := range tool.Net {
		switch {
		case r != ir.Net || rule != ir.NetRuleID(i):
		case tool.Net[i].Listen:
			return []ir.Aspect{ir.AspectListen}
		default:
			return []ir.Aspect{ir.AspectConnect}
		}
	}
	return ir.Aspects(r)
}

func checkRow(t *rapid.T, row ir.Row) {
	switch {
	case row.Is == ir.Unstated, row.Is != ir.Exact && row.Causes == nil:
		t.Fatalf("no reason: %+v", row)
	case row.Is == ir.Exact && row.Gap != "", row.Is == ir.Stricter && row.Gap != "":
		t.Fatalf("nothing to accept: %+v", row)
	case !row.Is.Held() || row.Is == ir.Supervised:
		if !row.Gap.Known() {
			t.Fatalf("no name to accept: %+v", row)
		}
	}
}

// TestLedger is what the tiers hold of a few policies, cell by cell.
func TestLedger(t *testing.T) {
	tool := toolWith(t, ".: read create update delete execute", ".env: ", "src: read", "drop: create", "a:b: read", "c?: ", "inbox: delete")
	tool.Net = []ir.NetRule{
		{Host: ir.Host{Kind: ir.HostAny}, Port: 443, Allow: true}, {Host: ir.Host{Kind: ir.HostAny}},
		{Host: ir.Host{Kind: ir.HostAny}, Port: 8080, Listen: true, Allow: true}, {Host: ir.Host{Kind: ir.HostAny}, Listen: true},
	}
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git", AllEnvs: true}}}
	tool.Limits = []ir.Limit{
		{Kind: ir.LimitMemory, Value: 1}, {Kind: ir.LimitCPUTime, Value: 1}, {Kind: ir.LimitWallTime, Value: 1},
		{Kind: ir.LimitOpenFiles, Value: 1},
	}
	_, ledger, _ := Build(tool, backends.Target{Form: backends.Portable})
	for _, c := range []struct {
		resource  ir.Resource
		rule      ir.RuleID
		aspect    ir.Aspect
		job, best string
		why       ir.CauseID
	}{
		{ir.FS, "fs[0]", ir.AspectRead, "none fs.paths", "stricter", whyCarried},
		{ir.FS, "fs[0]", ir.AspectCreate, "none fs.paths", "stricter", whySymlink},
		{ir.FS, "fs[0]", ir.AspectDelete, "none fs.paths", "stricter", whyCarried},
		{ir.FS, "fs[0]", ir.AspectExecute, "none fs.paths", "stricter", whyListed},
		{ir.FS, "fs[0]", ir.AspectMetadata, "none fs.paths", "stricter", whyMetadata},
		{ir.FS, "fs[0]", ir.AspectMove, "none fs.paths", "weaker fs.move", whyGain},
		{ir.FS, "fs[6]", ir.AspectMove, "none fs.paths", "weaker fs.move", whyGain},
		{ir.FS, "fs[1]", ir.AspectRead, "none fs.paths", "stricter", whyHidden},
		{ir.FS, "fs[1]", ir.AspectUpdate, "none fs.paths", "exact", ""},
		{ir.FS, "fs[1]", ir.AspectMove, "none fs.paths", "weaker fs.move", whyOthers},
		{ir.FS, "fs[2]", ir.AspectExecute, "none fs.paths", "stricter", whyLibrary},
		{ir.FS, "fs[2]", ir.AspectDelete, "none fs.paths", "exact", ""},
		{ir.FS, "fs[3]", ir.AspectRead, "none fs.paths", "weaker fs.create", whyOwn},
		{ir.FS, "fs[3]", ir.AspectExecute, "none fs.paths", "weaker fs.create", whyOwn},
		{ir.FS, "fs[4]", ir.AspectRead, "none fs.paths", "stricter", whyNoName},
		{ir.FS, "fs[5]", ir.AspectRead, "none fs.paths", "exact", whyNoName},
		{ir.FS, "base", ir.AspectRead, "none fs.paths", "stricter", whyOwnBase},
		{ir.FS, "base", ir.AspectUpdate, "none fs.paths", "exact", ""},
		{ir.FS, "default", ir.AspectRead, "none fs.paths", "weaker fs.default", whyAmbient},
		{ir.FS, "default", ir.AspectUpdate, "none fs.paths", "weaker fs.default", whyProfile},
		{ir.FS, "default", ir.AspectMove, "none fs.paths", "weaker fs.default", whyOthers},
		{ir.Net, "net[0]", ir.AspectConnect, "none net.default", "stricter", whyNoHosts},
		{ir.Net, "net[1]", ir.AspectConnect, "none net.default", "exact", ""},
		{ir.Net, "net[2]", ir.AspectListen, "none net.default", "stricter", whyNoListen},
		{ir.Net, "net[3]", ir.AspectListen, "none net.default", "exact", ""},
		{ir.Net, "default", ir.AspectConnect, "none net.default", "exact", whyItself},
		{ir.Net, "default", ir.AspectListen, "none net.default", "exact", whyItself},
		{ir.Env, "env[0]", ir.AspectForward, "exact", "assumption", whyBlock},
		{ir.Env, "default", ir.AspectForward, "exact", "assumption", whyBlock},
		{ir.Commands, "commands.git", ir.AspectProgram, "exact", "stricter", whyListed},
		{ir.Commands, "commands.git", ir.AspectArgs, "none commands.args", "none commands.args", whyNoArgs},
		{ir.Commands, "commands.git", ir.AspectEnvs, "exact", "exact", ""},
		{ir.Commands, "default", ir.AspectProgram, "none commands.program", "weaker commands.program", whyPrograms},
		{ir.Limits, "memory", "limit", "weaker limits.memory", "exact", ""},
		{ir.Limits, "cpu_time", "limit", "weaker limits.cpu_time", "weaker limits.cpu_time", whyUserTime},
		{ir.Limits, "wall_time", "limit", "weaker limits.wall_time", "supervised limits.wall_time", whyTimer},
		{ir.Limits, "open_files", "limit", "none limits.open_files", "none limits.open_files", whyNoSuchLimit},
		{ir.Process, "default", ir.AspectSignal, "none process.signal", "assumption", whyConsole},
	} {
		for tier, want := range []string{c.job, c.best} {
			row, ok := ledger.Cell(c.resource, c.rule, c.aspect, ir.Windows, tier)
			got := strings.TrimSpace(row.Is.String() + " " + string(row.Gap))
			if !ok || got != want || tier == 1 && c.why != "" && !row.Cites(c.why) {
				t.Errorf("%s %s %s at tier %d: got %q (%v), want %q (%s)", c.resource, c.rule, c.aspect, tier, got, row.Causes, want, c.why)
			}
		}
	}
}

// TestNothingMayBeStarted: with an empty commands table the job and the container
// both keep the tool from starting anything.
func TestNothingMayBeStarted(t *testing.T) {
	tool := toolWith(t, ".: read create")
	tool.Commands = &ir.CommandSet{}
	_, ledger, _ := Build(tool, backends.Target{Form: backends.Portable})
	for tier, want := range []ir.Enforcement{ir.Weaker, ir.Assumed} {
		if row, _ := ledger.Cell(ir.Commands, "default", ir.AspectProgram, ir.Windows, tier); row.Is != want {
			t.Errorf("tier %d: got %v, want %v", tier, row.Is, want)
		}
	}
	if row, _ := ledger.Cell(ir.FS, "fs[0]", ir.AspectExecute, ir.Windows, 1); row.Is != ir.Stricter {
		t.Errorf("what the tool makes cannot be started either: %+v", row)
	}
}

// TestStartedPrograms: of programs that no rule names the ledger says which do not run, and which an
// empty table cannot keep from running.
func TestStartedPrograms(t *testing.T) {
	tool := toolWith(t, ".: read execute")
	for _, c := range []struct {
		commands *ir.CommandSet
		want     ir.Enforcement
		why      ir.CauseID
	}{
		{nil, ir.Stricter, whyMSYS},
		{&ir.CommandSet{}, ir.Assumed, whyConhost},
		{&ir.CommandSet{Rules: []ir.CommandRule{{Program: "git"}}}, ir.Weaker, whyPrograms},
	} {
		tool.Commands = c.commands
		_, ledger, _ := Build(tool, backends.Target{Form: backends.Portable})
		if row, _ := ledger.Cell(ir.Commands, "default", ir.AspectProgram, ir.Windows, 1); row.Is != c.want || !row.Cites(c.why) {
			t.Errorf("%+v: got %v for %v", c.commands, row.Is, row.Causes)
		}
	}
}

// TestBaseIsReadAndExecute: the list of the base has the capabilities that the ledger assumes.
// Were there another capability in it, some access list of the system would have to change.
func TestBaseIsReadAndExecute(t *testing.T) {
	for _, b := range []ir.BaseName{ir.BaseSystem, ir.BaseMinimal} {
		for _, r := range ir.BaseRules(b, ir.Windows) {
			if r.Caps != ambientCaps {
				t.Errorf("%s: %s", r.At, r.Caps)
			}
		}
	}
	for a, want := range map[ir.Aspect]ir.Enforcement{ir.AspectRead: ir.Weaker, ir.AspectUpdate: ir.Stricter, ir.AspectMove: ir.Exact} {
		if got := ofBase(a, []ir.CapSet{ir.Caps(ir.Update)}).Is; got != want {
			t.Errorf("%s of a base that grants update alone: got %v, want %v", a, got, want)
		}
	}
}

// TestLedgerOfCorners: a rule that a later rule replaces governs nothing and has nothing to
// enforce; a rule that grants only execute gives no word at all where programs are listed, so
// that even sizes are hidden.
func TestLedgerOfCorners(t *testing.T) {
	tool := toolWith(t, "a: create", "a: read", "b: execute")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git"}}}
	_, ledger, _ := Build(tool, backends.Target{Form: backends.Portable})
	for _, a := range ir.Aspects(ir.FS) {
		if row, _ := ledger.Cell(ir.FS, "fs[0]", a, ir.Windows, 1); row.Is != ir.Exact || row.Causes != nil || row.Evidence == nil {
			t.Errorf("%s: %+v", a, row)
		}
	}
	for listed, want := range map[bool]ir.Enforcement{true: ir.Stricter, false: ir.Exact} {
		if !listed {
			tool.Commands = nil
		}
		_, ledger, _ := Build(tool, backends.Target{Form: backends.Portable})
		if row, _ := ledger.Cell(ir.FS, "fs[2]", ir.AspectRead, ir.Windows, 1); row.Is != want {
			t.Errorf("listed %v: got %v, want %v", listed, row.Is, want)
		}
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git"}}}
	}
}

// TestWhatHasToBeAccepted covers the names to accept, by the amount that a policy withholds.
func TestWhatHasToBeAccepted(t *testing.T) {
	const all = ": read create update delete execute"
	for _, c := range []struct {
		tool *ir.Tool
		want string
	}{
		{ir.NewTool("fmt"), "fs.default fs.protected"},
		{toolWith(t, "."+all, ".env: "), "fs.default fs.move"},
		{toolWith(t, "."+all, "drop: create"), "fs.create fs.default fs.move"},
	} {
		var got []string
		_, ledger, _ := Build(c.tool, backends.Target{Form: backends.Portable})
		for _, row := range ledger.On(ir.Windows, ir.BestTier) {
			if !row.Is.Held() {
				got = append(got, string(row.Gap))
			}
		}
		slices.Sort(got)
		if got := strings.Join(slices.Compact(got), " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestOthersTakeAnAbsentPath: a rule's path that is missing at the start gets no list that pins
// it, so a file that other processes move there keeps the right to be moved away.
func TestOthersTakeAnAbsentPath(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{Written: "a/b", At: ir.In("a/b"), Caps: ir.All}}
	out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	row, _ := out.Ledger.Cell(ir.FS, "fs[0]", ir.AspectMove, ir.Windows, ir.BestTier)
	if row.Is != ir.Weaker || !row.Cites(whyOthers) {
		t.Errorf("got %+v", row)
	}
}

// TestRuleInsideAnotherRoot: a rule on a place in the private home decides nothing, so it has
// nothing to be held, and a bound root without a rule is shut. Cause: the ledger asked for
// the acceptance of moves between regions that are not there, and a target that no rule is
// about inherited the grants of the workspace around it.
func TestRuleInsideAnotherRoot(t *testing.T) {
	tool := toolWith(t, ".: read create update delete execute", "h/x: create")
	spec, ledger, _ := Build(tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{
		Workspace: "C:/ws", Home: "C:/ws/h", External: map[string]string{"fork": "C:/ws/fork"},
	}}})
	for _, a := range ir.Aspects(ir.FS) {
		if row, _ := ledger.Cell(ir.FS, "fs[1]", a, ir.Windows, ir.BestTier); row.Is != ir.Exact {
			t.Errorf("%s is %s", a, row.Is)
		}
	}
	shut := func(e Entry) bool { return e.Path == `C:\ws\fork` && e.DACL == DACLProtected && len(e.Grants) == 0 }
	if !slices.ContainsFunc(spec.Files.Entries, shut) {
		t.Errorf("got %+v", spec.Files.Entries)
	}
}
