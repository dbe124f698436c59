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

// numbered gives every rule an origin of its own, as compiled rules have.
func numbered(t *ir.Tool) {
	line := 0
	origin := func() ir.Origin {
		line++
		return ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: line}}
	}
	for i := range t.FS {
		t.FS[i].Origin = origin()
	}
	for i := range t.Net {
		t.Net[i].Origin = origin()
	}
	for i := range t.Env {
		t.Env[i].Origin = origin()
	}
	if t.Commands != nil {
		for i := range t.Commands.Rules {
			t.Commands.Rules[i].Origin = origin()
		}
	}
}

// idleAgainst compares the result of Idles with every question of a universe: rules reported as
// never winning do not win, the others do; without the removable rules nothing changes, one by
// one and all at once; and removing any other rule is noticed in one of these ways.
func idleAgainst(rt *rapid.T, t *ir.Tool, r ir.Resource, ops []ir.Operation, platforms ...ir.Platform) {
	numbered(t)
	found, skipped := Idles(t)
	if skipped != nil {
		rt.Fatalf("did not look at %v", skipped)
	}
	list := items(t, r)
	gone, never := make([]bool, len(list)), map[ir.Rule]bool{}
	for _, f := range found {
		i := slices.IndexFunc(list, func(o Idle) bool { return o.Index == f.Index && o.Pattern == f.Pattern })
		if f.Resource != r || f.Partly {
			continue
		}
		gone[i] = true
		never[f.Rule] = f.Why != Redundant
	}
	answers := func(t *ir.Tool) (allowed []bool, winners map[ir.Rule]bool) {
		winners = map[ir.Rule]bool{}
		for _, p := range platforms {
			v := ir.NewView(t, p, ir.Facts{})
			for _, op := range ops {
				verdict := v.Decide(op)
				allowed = append(allowed, verdict.Allowed())
				winners[verdict.Rule] = true
				if to, ok := op.(ir.Connect); ok && to.To.Scheme == "https" {
					inspected, opaque, credential := used(v, to)
					allowed = append(allowed, inspected, opaque, credential == "A", credential == "B")
				}
			}
		}
		return allowed, winners
	}
	want, winners := answers(t)
	for i, item := range list {
		if never[item.Rule] && winners[item.Rule] {
			rt.Fatalf("%s wins, and is said not to: %+v", item.ID(), found)
		}
		n, ok := item.Rule.(*ir.NetRule)
		if !gone[i] && !winners[item.Rule] && (!ok || !distant(n)) && !unprotects(t, item.Rule) {
			rt.Fatalf("%s never wins, of which nothing is said: %+v", item.ID(), found)
		}
	}
	if got, _ := answers(subset(t, list, gone)); !slices.Equal(got, want) {
		was, is := ir.NewView(t, ir.Linux, ir.Facts{}), ir.NewView(subset(t, list, gone), ir.Linux, ir.Facts{})
		i := slices.IndexFunc(ops, func(op ir.Operation) bool { return was.Decide(op).Allowed() != is.Decide(op).Allowed() })
		rt.Fatalf("without what is idle the answer to %+v changes: %+v\n%+v", ops[max(i, 0)], found, t.FS)
	}
	for i, item := range list {
		if r == ir.Commands && item.Pattern < 0 && len(item.Rule.(*ir.CommandRule).Args) > 0 {
			continue // with a rule all of its patterns go
		}
		alone, more := make([]bool, len(list)), slices.Clone(gone)
		alone[i], more[i] = true, true
		one, _ := answers(subset(t, list, alone))
		also, _ := answers(subset(t, list, more))
		if free := slices.Equal(one, want) && slices.Equal(also, want); free != gone[i] {
			ds := Policies(Policy{Tool: t}, Policy{Tool: subset(t, list, alone)})
			rt.Fatalf("%s can go: %v, of which is said: %+v\nwithout it %+v\nrules %+v",
				item.ID(), free, found, ds, t.FS)
		}
	}
}

