package landlock_test

import (
	"net/netip"
	"slices"
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

// TestJudges: a policy selects the classes of calls that the ruleset cannot enforce, and no
// others.
func TestJudges(t *testing.T) {
	at := func(p string, caps ir.CapSet) ir.FSRule { return ir.FSRule{Written: p, At: ir.In(p), Caps: caps} }
	read := ir.Caps(ir.Read)
	local := ir.NetRule{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}, Port: 80, Allow: true}
	tests := map[string]struct {
		fs   []ir.FSRule
		net  []ir.NetRule
		want string
	}{
		"all":           {[]ir.FSRule{at("", ir.All)}, nil, "metadata"},
		"protected":     {[]ir.FSRule{at("", ir.All)}, nil, "updates names metadata"},
		"reading":       {[]ir.FSRule{at("", read)}, nil, "metadata"},
		"no writing":    {[]ir.FSRule{at("", ir.All), at("src", read.With(ir.Execute))}, nil, "updates names metadata"},
		"nothing":       {[]ir.FSRule{at("", ir.All), at(".env", 0)}, nil, "reads updates names starts metadata"},
		"no reading":    {[]ir.FSRule{at("", read), at(".env", 0)}, nil, "lists metadata"},
		"late":          {[]ir.FSRule{at("", read), at(".env", 0)}, nil, "reads updates names metadata"},
		"late alone":    {[]ir.FSRule{at("", read)}, nil, "updates names metadata"},
		"updates":       {[]ir.FSRule{at("", read.With(ir.Update)), at(".env", 0)}, nil, "lists metadata"},
		"replaces":      {[]ir.FSRule{at("", read.With(ir.Update).With(ir.Delete)), at(".env", 0)}, nil, "reads updates names metadata"},
		"more below":    {[]ir.FSRule{at("", ir.All.Without(ir.Execute)), at("bin", ir.All)}, nil, "updates names starts metadata"},
		"own path":      {[]ir.FSRule{at("", read), at("dist", read|ir.Write)}, nil, "updates names metadata"},
		"address":       {[]ir.FSRule{at("", read)}, []ir.NetRule{local}, "metadata listen"},
		"host":          {[]ir.FSRule{at("", read)}, []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "a.b"}, Allow: true}}, "metadata listen hosts"},
		"listen":        {[]ir.FSRule{at("", read)}, []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: ir.Localhost}, Listen: true, Allow: true}}, "metadata listen"},
		"localhost":     {[]ir.FSRule{at("", read)}, []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: ir.Localhost}, Port: 80, Allow: true}}, "metadata listen"},
		"create alone":  {[]ir.FSRule{at("", ir.Caps(ir.Read, ir.Create))}, nil, "updates names metadata"},
		"only the base": {nil, nil, "metadata"},
		"programs":      {[]ir.FSRule{at("", read)}, nil, "programs metadata"},
		"executed":      {[]ir.FSRule{at("", read.With(ir.Execute)), at(".env", 0)}, nil, "lists metadata"},
		"a directory":   {[]ir.FSRule{at("", read), at("bin", read.With(ir.Execute))}, nil, "metadata"},
		"and updates":   {[]ir.FSRule{at("", read.With(ir.Update)), at("bin", read.With(ir.Execute))}, nil, "starts metadata"},
		"outside":       {[]ir.FSRule{at("", read.With(ir.Update)), {Written: "x", At: ir.Location{Root: ir.Root{Kind: ir.External, Name: "x"}}, Caps: read.With(ir.Execute)}}, nil, "starts metadata"},
	}
	for name, tt := range tests {
		tool := ir.NewTool("t")
		tool.FS, tool.Net = tt.fs, tt.net
		tool.Protects, tool.LateOpen = name == "protected", strings.HasPrefix(name, "late")
		if name == "programs" {
			tool.Commands = &ir.CommandSet{}
		}
		spec, ledger, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		if got := classes(spec.Supervision); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		// On a host a directory is around the workspace, of which no rule grants anything.
		host := ir.Facts{Bindings: &ir.Bindings{Workspace: "/somewhere/ws", External: map[string]string{"x": "/elsewhere/x"}}}
		resolved, _, err := landlock.Build(tool, backends.Target{Form: backends.Resolved, Facts: host})
		if err != nil {
			t.Fatal(err)
		}
		if got := classes(resolved.Supervision); got != tt.want {
			t.Errorf("%s: got %q on a host, want %q", name, got, tt.want)
		}
		served := spec.Supervision != nil && slices.ContainsFunc(spec.Supervision.Traps, func(t landlock.Trap) bool {
			return slices.Contains(t.Syscalls, "openat2")
		})
		if names := served && spec.Supervision.Judges.Names; landlock.Serves(tool, ir.Facts{}) != names {
			t.Errorf("%s: Serves says %v", name, !names)
		}
		// The rows but the row of reading said exact of /dev/shm, where a tool by itself makes nothing.
		for _, a := range []ir.Aspect{ir.AspectRead, ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectMove} {
			// A supervisor on which nothing depends may be missing on another host.
			exact := served && len(spec.Supervision.Gaps) > 0
			if base, _ := ledger.Cell(ir.FS, "base", a, ir.Linux, landlock.MaxABI); (base.Is == ir.Exact) != exact {
				t.Errorf("%s: %s of the base is %s", name, a, base.Is)
			}
		}
	}
}

