package seatbelt

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/sbpl"
)

var (
	ports = []uint16{80, 443, 5432}
	hosts = []ir.Host{
		{Kind: ir.HostAny}, {Kind: ir.HostAny}, {Kind: ir.HostSuffix, Name: "example.com"}, host("api.example.com"), host("localhost"),
		addr("127.0.0.1"), addr("::1"), addr("127.0.0.2"), addr("10.0.0.5"), addr("8.8.8.8"),
	}
)

func addr(s string) ir.Host { return ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(s)} }

func drawNet(t *rapid.T) []ir.NetRule {
	rules := make([]ir.NetRule, rapid.IntRange(0, 5).Draw(t, "net"))
	plain := rapid.Bool().Draw(t, "plain") // hosts and ports alone, which a profile can say exactly
	for i := range rules {
		r := &rules[i]
		r.Host = rapid.SampledFrom(hosts).Draw(t, "host")
		r.Allow = rapid.IntRange(0, 2).Draw(t, "allow") > 0
		if rapid.IntRange(0, 4).Draw(t, "port given") > 0 {
			r.Port = rapid.SampledFrom(ports).Draw(t, "port")
		}
		if !plain && rapid.IntRange(0, 3).Draw(t, "scheme given") == 0 {
			r.Scheme = rapid.SampledFrom([]string{"http", "https", "postgres"}).Draw(t, "scheme")
		}
		if !plain && rapid.IntRange(0, 4).Draw(t, "path given") == 0 {
			r.Path = []string{"v1"}
		}
	}
	return rules
}

// dial is a connection: the question to the policy, and the address that the system sees. A
// name has the address that it resolves to.
type dial struct {
	to ir.Endpoint
	at sbpl.Address
}

func drawDial(t *rapid.T) dial {
	targets := []struct {
		host ir.Host
		addr string
		own  bool
	}{
		{host("localhost"), "127.0.0.1", true}, {host("localhost"), "::1", true}, {addr("127.0.0.1"), "127.0.0.1", true},
		{addr("::1"), "::1", true}, {addr("127.0.0.2"), "127.0.0.2", false}, {addr("10.0.0.5"), "10.0.0.5", false},
		{addr("192.168.1.7"), "192.168.1.7", true}, {addr("8.8.8.8"), "8.8.8.8", false}, {host("api.example.com"), "1.2.3.4", false},
		{host("x.example.com"), "1.2.3.4", false}, {host("evil.test"), "6.6.6.6", false}, {addr("0.0.0.0"), "0.0.0.0", true},
	}
	c := rapid.SampledFrom(targets).Draw(t, "target")
	port := rapid.SampledFrom(append([]uint16{21, 22}, ports...)).Draw(t, "to port")
	d := dial{to: ir.Endpoint{Host: c.host, Port: port}, at: sbpl.Address{Protocol: "tcp", Addr: netip.MustParseAddr(c.addr), Port: port, Own: c.own}}
	d.to.Scheme = rapid.SampledFrom([]string{"", "http", "https", "postgres"}).Draw(t, "to scheme")
	if rapid.Bool().Draw(t, "to path") {
		d.to.Path = []string{"v1", "x"}
	}
	return d
}

// TestNetworkAgainstPolicy holds the ports that open against the policy. What passes
// and is denied must be at a cell that is weaker, what is refused and granted at
// one that is stricter.
func TestNetworkAgainstPolicy(t *testing.T) {
	const per = 50
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		tool := &ir.Tool{Name: "t", Base: ir.BaseNone, Home: ir.HomeReal, Net: drawNet(rt)}
		out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			rt.Fatal(err)
		}
		p, err := sbpl.Parse(string(out.Data), map[string]string{ParamWorkspace: "/w", ParamTemp: "/t"})
		if err != nil {
			rt.Fatal(err)
		}
		view := ir.NewView(tool, ir.Darwin, ir.Facts{})
		for range per {
			d := drawDial(rt)
			v := view.Decide(ir.Connect{To: d.to})
			allows, err := p.Allows(opConnect, sbpl.Request{Remote: &d.at})
			if err != nil {
				rt.Fatal(err)
			}
			id := ir.DefaultRule
			for i := range tool.Net {
				if v.Rule == ir.Rule(&tool.Net[i]) {
					id = ir.NetRuleID(i)
				}
			}
			row, _ := out.Ledger.Cell(ir.Net, id, ir.AspectConnect, ir.Darwin, 0)
			seen[fmt.Sprintf("%v %v %s", v.Allowed(), allows, row.Is)]++
			if allows && !v.Allowed() && row.Is != ir.Weaker || !allows && v.Allowed() && row.Is != ir.Stricter {
				rt.Fatalf("%+v: policy %v by %s, profile %v, ledger %+v\nrules %+v\n%s", d, v.Allowed(), id, allows, row, tool.Net, out.Data)
			}
		}
	})
	asked := 0
	for _, n := range seen {
		asked += n
	}
	// One of them is one answer in a thousand.
	for _, must := range []string{"true true exact", "true true weaker", "true false stricter", "false true weaker", "false false exact"} {
		if seen[must] == 0 && asked > 10_000 {
			t.Errorf("%s never happened: %v", must, seen)
		}
	}
}