// inUniverse are patterns that tell apart no more names than the universe has.
func inUniverse(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		if slices.Contains([]string{"a*", "a?", "*b"}, p) {
			p = "[^a]"
		}
		out = append(out, p)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unprotects reports whether a rule on files can have an effect where it does not win.
func unprotects(t *ir.Tool, r ir.Rule) bool {
	_, ok := r.(*ir.FSRule)
	return ok && slices.ContainsFunc(t.FS, func(r ir.FSRule) bool { return r.ByName() })
}

// distant reports whether a rule can have an effect where it does not win.
func distant(r *ir.NetRule) bool {
	return r.Inspect || r.Opaque || r.Host.Kind == ir.HostAddr || r.Host.Name == ir.Localhost
}

func TestIdleFiles(t *testing.T) {
	var ops []ir.Operation
	for _, at := range universe() {
		for _, c := range ir.Capabilities {
			ops = append(ops, ir.Access{Cap: c, On: ir.Direct(at)})
		}
	}
	// Rules by name also matter for moves.
	ends := []ir.Place{}
	for _, p := range []string{"a", "b", "c", "fresh", "c/fresh"} {
		ends = append(ends, ir.Direct(ir.In(p)), ir.Direct(ir.Location{Root: irtest.Elsewhere, Path: p}))
	}
	for _, src := range ends {
		for _, dst := range ends {
			for _, w := range ways(src, dst) {
				ops = append(ops, w.asked)
			}
		}
	}
	irtest.Check(t, 1500, 1, func(rt *rapid.T) {
		x := irtest.ToolByName(rt, names, 6)
		// One place named by itself in another keeps it from being moved, which no operation here shows.
		x.FS = slices.DeleteFunc(x.FS, func(r ir.FSRule) bool { return r.At.Root.Direct() && r.At.Root != irtest.Elsewhere })
		if slices.ContainsFunc(x.FS, func(r ir.FSRule) bool { return r.ByName() }) {
			// Names below a rule's path have to be among the questions.
			far := func(r ir.FSRule) bool { return r.At.Depth() > 2 || r.ByName() && r.External }
			x.FS = slices.DeleteFunc(x.FS, far)
			for i := range x.FS {
				x.FS[i].Names = inUniverse(x.FS[i].Names)
			}
		}
		// Few sets of capabilities, so that many rules repeat another rule.
		for i := range x.FS {
			if rapid.Bool().Draw(rt, "plain") {
				x.FS[i].Caps = rapid.SampledFrom([]ir.CapSet{0, ir.All, ir.Caps(ir.Read)}).Draw(rt, "set")
			}
		}
		idleAgainst(rt, shared(x), ir.FS, ops, ir.Linux)
	})
}

func TestIdleNetwork(t *testing.T) {
	ops := targets()
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		x := closed()
		x.Net = drawNet(rt, 6)
		idleAgainst(rt, x, ir.Net, ops, ir.Linux)
	})
}

// TestIdleUses is that for rules that change how requests are treated, also where they do not win.
func TestIdleUses(t *testing.T) {
	ops := targets()
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		x := closed()
		x.Net = drawUses(rt, 4)
		idleAgainst(rt, x, ir.Net, ops, ir.Linux)
	})
}

func TestIdleEnvironment(t *testing.T) {
	irtest.Check(t, 3000, 1, func(rt *rapid.T) {
		x := closed()
		x.Env = drawEnv(rt, 6)
		x.Home = rapid.SampledFrom([]ir.HomeKind{ir.HomePrivate, ir.HomeReal}).Draw(rt, "home")
		idleAgainst(rt, x, ir.Env, variables(), ir.Platforms[:]...)
	})
}

func TestIdleCommands(t *testing.T) {
	ops := runs()
	irtest.Check(t, 3000, 1, func(rt *rapid.T) {
		x := closed()
		x.Commands.Rules = drawCommands(rt, 4)
		idleAgainst(rt, x, ir.Commands, ops, ir.Linux)
	})
}

