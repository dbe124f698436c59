package landlock_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestTraps: a policy has those calls trapped that it needs judged, and no others.
func TestTraps(t *testing.T) {
	at := func(p string, caps ir.CapSet) ir.FSRule { return ir.FSRule{Written: p, At: ir.In(p), Caps: caps} }
	read := ir.Caps(ir.Read)
	local := ir.NetRule{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("127.0.0.1")}, Port: 80, Allow: true}
	tests := map[string]struct {
		fs   []ir.FSRule
		net  []ir.NetRule
		want string
	}{
		"all":           {[]ir.FSRule{at("", ir.All)}, nil, "metadata metadata sockets rulesets"},
		"reading":       {[]ir.FSRule{at("", read)}, nil, "-"},
		"no writing":    {[]ir.FSRule{at("", ir.All), at("src", read.With(ir.Execute))}, nil, "write write open2 names truncate moves metadata metadata sockets rulesets"},
		"nothing":       {[]ir.FSRule{at("", ir.All), at(".env", 0)}, nil, "open open open2 names truncate moves metadata metadata starts sockets rulesets"},
		"no reading":    {[]ir.FSRule{at("", read), at(".env", 0)}, nil, "open open open2 sockets rulesets"},
		"more below":    {[]ir.FSRule{at("", ir.All.Without(ir.Execute)), at("bin", ir.All)}, nil, "moves metadata metadata starts sockets rulesets"},
		"address":       {[]ir.FSRule{at("", read)}, []ir.NetRule{local}, "sockets+listen rulesets"},
		"host":          {[]ir.FSRule{at("", read)}, []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "a.b"}, Allow: true}}, "-"},
		"create alone":  {[]ir.FSRule{at("", ir.Caps(ir.Read, ir.Create))}, nil, "write write open2 names truncate moves sockets rulesets"},
		"only the base": {nil, nil, "-"},
		"programs":      {[]ir.FSRule{at("", read)}, nil, "programs sockets rulesets"},
	}
	for name, tt := range tests {
		tool := ir.NewTool("t")
		tool.FS, tool.Net = tt.fs, tt.net
		if name == "programs" {
			tool.Commands = &ir.CommandSet{}
		}
		spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		if got := classes(spec.Supervision); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// classes writes the traps in a word each.
func classes(s *landlock.Supervision) string {
	if s == nil {
		return "-"
	}
	var out []string
	for _, t := range s.Traps {
		word := t.Group
		switch {
		case slices.Contains(t.Syscalls, "openat2"):
			word = "open2"
		case t.Group == "open" && len(t.When) == 2:
			word = "write"
		case slices.Contains(t.Syscalls, "listen"):
			word = "sockets+listen"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// TestAddressesThatSayMore: an address is held by its connect calls only where no rule
// speaks of schemes or paths at it, which such calls do not show.
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
	if row, ok := ledger.Cell(ir.Net, "net[0]", ir.AspectConnect, ir.Linux, landlock.MaxABI); !ok || row.Is != ir.Cooperative {
		t.Errorf("the ledger says %v", row.Is)
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
