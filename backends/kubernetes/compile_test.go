package kubernetes

import (
	"bytes"
	"errors"
	"flag"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var update = flag.Bool("update", false, "write what the compiler yields now into the golden files")

func name(s string) ir.Host   { return ir.Host{Kind: ir.HostName, Name: s} }
func suffix(s string) ir.Host { return ir.Host{Kind: ir.HostSuffix, Name: s} }

var every = ir.Host{Kind: ir.HostAny}

// example is a policy with something of everything.
func example() *ir.Tool {
	tool := ir.NewTool("deploy")
	tool.Command = &ir.Command{Program: "make", Args: []string{"it's", "$(HOME) $$", "*: [a]\n- b"}}
	external := ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}}
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("build"), Caps: ir.All}, {At: ir.In("build/keys")},
		{At: ir.In("build/out"), Caps: ir.Caps(ir.Read, ir.Create)}, {Written: "fork", At: external, External: true, Caps: ir.Write.With(ir.Read)},
	}
	tool.Net = []ir.NetRule{
		{Host: irtest.Address("10.0.0.5"), Port: 5432, Allow: true}, {Host: irtest.Address("2001:db8::1"), Port: 443, Allow: true},
		{Host: irtest.Address("10.0.0.6"), Port: 80, Scheme: "http", Allow: true}, {Host: irtest.Address("127.0.0.1"), Port: 80, Allow: true},
		{Host: name("api.example.com"), Scheme: "https", Allow: true}, {Host: suffix("example.org"), Allow: true}, {Host: name("db.example.com"), Scheme: ir.Stream, Port: 5432, Allow: true},
		{Host: name("www.example.com"), Path: []string{"v1"}, Allow: true}, {Host: every, Port: 8080, Listen: true, Allow: true}, {Host: irtest.Address("10.0.0.8"), Port: 9090, Listen: true, Allow: true},
	}
	tool.Env = append(tool.Env, ir.EnvRule{Name: "CACHE", Read: true, Value: ir.OwnHome + "/cache $x"}, ir.EnvRule{Name: "TOKEN", Read: true})
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git", Args: []ir.ArgPattern{}}}}
	tool.Limits = []ir.Limit{{Kind: ir.LimitWallTime, Value: 120_500}, {Kind: ir.LimitMemory, Value: 1 << 30}, {Kind: ir.LimitProcesses, Value: 64}}
	tool.May = []ir.FSRule{{At: ir.In("secrets"), Caps: ir.All}}
	return tool
}

// writing has a workspace with protected paths, which it accepts to be open, and every public host.
func writing() *ir.Tool {
	tool := ir.NewTool("Edit_files")
	tool.Command = &ir.Command{Program: "echo a | cat", Shell: true}
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In(".env")}}
	tool.Home, tool.Accept = ir.HomeReal, []ir.Acceptance{{Gap: ir.GapFSProtected}}
	tool.Net = []ir.NetRule{{Host: every, Port: 443, Allow: true}, {Host: every, Listen: true, Allow: true}}
	return tool
}

// TestGolden compares the text of whole lists.
func TestGolden(t *testing.T) {
	guarded := writing()
	guarded.Accept, guarded.Net = nil, nil
	for file, c := range map[string]struct {
		Backend
		tool *ir.Tool
	}{
		"pod": {Backend{}, example()}, "sandbox": {Backend{Sandbox: true}, example()}, "accepted": {Backend{}, writing()}, "guarded": {Backend{}, guarded},
	} {
		_, got := compile(t, c.Backend, c.tool)
		file = "testdata/" + file + ".json"
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is compiled now: %v", file, err)
		}
	}
}

// TestNames: every tool has a name that Kubernetes takes for objects and as the value of a label, with room for
// suffixes, and no two tools have the same.
func TestNames(t *testing.T) {
	valid := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	seen := map[string]string{}
	check := func(tool string) string {
		got := objectName(tool)
		if other, ok := seen[got]; !valid.MatchString(got) || len(got) > 53 || ok && other != tool {
			return got
		}
		seen[got] = tool
		return ""
	}
	tools := []string{"a", "A", "a_", "_", "-", ".", "a.b", "a-b", strings.Repeat("a", 64), strings.Repeat("a", 40), strings.Repeat("-", 300), "ü", "a\nb", "1", "x-0123456789"}
	tools = append(tools, objectName("A"), objectName(objectName("A")))
	for _, tool := range tools {
		if got := check(tool); got != "" {
			t.Errorf("%q is %q", tool, got)
		}
	}
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		tool := rapid.OneOf(rapid.StringMatching(`[a-cA-C_.-]{1,4}`), rapid.StringMatching(`[-_.A-Za-z0-9]{1,80}`)).Draw(rt, "tool")
		if got := check(tool); got != "" {
			rt.Fatalf("%q is %q", tool, got)
		}
	})
}

