package seatbelt

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
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

// proxyPort is where tests have the proxy. No rule names it.
const proxyPort = 49151

func drawNet(t *rapid.T) []ir.NetRule {
	rules := make([]ir.NetRule, rapid.IntRange(0, 5).Draw(t, "net"))
	plain := rapid.Bool().Draw(t, "plain") // only hosts and ports, which a profile can say exactly
	for i := range rules {
		r := &rules[i]
		if rapid.IntRange(0, 2).Draw(t, "listens") == 0 {
			*r = drawListen(t)
			continue
		}
		r.Host = rapid.SampledFrom(hosts).Draw(t, "host")
		r.Allow = rapid.IntRange(0, 2).Draw(t, "allow") > 0
		if rapid.IntRange(0, 4).Draw(t, "port given") > 0 {
			r.Port = rapid.SampledFrom(ports).Draw(t, "port")
		}
		if !plain && rapid.IntRange(0, 2).Draw(t, "scheme given") == 0 {
			r.Scheme = rapid.SampledFrom([]string{"http", "https", "postgres", ir.Stream}).Draw(t, "scheme")
		}
		if plain || r.Scheme == ir.Stream {
			continue
		}
		if rapid.IntRange(0, 2).Draw(t, "path given") == 0 {
			r.Path = []string{"v1"}
		}
		if rapid.IntRange(0, 4).Draw(t, "methods given") == 0 {
			r.Methods = []string{"GET"}
		}
		if r.Inspect = r.Allow && rapid.IntRange(0, 4).Draw(t, "inspect") == 0; r.Inspect && rapid.Bool().Draw(t, "credential") {
			r.Credential = &ir.Credential{Env: "TOKEN", As: "header", Name: "Authorization"}
		}
		r.Opaque = r.Allow && !r.Inspect && rapid.IntRange(0, 4).Draw(t, "opaque") == 0
	}
	return rules
}

// dial is a connection: the question to the policy, and the address that the system sees. A
// name has the address that it resolves to.
type dial struct {
	to     ir.Endpoint
	method string
	at     sbpl.Address
}

// target is a host with the address that the system sees.
type target struct {
	host ir.Host
	addr string
	own  bool
}

// drawDial draws a connection, half of them to the host, port and scheme of a rule.
func drawDial(t *rapid.T, rules []ir.NetRule) dial {
	targets := []target{
		{host("localhost"), "127.0.0.1", true}, {host("localhost"), "::1", true}, {addr("127.0.0.1"), "127.0.0.1", true},
		{addr("::1"), "::1", true}, {addr("127.0.0.2"), "127.0.0.2", false}, {addr("10.0.0.5"), "10.0.0.5", false},
		{addr("192.168.1.7"), "192.168.1.7", true}, {addr("8.8.8.8"), "8.8.8.8", false}, {host("api.example.com"), "1.2.3.4", false},
		{host("x.example.com"), "1.2.3.4", false}, {host("evil.test"), "6.6.6.6", false}, {addr("0.0.0.0"), "0.0.0.0", true},
	}
	c := rapid.SampledFrom(targets).Draw(t, "target")
	scheme := rapid.SampledFrom([]string{"", "http", "https", "postgres", ir.Stream}).Draw(t, "to scheme")
	port := rapid.SampledFrom(append([]uint16{21, 22}, ports...)).Draw(t, "to port")
	if len(rules) > 0 && rapid.Bool().Draw(t, "near") {
		r := rapid.SampledFrom(rules).Draw(t, "rule")
		if i := slices.IndexFunc(targets, func(c target) bool { return c.host == r.Host }); i >= 0 {
			c = targets[i]
		}
		if scheme = cmp.Or(r.Scheme, scheme); r.Port != 0 {
			port = r.Port
		}
	}
	d := dial{to: ir.Endpoint{Host: c.host, Port: port}, at: sbpl.Address{Protocol: "tcp", Addr: netip.MustParseAddr(c.addr), Port: port, Own: c.own}}
	if d.to.Scheme = scheme; d.to.Scheme != ir.Stream && rapid.Bool().Draw(t, "request") {
		d.to.Path, d.method = []string{"v1", "x"}, rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method")
	}
	return d
}