// TestIdleWhy covers the reasons given for rules that decide nothing, one by one.
func TestIdleWhy(t *testing.T) {
	fs := func(path string, caps ir.CapSet) ir.FSRule {
		return ir.FSRule{Written: path, At: ir.In(path), Caps: caps}
	}
	net := func(host, scheme string, port uint16, allow bool) ir.NetRule {
		return ir.NetRule{Host: ir.Host{Kind: ir.HostName, Name: host}, Scheme: scheme, Port: port, Allow: allow}
	}
	read := ir.Caps(ir.Read)
	linked := fs("link/../link", read)
	linked.At = ir.In("src")
	program := ir.CommandRule{Program: "git", AllEnvs: true, Args: []ir.ArgPattern{{Words: []string{"log"}}, {Words: []string{"log"}, Rest: true}}}
	nothing := ir.CommandRule{Program: "rm", AllEnvs: true}
	for _, c := range []struct {
		tool *ir.Tool
		want string
	}{
		{&ir.Tool{FS: []ir.FSRule{fs("", read), fs("src", ir.All)}}, ""},
		{&ir.Tool{FS: []ir.FSRule{fs("src", read), fs("src", ir.All)}}, "fs[0] order fs[1]"},
		{&ir.Tool{FS: []ir.FSRule{fs("src", read), fs("src", read)}}, "fs[0] redundant fs[1]"},
		{&ir.Tool{FS: []ir.FSRule{fs("", read), fs("src/a", read)}}, "fs[1] redundant fs[0]"},
		{&ir.Tool{FS: []ir.FSRule{linked, fs("src", ir.All)}}, "fs[0] symlink fs[1]"},
		{&ir.Tool{FS: []ir.FSRule{fs("a", 0)}}, "fs[0] redundant default-deny"},
		{&ir.Tool{Net: []ir.NetRule{net("a", "", 443, true), net("a", "https", 443, true), net("a", "http", 443, true)}}, "net[2] redundant net[0]; net[1] redundant net[0]"},
		{&ir.Tool{Net: []ir.NetRule{net("a", "", 443, true), net("a", "https", 0, false)}}, "net[0] order partly net[1]"},
		{&ir.Tool{Net: []ir.NetRule{net("a", "https", 0, true), net("a", "https", 443, false)}}, "net[0] shadowed net[1]"},
		// Each of the last two keeps streams from port 8080 without deciding anything, so one of them must stay.
		{&ir.Tool{Net: []ir.NetRule{net("localhost", "", 8080, true), net("localhost", "git", 0, false), net("localhost", "ssh", 0, false)}}, "net[1] shadowed"},
		{&ir.Tool{Env: []ir.EnvRule{{Name: "A", Read: true}, {Prefix: true, Read: true}}}, "env[0] redundant env[1]"},
		{&ir.Tool{Env: []ir.EnvRule{{Name: "TMPDIR", Read: true}}}, "env[0] redundant own"},
		{&ir.Tool{Env: []ir.EnvRule{{Name: "LD_PRELOAD", Read: true}, {Prefix: true, Read: true}}}, ""},
		{&ir.Tool{Commands: &ir.CommandSet{Rules: []ir.CommandRule{program}}}, "commands.git.args[0] redundant"},
		{&ir.Tool{Commands: &ir.CommandSet{Rules: []ir.CommandRule{nothing}}}, "commands.rm redundant unlisted-program"},
	} {
		c.tool.Source.Kind = ir.SourceLocal
		numbered(c.tool)
		found, _ := Idles(c.tool)
		var got []string
		for _, f := range found {
			text := string(f.ID()) + " " + f.Why.String()
			if f.Partly {
				text += " partly"
			}
			for _, b := range f.By {
				text += " " + name(c.tool, b)
			}
			got = append(got, text)
		}
		slices.Sort(got)
		want := strings.Split(c.want, "; ")
		slices.Sort(want)
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func name(t *ir.Tool, s Side) string {
	if id := RuleID(t, s.Rule); id != "" {
		return string(id)
	}
	return s.Reason.String()
}

// TestIdleBounded: a policy with too many rules is left as it is, at once.
func TestIdleBounded(t *testing.T) {
	x := closed()
	for i := range 3000 {
		x.Net = append(x.Net, ir.NetRule{
			Host: ir.Host{Kind: ir.HostName, Name: fmt.Sprintf("h%d", i)}, Scheme: fmt.Sprintf("s%d", i), Port: uint16(i + 1), Path: []string{fmt.Sprint(i)},
		})
	}
	if found, skipped := Idles(x); found != nil || !slices.Equal(skipped, []ir.Resource{ir.Net}) {
		t.Errorf("found %d, skipped %v", len(found), skipped)
	}
}