// TestNothingExpands: Kubernetes puts variables of the container into "$(NAME)" of commands and values. Here the texts
// of a policy are literal, as in the rest of accessc.
func TestNothingExpands(t *testing.T) {
	o, _ := compile(t, Backend{}, example())
	c := o.pod.Containers[0]
	if want := []string{"make", "it's", "$$(HOME) $$$$", "*: [a]\n- b"}; !slices.Equal(c.Command, want) {
		t.Errorf("got %q", c.Command)
	}
	tool := example()
	tool.Command.Args = []string{"\x7f\u0085\ufeff\uffff\x1b\u2028\ufffd ü"}
	o, text := compile(t, Backend{}, tool)
	if got := o.pod.Containers[0].Command[1]; got != tool.Command.Args[0] || bytes.ContainsAny(text, "\x7f\u0085\ufeff\uffff\x1b\u2028") {
		t.Errorf("got %q", got)
	}
	if !slices.Contains(c.Env, variable{"CACHE", "/home/tool/cache $$x"}) {
		t.Errorf("got %q", c.Env)
	}
}

// TestPodIsClosed: whatever the policy, the pod has no privileges, no token and no directory of its node.
func TestPodIsClosed(t *testing.T) {
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Names, 6)
		tool.Command = &ir.Command{Program: "true"}
		for _, b := range []Backend{{}, {Sandbox: true}} {
			o, text := compile(rt, b, tool)
			c := o.pod.Containers[0].SecurityContext
			if o.pod.Token || o.pod.ShareProcesses || !o.pod.SecurityContext.NonRoot || o.pod.SecurityContext.Seccomp.Type != "RuntimeDefault" ||
				c.Escalation || c.Privileged || !c.ReadOnlyRoot || !slices.Equal(c.Capabilities["drop"], []string{"ALL"}) {
				rt.Fatalf("%s", text)
			}
			if b.Sandbox && (o.template.Network != "Unmanaged" || o.template.Variables != "Disallowed" || o.template.Claims != "Disallowed") {
				rt.Fatalf("%s", text)
			}
			known := map[string]bool{"workspace": b.Sandbox}
			for _, v := range o.pod.Volumes {
				if known[v.Name] || (v.Claim == nil) == (v.Empty == nil) {
					rt.Fatalf("volume %s\n%s", v.Name, text)
				}
				known[v.Name] = true
			}
			paths := map[string]bool{}
			for _, m := range o.pod.Containers[0].Mounts {
				if !known[m.Name] || paths[m.Path] || m.ReadOnly != (m.Recursive == "Enabled") || strings.Contains(m.Path, ":") {
					rt.Fatalf("mount %+v\n%s", m, text)
				}
				paths[m.Path] = true
			}
		}
	})
}

// TestNoCiliumWithoutNames: a cluster without Cilium takes the list of a policy that names no host.
func TestNoCiliumWithoutNames(t *testing.T) {
	tool := example()
	tool.Net = tool.Net[:4]
	if o, _ := compile(t, Backend{}, tool); len(o.cilium) != 0 || len(o.policies) != 1 || len(o.policies[0].Spec.Egress) != 2 {
		t.Errorf("%+v", o)
	}
}

// TestPatterns: "*.example.org" is one label or more below example.org and not that name itself. Cilium's "*." is one
// label, so the pattern is "**.".
func TestPatterns(t *testing.T) {
	o, _ := compile(t, Backend{}, example())
	for host, want := range map[string]bool{
		"a.example.org": true, "a.b.c.example.org": true, "example.org": false, "aexample.org": false, "a.example.org.evil.test": false,
		"api.example.com": true, "x.api.example.com": false, "www.example.com": false, "localhost": false,
	} {
		if got, _ := o.reachesName(host, 443, "https"); got != want {
			t.Errorf("https://%s: %t", host, got)
		}
	}
	if got, _ := o.reachesName("a.example.org", 80, "http"); !got {
		t.Error("http is closed")
	}
	if got, _ := o.reachesName("api.example.com", 443, ir.Stream); got {
		t.Error("bytes without a server name pass")
	}
}