// carries says how the proxy treats a connection (see internal/egress): it passes all bytes
// where a stream is granted, or nothing but opaque rules, and sees requests of http, and requests of https by
// inspection. By is the rule that lets a connection pass, nil for none.
func carries(v *ir.View, d dial) (by *ir.NetRule) {
	rule := func(w ir.Verdict) *ir.NetRule {
		r, _ := w.Rule.(*ir.NetRule)
		if !w.Allowed() {
			return nil
		}
		return r
	}
	var opaque, seen *ir.NetRule
	for _, scheme := range []string{ir.Stream, "http", "https"} {
		to := d.to
		to.Scheme, to.Path = scheme, nil
		switch r := rule(v.Reach(to)); {
		case r == nil:
		case scheme == ir.Stream:
			return r
		case r.Opaque:
			opaque = r
		default:
			seen = r
		}
	}
	switch {
	case opaque != nil && seen == nil:
		return opaque
	case d.to.Scheme == "https" && !v.Inspects(d.to):
		return rule(v.Reach(d.to))
	case d.to.Scheme == "http" || d.to.Scheme == "https":
		return rule(v.Request(d.to, d.method))
	default:
		return nil
	}
}

// networkCase is a policy with its profile.
type networkCase struct {
	tool    *ir.Tool
	view    *ir.View
	profile *sbpl.Profile
	ledger  ir.Ledger
	text    []byte
	seen    map[string]int
}

func drawNetwork(t *rapid.T, seen map[string]int, more ...ir.NetRule) *networkCase {
	c := &networkCase{tool: &ir.Tool{Name: "t", Base: ir.BaseNone, Home: ir.HomeReal, Net: append(drawNet(t), more...)}, seen: seen}
	out, err := Backend{}.Compile(c.tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	c.profile, err = sbpl.Parse(string(out.Data), map[string]string{ParamWorkspace: "/w", ParamTemp: "/t", start.ParamProxy: fmt.Sprint(proxyPort)})
	if err != nil {
		t.Fatal(err)
	}
	c.view, c.ledger, c.text = ir.NewView(c.tool, ir.Darwin, ir.Facts{}), out.Ledger, out.Data
	return c
}

// given returns rules in half of the runs.
func given(t *rapid.T, rules ...ir.NetRule) []ir.NetRule {
	if rapid.Bool().Draw(t, "given") {
		return rules
	}
	return nil
}

func (c *networkCase) allows(t *rapid.T, op string, r sbpl.Request) bool {
	yes, err := c.profile.Allows(op, r)
	if err != nil {
		t.Fatal(err)
	}
	return yes
}

// row is the row of the rule behind a verdict.
func (c *networkCase) row(by ir.Rule, a ir.Aspect) ir.Row {
	id := ir.DefaultRule
	for i := range c.tool.Net {
		if by == ir.Rule(&c.tool.Net[i]) {
			id = ir.NetRuleID(i)
			if c.tool.Net[i].Listen {
				a = ir.AspectListen
			}
		}
	}
	row, _ := c.ledger.Cell(ir.Net, id, a, ir.Darwin, 0)
	return row
}

// compare fails where an answer differs from the policy's and no row says so: what passes and is
// denied must be at a cell that is weaker, what is refused and granted at a cell that names a reason for being
// stricter.
func (c *networkCase) compare(t *rapid.T, asked any, v ir.Verdict, passes bool, weak, strict func(ir.Row) bool, a ir.Aspect) {
	row := c.row(v.Rule, a)
	c.seen[fmt.Sprintf("%s %v %v %s", a, v.Allowed(), passes, row.Is)]++
	if passes && !v.Allowed() && !weak(row) || !passes && v.Allowed() && !strict(row) {
		t.Fatalf("%+v: policy %v by %v, system %v, ledger %+v\nrules %+v\n%s", asked, v.Allowed(), v.Rule, passes, row, c.tool.Net, c.text)
	}
}

func permitsMore(r ir.Row) bool { return r.Is == ir.Weaker || r.Is == ir.Advisory }

// TestNetworkAgainstPolicy holds the ports that open, and the proxy behind one of them, against the
// policy, for clients that use the proxy and for those that do not.
func TestNetworkAgainstPolicy(t *testing.T) {
	const per = 50
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		// Few rules that are drawn are about a path, and few connections about what it grants.
		unseen := ir.NetRule{Host: host("unseen.test"), Scheme: "https", Path: []string{"v1"}, Allow: true}
		c := drawNetwork(rt, seen, given(rt, unseen)...)
		proxy := sbpl.Address{Protocol: "tcp", Addr: netip.MustParseAddr("127.0.0.1"), Port: proxyPort, Own: true}
		proxied := c.allows(rt, opConnect, sbpl.Request{Remote: &proxy})
		if c.allows(rt, opConnect, sbpl.Request{Path: "/private/var/run/mDNSResponder"}) {
			rt.Fatalf("names are resolved:\n%s", c.text)
		}
		for range per {
			c.dials(rt, drawDial(rt, c.tool.Net), proxied)
		}
		if proxied {
			at := sbpl.Address{Protocol: "tcp", Addr: netip.MustParseAddr("1.2.3.4"), Port: 443}
			to := ir.Endpoint{Host: unseen.Host, Port: 443, Scheme: "https", Path: []string{"v1", "x"}}
			c.dials(rt, dial{to: to, method: "GET", at: at}, proxied)
		}
	})
	irtest.Happened(t, seen, "connect true true stricter", "connect true true weaker", "connect true true advisory",
		"connect true false stricter", "connect false true weaker", "connect false false exact")
}