// TestNetworkCells is the mapping table.
func TestNetworkCells(t *testing.T) {
	allow := func(h ir.Host, port uint16) ir.NetRule { return ir.NetRule{Host: h, Port: port, Allow: true} }
	deny := func(h ir.Host, port uint16) ir.NetRule { return ir.NetRule{Host: h, Port: port} }
	every := ir.Host{Kind: ir.HostAny}
	for _, c := range []struct {
		name             string
		rules            []ir.NetRule
		every, own, shut []uint16
		cells            []ir.Held
	}{
		{"nothing", nil, nil, nil, nil, nil},
		{"a denial", []ir.NetRule{deny(every, 443)}, nil, nil, nil, []ir.Held{backends.Exact}},
		{"the own machine", []ir.NetRule{allow(host("localhost"), 80)}, nil, []uint16{80}, nil, []ir.Held{backends.Weaker(ir.Gap("net.address"), start.WhyOwn)}},
		{"the own machine without a port", []ir.NetRule{allow(host("localhost"), 0)}, nil, nil, nil, []ir.Held{backends.Stricter(start.WhyHost)}},
		{"every host", []ir.NetRule{allow(every, 443)}, []uint16{443}, nil, nil, []ir.Held{backends.Weaker(ir.Gap("net.address"), start.WhyEvery)}},
		{"every host without a port", []ir.NetRule{allow(every, 0)}, nil, nil, nil, []ir.Held{backends.Stricter(start.WhyHost)}},
		{"a host", []ir.NetRule{allow(host("a.test"), 443)}, nil, nil, nil, []ir.Held{backends.Stricter(start.WhyHost)}},
		{"a scheme", []ir.NetRule{{Host: every, Scheme: "https", Port: 443, Allow: true}}, nil, nil, nil, []ir.Held{backends.Stricter(start.WhyHost)}},
		{"a path", []ir.NetRule{{Host: host("localhost"), Port: 80, Path: []string{"a"}, Allow: true}}, nil, nil, nil, []ir.Held{backends.Stricter(start.WhyHost)}},
		{"every host but one", []ir.NetRule{allow(every, 443), deny(host("evil.test"), 0)}, nil, nil, nil, []ir.Held{backends.Stricter(start.WhyDispute), backends.Exact}},
		{"every host but the own machine", []ir.NetRule{allow(every, 80), deny(host("localhost"), 80)}, []uint16{80}, nil, []uint16{80},
			[]ir.Held{backends.Weaker(ir.Gap("net.address"), start.WhyEvery), backends.Exact}},
		{"every host but an address of the own machine", []ir.NetRule{allow(every, 80), deny(addr("::1"), 80)}, []uint16{80}, nil, nil,
			[]ir.Held{backends.Weaker(ir.Gap("net.address"), start.WhyEvery), backends.Weaker(ir.Gap("net.address"), start.WhyEvery)}},
		{"one name of the machine, not the other", []ir.NetRule{allow(host("localhost"), 80), deny(addr("127.0.0.1"), 80)}, nil, nil, nil,
			[]ir.Held{backends.Stricter(start.WhyDispute), backends.Exact}},
		{"denied, then allowed", []ir.NetRule{deny(host("localhost"), 80), allow(host("localhost"), 80)}, nil, []uint16{80}, nil,
			[]ir.Held{backends.Exact, backends.Weaker(ir.Gap("net.address"), start.WhyOwn)}},
		{"a host at a port that is open to all", []ir.NetRule{allow(every, 443), allow(host("a.test"), 443)}, []uint16{443}, nil, nil,
			[]ir.Held{backends.Weaker(ir.Gap("net.address"), start.WhyEvery), backends.Exact}},
		{"all denied but the own machine", []ir.NetRule{allow(host("localhost"), 80), deny(every, 80)}, nil, []uint16{80}, nil,
			[]ir.Held{backends.Weaker(ir.Gap("net.address"), start.WhyOwn), backends.Weaker(ir.Gap("net.address"), start.WhyOwn)}},
	} {
		o := opened(&ir.Tool{Net: c.rules})
		if !slices.Equal(o.every, c.every) || !slices.Equal(o.own, c.own) || !slices.Equal(o.shut, c.shut) {
			t.Errorf("%s: got %v %v %v", c.name, o.every, o.own, o.shut)
		}
		for i, want := range c.cells {
			if got := o.held(i); !got.Equal(want) {
				t.Errorf("%s: net[%d] got %+v, want %+v", c.name, i, got, want)
			}
		}
	}
}

// TestResolver checks that the resolver opens only with a port of every host.
func TestResolver(t *testing.T) {
	for _, c := range []struct {
		rule ir.NetRule
		want bool
	}{
		{ir.NetRule{Host: ir.Host{Kind: ir.HostAny}, Port: 443, Allow: true}, true},
		{ir.NetRule{Host: host("localhost"), Port: 443, Allow: true}, false},
		{ir.NetRule{Host: host("a.test"), Port: 443, Allow: true}, false},
	} {
		tool := ir.NewTool("t")
		tool.Net = []ir.NetRule{c.rule}
		p, err := sbpl.Parse(string(compile(t, tool, backends.Target{Form: backends.Portable}).Data),
			Parameters(tool, ir.Bindings{Workspace: "/w", Home: "/h", Temp: "/t"}))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := p.Allows(opConnect, sbpl.Request{Path: resolver}); got != c.want {
			t.Errorf("%+v: got %v", c.rule, got)
		}
	}
}