// TestDenialsInside: a rule with a denial of the same hosts, or of some of them, opens nothing. Cilium has no order of
// rules.
func TestDenialsInside(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: "true"}
	for host, denied := range map[ir.Host]ir.Host{
		name("a.example"): name("a.example"), suffix("a.example"): name("x.a.example"), suffix("example"): suffix("a.example"), every: name("a.example"),
	} {
		tool.Net = []ir.NetRule{{Host: host, Port: 443, Allow: true}, {Host: denied, Scheme: "https"}}
		if o, text := compile(t, Backend{}, tool); len(o.cilium) != 0 || o.policies[0].Spec.Egress != nil {
			t.Errorf("%v without %v\n%s", host, denied, text)
		}
	}
	tool.Net = []ir.NetRule{{Host: name("a.example"), Scheme: "https", Allow: true}, {Host: suffix("example")}, {Host: every}}
	if o, text := compile(t, Backend{}, tool); len(o.cilium) != 1 {
		t.Errorf("a rule loses to less exact ones\n%s", text)
	}
}

// TestOneProxyOfAPort: at a port that a rule has for HTTP, Cilium looks at nothing else, and no rule asks for TLS
// there.
func TestOneProxyOfAPort(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: "true"}
	tool.Net = []ir.NetRule{{Host: name("a.example"), Port: 8080, Scheme: "http", Allow: true}, {Host: name("b.example"), Port: 8080, Scheme: "https", Allow: true}, {Host: name("c.example"), Allow: true}}
	o, text := compile(t, Backend{}, tool)
	for to, want := range map[[2]string]bool{{"a.example", "http"}: true, {"a.example", "https"}: false, {"b.example", "https"}: false, {"b.example", "http"}: false} {
		if got, _ := o.reachesName(to[0], 8080, to[1]); got != want {
			t.Errorf("%v: %t\n%s", to, got, text)
		}
	}
	row, _ := o.ledger.Cell(ir.Net, ir.NetRuleID(1), ir.AspectConnect, 0, 0)
	if row.Is != ir.Stricter {
		t.Errorf("%+v", row)
	}
}

// TestBlocks: exceptions lie in their blocks, which the API server asks for, and no special address is open by a rule
// about every host or by the answer to a name, but an address that a rule opens.
func TestBlocks(t *testing.T) {
	tool := example()
	tool.Net = append(tool.Net, ir.NetRule{Host: every, Port: 8443, Allow: true})
	o, text := compile(t, Backend{}, tool)
	within := func(b ipBlock) {
		cidr := netip.MustParsePrefix(b.CIDR)
		for _, e := range b.Except {
			if p := netip.MustParsePrefix(e); p.Bits() < cidr.Bits() || !cidr.Contains(p.Addr()) || p.Masked() != p {
				t.Errorf("%s is no part of %s", e, b.CIDR)
			}
		}
	}
	blocks := 0
	for _, e := range o.policies[0].Spec.Egress {
		for _, p := range e.To {
			if p.Block != nil {
				within(*p.Block)
				blocks++
			}
		}
	}
	closed := func(a netip.Addr) bool {
		return slices.ContainsFunc(o.cilium[0].Spec.Deny[0].Blocks, func(b ipBlock) bool { return b.contains(a) })
	}
	for _, b := range o.cilium[0].Spec.Deny[0].Blocks {
		within(b)
	}
	for _, a := range []string{"10.1.2.3", "127.0.0.1", "169.254.169.254", "172.31.0.1", "192.168.0.1", "::1", "fd00:ec2::254", "fe80::1", "::ffff:10.0.0.5", "::ffff:8.8.8.8", "0.0.0.0", "::", "10.0.0.6"} {
		if addr := netip.MustParseAddr(a); o.sends(addr, 8443) || !closed(addr) {
			t.Errorf("%s is open", a)
		}
	}
	if open := netip.MustParseAddr("10.0.0.5"); closed(open) || !o.sends(open, 5432) || o.sends(open, 5433) || blocks < 4 {
		t.Errorf("10.0.0.5 is closed\n%s", text)
	}
}