// dials compares a connection.
func (c *networkCase) dials(t *rapid.T, d dial, proxied bool) {
	direct := c.allows(t, opConnect, sbpl.Request{Remote: &d.at})
	if direct && d.to.Scheme == ir.Stream {
		d.to.Scheme = "" // streams are apart from other connections only in the proxy
	}
	v := c.view.Decide(ir.Connect{To: d.to, Method: d.method})
	var by *ir.NetRule
	if proxied {
		by = carries(c.view, d)
	}
	weak := func(r ir.Row) bool {
		// What a rule for bytes that are not looked at lets pass is its grant, and what a rule for paths lets pass is
		// stated at it.
		blind := by != nil && (by.Scheme == ir.Stream || by.Opaque)
		return permitsMore(r) || blind && v.Rule == nil || by != nil && permitsMore(c.row(by, ir.AspectConnect))
	}
	c.compare(t, d, v, direct, weak, func(r ir.Row) bool { return r.Cites(start.WhyProxy) || r.Cites(start.WhyLoopback) }, ir.AspectConnect)
	c.compare(t, d, v, direct || by != nil, weak, func(r ir.Row) bool { return r.Cites(start.WhyScheme) || r.Cites(start.WhyLoopback) }, ir.AspectConnect)
}

// TestNetworkCells is the mapping table.
func TestNetworkCells(t *testing.T) {
	allow := func(h ir.Host, port uint16) ir.NetRule { return ir.NetRule{Host: h, Port: port, Allow: true} }
	deny := func(h ir.Host, port uint16) ir.NetRule { return ir.NetRule{Host: h, Port: port} }
	https := func(h ir.Host) ir.NetRule { return ir.NetRule{Host: h, Scheme: "https", Allow: true} }
	with := func(r ir.NetRule, change func(*ir.NetRule)) ir.NetRule {
		change(&r)
		return r
	}
	every, local, a := ir.Host{Kind: ir.HostAny}, host("localhost"), host("a.test")
	path := func(r *ir.NetRule) { r.Path = []string{"a"} }
	proxy := backends.Stricter(start.WhyProxy, start.WhyTrust)
	served := backends.Stricter(start.WhyProxy, start.WhyTrust, start.WhyServer)
	mixed := backends.Stricter(start.WhyProxy, start.WhyTrust, start.WhyScheme, start.WhyServer)
	onOwn := backends.Weaker(ir.GapNetAddress, start.WhyOwn)
	ofOwn := backends.Weaker(ir.GapNetAddress, start.WhyOwn, start.WhyLoopback)
	unseen := func(more ...ir.CauseID) ir.Held {
		return ir.Because(ir.Advisory, ir.GapNetPath, append([]ir.CauseID{start.WhyUnseen}, more...)...)
	}
	for _, c := range []struct {
		name    string
		rules   []ir.NetRule
		own     []uint16
		proxied bool
		cells   []ir.Held
	}{
		{"nothing", nil, nil, false, nil},
		{"a denial", []ir.NetRule{deny(every, 443)}, nil, false, []ir.Held{backends.Exact}},
		{"the own machine", []ir.NetRule{allow(local, 80)}, []uint16{80}, false, []ir.Held{ofOwn}},
		{"an own address", []ir.NetRule{allow(addr("::1"), 80)}, []uint16{80}, false, []ir.Held{onOwn}},
		{"the own machine without a port", []ir.NetRule{allow(local, 0)}, nil, true, []ir.Held{mixed}},
		{"every host", []ir.NetRule{allow(every, 443)}, nil, true, []ir.Held{mixed}},
		{"an address", []ir.NetRule{allow(addr("10.0.0.5"), 443)}, nil, true, []ir.Held{backends.Stricter(start.WhyProxy, start.WhyTrust, start.WhyScheme)}},
		{"a host", []ir.NetRule{https(a)}, nil, true, []ir.Held{served}},
		{"a host that is inspected", []ir.NetRule{with(https(a), func(r *ir.NetRule) { r.Inspect = true })}, nil, true, []ir.Held{proxy}},
		{"one that is not looked at", []ir.NetRule{with(https(a), func(r *ir.NetRule) { r.Opaque = true })}, nil, true, []ir.Held{proxy}},
		{"http", []ir.NetRule{{Host: a, Scheme: "http", Path: []string{"a"}, Allow: true}}, nil, true, []ir.Held{backends.Stricter(start.WhyProxy)}},
		{"a stream", []ir.NetRule{{Host: a, Scheme: ir.Stream, Port: 22, Allow: true}}, nil, true, []ir.Held{proxy}},
		{"a path", []ir.NetRule{with(https(a), path)}, nil, true, []ir.Held{unseen(start.WhyProxy, start.WhyTrust, start.WhyServer)}},
		{"a method", []ir.NetRule{with(https(a), func(r *ir.NetRule) { r.Methods = []string{"GET"} })}, nil, true,
			[]ir.Held{unseen(start.WhyProxy, start.WhyTrust, start.WhyServer)}},
		{"a path that is denied", []ir.NetRule{https(a), {Host: a, Scheme: "https", Path: []string{"a"}}}, nil, true, []ir.Held{served, unseen()}},
		{"a path that is denied where nothing is open", []ir.NetRule{https(host("b.test")), {Host: a, Scheme: "https", Path: []string{"a"}}}, nil, true,
			[]ir.Held{served, backends.Exact}},
		{"a credential for the own machine", []ir.NetRule{with(allow(local, 80), func(r *ir.NetRule) { r.Credential = &ir.Credential{} })}, nil, true,
			[]ir.Held{mixed}},
		{"a scheme beside a stream", []ir.NetRule{{Host: a, Scheme: ir.Stream, Port: 443, Allow: true}, {Host: a, Scheme: "https"}}, nil, true,
			[]ir.Held{proxy, ir.Because(ir.Advisory, ir.GapNetPath, start.WhyStream)}},
		{"a scheme beside what is not looked at", []ir.NetRule{with(https(a), func(r *ir.NetRule) { r.Opaque = true }), {Host: a, Scheme: "http", Port: 443}}, nil, true,
			[]ir.Held{proxy, ir.Because(ir.Advisory, ir.GapNetPath, start.WhyStream)}},
		{"another host beside a stream", []ir.NetRule{{Host: a, Scheme: ir.Stream, Port: 443, Allow: true}, {Host: host("b.test"), Scheme: "https"}}, nil, true,
			[]ir.Held{proxy, backends.Exact}},
		{"every host but one", []ir.NetRule{allow(every, 443), deny(a, 0)}, nil, true, []ir.Held{mixed, backends.Exact}},
		{"one name of the machine, not the other", []ir.NetRule{allow(local, 80), deny(addr("127.0.0.1"), 80)}, nil, true, []ir.Held{mixed, backends.Exact}},
		{"denied, then allowed", []ir.NetRule{deny(local, 80), allow(local, 80)}, []uint16{80}, false, []ir.Held{backends.Exact, ofOwn}},
		{"all denied but the own machine", []ir.NetRule{allow(local, 80), deny(every, 80)}, []uint16{80}, false, []ir.Held{ofOwn, onOwn}},
	} {
		o := opened(&ir.Tool{Net: c.rules})
		if !slices.Equal(o.own, c.own) || o.proxied != c.proxied {
			t.Errorf("%s: got %v %v", c.name, o.own, o.proxied)
		}
		for i, want := range c.cells {
			if got := o.held(i); !got.Equal(want) {
				t.Errorf("%s: net[%d] got %+v, want %+v", c.name, i, got, want)
			}
		}
	}
}