// classes describes in words the calls that a supervisor judges.
func classes(s *landlock.Supervision) string {
	if s == nil {
		return "-"
	}
	var out []string
	add := func(judged bool, word string) {
		if judged {
			out = append(out, word)
		}
	}
	traps := func(call string) bool {
		return slices.ContainsFunc(s.Traps, func(t landlock.Trap) bool { return slices.Contains(t.Syscalls, call) })
	}
	add(s.Judges.Reads, "reads")
	add(s.Judges.Lists, "lists")
	add(s.Judges.Updates, "updates")
	add(s.Judges.Names, "names")
	add(s.Judges.Starts, "starts")
	add(traps("execve") && !s.Judges.Starts, "programs")
	add(traps("chmod"), "metadata")
	add(traps("listen"), "listen")
	add(traps("socket"), "hosts")
	return strings.Join(out, " ")
}

// TestSupervisedRulesetBelowPolicy: of the classes that a supervisor judges the ruleset grants
// nothing where rules are written, except programs, so that a file which is moved brings no
// rights along; of the others it grants no more than the policy.
func TestSupervisedRulesetBelowPolicy(t *testing.T) {
	var asked atomic.Int64
	irtest.Check(t, 3000, 100, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		tool.LateOpen = rapid.Bool().Draw(rt, "late")
		spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		if spec.Supervision == nil {
			return
		}
		j := spec.Supervision.Judges
		spec.Paths = spec.Supervision.Paths
		world := irtest.DrawWorld(rt, 12, "${home}", "${tmp}", irtest.Elsewhere.String())
		model := lsm.NewModel(spec, landlock.MaxABI, func(p string) ir.NodeKind {
			if strings.HasPrefix(p, "/") {
				return ir.Dir
			}
			return world.Kind(p)
		})
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		may := func(c ir.Capability, at ir.Location) bool {
			return view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed()
		}
		for _, at := range world.Places() {
			if at.Root.Kind != ir.Workspace {
				continue
			}
			asked.Add(1)
			p, kind := at.String(), world.Kind(at.String())
			reads, updates, creates := model.Read(p, kind), model.Update(p), model.Create(p, ir.File)
			switch {
			case j.Reads && reads && !model.Execute(p), j.Updates && updates, j.Names && creates:
				rt.Fatalf("%s: a judged class is granted by the ruleset", p)
			case reads && !may(ir.Read, at), updates && !may(ir.Update, at), creates && !may(ir.Create, at):
				rt.Fatalf("%s: the ruleset grants more than the policy", p)
			case model.Execute(p) && !may(ir.Execute, at):
				rt.Fatalf("%s: the ruleset starts more than the policy", p)
			}
		}
	})
	t.Logf("%d places", asked.Load())
}

// TestAddressesThatSayMore: connect calls enforce an address only where no rule names schemes
// or paths at it, which such calls do not show.
func TestAddressesThatSayMore(t *testing.T) {
	host := ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}
	tool := ir.NewTool("t")
	tool.Net = []ir.NetRule{{Host: host, Port: 80, Allow: true}, {Host: host, Port: 80, Scheme: "http", Path: []string{"admin"}}}
	spec, ledger, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	if spec.Supervision != nil && len(spec.Supervision.Connect) > 0 {
		t.Errorf("opens %v", spec.Supervision.Connect)
	}
	if row, ok := ledger.Cell(ir.Net, "net[0]", ir.AspectConnect, ir.Linux, landlock.MaxABI); !ok || row.Gap != ir.GapNetHost {
		t.Errorf("the ledger says %v", row)
	}
}

// TestListedIsNotGranted: being listed as a program grants neither execute nor reading
// where the rules about files withhold them.
func TestListedIsNotGranted(t *testing.T) {
	tool := ir.NewTool("t")
	rule := func(p string, caps ...ir.Capability) ir.FSRule {
		return ir.FSRule{Written: p, At: ir.In(p), Caps: ir.Caps(caps...)}
	}
	tool.FS = []ir.FSRule{rule("", ir.Read), rule("run", ir.Read, ir.Execute), rule("blind", ir.Execute)}
	tool.Commands = &ir.CommandSet{}
	for _, p := range []string{"blind/b", "run/r", "x"} {
		at := ir.In(p)
		tool.Commands.Rules = append(tool.Commands.Rules, ir.CommandRule{Program: p, File: &at, AnyArgs: true, AllEnvs: true})
	}
	spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	if len(spec.Programs) != 1 || spec.Programs[0].Name != "run/r" {
		t.Errorf("grants %v", spec.Programs)
	}
}