// TestOddAddresses: an IPv4 address inside IPv6, and one of a link, are no addresses that a policy of the network can
// name.
func TestOddAddresses(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: "true"}
	for _, a := range []string{"::ffff:10.0.0.5", "fe80::1%eth0", "127.0.0.1", "::1"} {
		tool.Net = []ir.NetRule{{Host: irtest.Address(a), Port: 443, Allow: true}}
		if o, text := compile(t, Backend{}, tool); len(o.policies[0].Spec.Egress) != 0 {
			t.Errorf("%s\n%s", a, text)
		}
	}
}

// TestRefuses: a value that no object can express is an error about the rule, and not another object.
func TestRefuses(t *testing.T) {
	for why, change := range map[string]func(*ir.Tool){
		"no command":         func(t *ir.Tool) { t.Command = nil },
		"an argument":        func(t *ir.Tool) { t.Command.Args = []string{"a\xff"} },
		"a NUL":              func(t *ir.Tool) { t.Command.Program = "a\x00" },
		"a value":            func(t *ir.Tool) { t.Env = []ir.EnvRule{{Name: "A", Read: true, Value: "\xff"}} },
		"a colon":            func(t *ir.Tool) { t.FS = append(t.FS, ir.FSRule{At: ir.In("build/a:b")}) },
		"a name without end": func(t *ir.Tool) { t.FS = append(t.FS, ir.FSRule{At: ir.In("build/\xff")}) },
	} {
		tool := example()
		change(tool)
		out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil || out.Data != nil || len(out.Refusals) != 1 || strings.Contains(why, "a colon") && out.Refusals[0].Rule != ir.Rule(&tool.FS[len(tool.FS)-1]) {
			t.Errorf("%s: %+v, %v", why, out.Refusals, err)
		}
	}
	large := example()
	large.Name = strings.Repeat("a", maxObject)
	if out, err := (Backend{}).Compile(large, backends.Target{}); err != nil || len(out.Refusals) != 1 || !out.Refusals[0].TooMany {
		t.Errorf("%d refusals, %v", len(out.Refusals), err)
	}
	_, text := compile(t, Backend{}, example())
	for why, bad := range map[string]string{
		"empty": "", "two": string(text) + "{}", "an unknown kind": strings.Replace(string(text), `"Pod"`, `"Podd"`, 1), "an unknown field": strings.Replace(string(text), `"policyTypes"`, `"types"`, 1),
	} {
		if o, err := parse([]byte(bad)); !errors.Is(err, errObjects) {
			t.Errorf("%s: got %+v, %v", why, o, err)
		}
	}
}

// TestLedgerIsWhole checks that every cell of a policy is stated once, with a cause that has a sentence, and with a gap
// where it is to be accepted.
func TestLedgerIsWhole(t *testing.T) {
	irtest.Check(t, 300, 1, func(rt *rapid.T) {
		tool, from := irtest.ToolByName(rt, irtest.Names, 6), example()
		tool.Command, tool.Net, tool.Commands, tool.Limits, tool.May, tool.Env = from.Command, irtest.NetRules(rt, 5), from.Commands, from.Limits, from.May, from.Env
		o, _ := compile(rt, Backend{}, tool)
		for _, cell := range ir.NewView(tool, ir.Linux, ir.Facts{}).Cells() {
			n := 0
			for _, row := range o.ledger {
				if row.Resource != cell.Resource || !slices.Contains(row.Rules, cell.ID) || !slices.Contains(row.Aspects, cell.Aspect) {
					continue
				}
				n++
				if row.Is == ir.Unstated || (row.Is == ir.Exact) != (len(row.Causes) == 0) || row.Gap.Known() == row.Is.Held() {
					rt.Fatalf("%s %s: %+v", cell.ID, cell.Aspect, row)
				}
				for _, cause := range row.Causes {
					if Sentences().Of(cause) == cause.String() {
						rt.Fatalf("%s has no sentence", cause)
					}
				}
			}
			if n != 1 {
				rt.Fatalf("%s %s has %d rows", cell.ID, cell.Aspect, n)
			}
		}
	})
}