// TestProxy: the profile of a tool with host rules opens the port that the start says, and nothing
// else; without that port the system refuses the profile.
func TestProxy(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Net = []ir.NetRule{{Host: host("a.test"), Scheme: "https", Allow: true}}
	b := ir.Bindings{Workspace: "/w", Home: "/h", Temp: "/t"}
	text := string(compile(t, tool, backends.Target{Form: backends.Portable}).Data)
	p, err := sbpl.Parse(text, Parameters(tool, b, 1234))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{"127.0.0.1:1234": true, "127.0.0.1:1235": false, "1.2.3.4:1234": false, "1.2.3.4:443": false} {
		to := netip.MustParseAddrPort(at)
		if got, _ := p.Allows(opConnect, sbpl.Request{Remote: &sbpl.Address{Protocol: "tcp", Addr: to.Addr(), Port: to.Port()}}); got != want {
			t.Errorf("%s: got %v", at, got)
		}
	}
	if _, err := sbpl.Parse(text, map[string]string{ParamWorkspace: "/w", ParamHome: "/h", ParamTemp: "/t"}); err == nil {
		t.Error("the profile is usable without a proxy")
	}
}

// TestProxyPolicy: the proxy of a resolved profile decides about hosts as the policy does.
func TestProxyPolicy(t *testing.T) {
	tool := example()
	for _, form := range []backends.Form{backends.Portable, backends.Resolved} {
		target := resolved(exampleHost())
		target.Form = form
		spec, err := start.Parse(compile(t, tool, target).Data)
		if err != nil {
			t.Fatal(err)
		}
		if form == backends.Portable {
			if spec.Egress != nil {
				t.Errorf("a portable profile has %s", spec.Egress)
			}
			continue
		}
		program, err := irjson.Unmarshal(spec.Egress)
		if err != nil || len(program.Tools) != 1 {
			t.Fatal(err, string(spec.Egress))
		}
		v := ir.NewView(program.Tools[0], ir.Darwin, ir.Facts{})
		for name, want := range map[string]bool{"api.example.com": true, "example.com": false} {
			if got := v.Reach(ir.Endpoint{Scheme: "https", Host: host(name), Port: 443}).Allowed(); got != want {
				t.Errorf("%s: got %v", name, got)
			}
		}
	}
	tool.Net = tool.Net[:1]
	if spec, err := start.Parse(compile(t, tool, resolved(exampleHost())).Data); err != nil || spec.Egress != nil {
		t.Errorf("got %s, %v, want no proxy", spec.Egress, err)
	}
}
