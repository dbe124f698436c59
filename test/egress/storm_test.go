//go:build linux

package egress_test

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// A grant is a rule of the storm's policy.
type grant struct {
	host   string
	scheme string
	port   uint16
	deny   bool
}

// grants are the rules of the storm. Names that lead to this host and its networks are granted,
// and must not be reached all the same.
var grants = []grant{
	{host: "a.example.test"},
	{host: "echo.example.test", scheme: "tcp", port: portEcho},
	{host: "smtp.example.test", scheme: "tcp", port: portSMTP},
	{host: "only6.example.test"},
	{host: "*.wild.test"},
	{host: "git.wild.test", deny: true},
	{host: "loop.example.test"}, {host: "loop6.example.test"}, {host: "private.example.test"}, {host: "metadata.example.test"},
	{host: "mapped.example.test"}, {host: "sixtofour.example.test"}, {host: "nat64.example.test"}, {host: "rebind.example.test"},
	{host: "203.0.113.177", port: portOther},
	{host: "203.0.113.177", scheme: "tcp", port: portEcho},
	{host: "[2001:db8:1::177]", scheme: "tcp", port: portEcho},
}

// addressGrants are rules that need no proxy.
var addressGrants = []grant{{host: "203.0.113.177", port: portOther}, {host: "[2001:db8:1::177]", port: portEcho}}

// stormNames are asked for by the storm, stormAddresses named as such. None of these is an
// address of a granted name, so that a packet tells which of both it was.
var (
	stormNames = []string{
		"a.example.test", "echo.example.test", "smtp.example.test", "only6.example.test", "npm.wild.test", "git.wild.test",
		"loop.example.test", "loop6.example.test", "private.example.test", "metadata.example.test", "mapped.example.test",
		"sixtofour.example.test", "nat64.example.test", "rebind.example.test", "b.denied.test", "wild.test", "missing.example.test",
	}
	stormAddresses = []string{
		"203.0.113.177", "203.0.113.177", "2001:db8:1::177", "2001:db8:1::177", "203.0.113.178", "2001:db8:1::178", "203.0.113.53", "8.8.8.8",
		"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "10.0.0.1", "169.254.169.254", "100.100.100.200", "224.0.0.1",
		"255.255.255.255", "fe80::1", "ff02::1", "198.18.0.1", "198.18.0.2", "198.18.0.200", "fd61:6363:6573:7363::1", "fd61:6363:6573:7363::c8",
	}
	stormPorts = []int{portHTTPS, portEcho, portSMTP, portSSH, portDNS}
)

// policy returns the rules as TOML, and the view that decides by them.
func policy(t testing.TB, list []grant) (toml string, view *ir.View) {
	tool := &ir.Tool{Name: "t"}
	for _, g := range list {
		h, err := resolve.HostPattern(g.host)
		if err != nil {
			t.Fatal(err)
		}
		tool.Net = append(tool.Net, ir.NetRule{Written: g.host, Host: h, Scheme: g.scheme, Port: g.port, Allow: !g.deny})
		toml += fmt.Sprintf("[[tools.t.access.net]]\nhost = %q\nallow = %v\n", g.host, !g.deny)
		if g.scheme != "" {
			toml += fmt.Sprintf("scheme = %q\n", g.scheme)
		}
		if g.port != 0 {
			toml += fmt.Sprintf("port = %d\n", g.port)
		}
	}
	return toml, ir.NewView(tool, ir.Linux, ir.Facts{})
}

// granted reports whether the policy grants a packet, or accessc itself sends such ones.
func granted(v *ir.View, p packet) bool {
	to := p.to.Addr().Unmap()
	resolver := netip.MustParseAddr("203.0.113.53")
	servers := []int{portEcho, portSSH, portSMTP, portDNS, portHTTP, portHTTPS, portPostgres, portOther}
	switch {
	case p.proto == unix.IPPROTO_UDP:
		return to == resolver && p.to.Port() == portDNS
	case p.proto != unix.IPPROTO_TCP:
		return false
	case to.IsLoopback() && !slices.Contains(servers, int(p.to.Port())):
		return true // the proxy's port
	}
	hosts := []ir.Host{{Kind: ir.HostAddr, Addr: to}}
	for _, name := range stormNames {
		if h := (ir.Host{Kind: ir.HostName, Name: name}); slices.Contains(public(name), to) {
			hosts = append(hosts, h)
		}
	}
	for _, h := range hosts {
		for _, scheme := range []string{ir.Stream, "http", "https"} {
			if v.Reach(ir.Endpoint{Scheme: scheme, Host: h, Port: p.to.Port()}).Allowed() {
				return true
			}
		}
	}
	return false
}

// public are the addresses of a name outside of this host and its networks.
func public(name string) (out []netip.Addr) {
	if name == "rebind.example.test" {
		return []netip.Addr{netip.MustParseAddr("203.0.113.92")}
	}
	for _, a := range addresses(name) {
		if netip.MustParsePrefix("203.0.113.0/24").Contains(a) || netip.MustParsePrefix("2001:db8:1::/48").Contains(a) {
			out = append(out, a)
		}
	}
	return out
}

// A window has the packets, questions and connections between two moments.
type window struct {
	w     *world
	wire  map[packet]int
	names map[string]int
}

func (w *world) window(t *testing.T) *window {
	seen, err := w.wire.seen()
	if err != nil {
		t.Fatal(err)
	}
	return &window{w: w, wire: seen, names: w.names.questions()}
}

// lastName is asked for after all others.
const lastName = "last.test"

// arrived waits until all packets and questions that were sent have been seen: they are seen in their order, and these
// are the last ones.
func (w *world) arrived(t *testing.T) {
	t.Helper()
	last := packet{proto: unix.IPPROTO_TCP, to: netip.MustParseAddrPort("127.0.0.1:1")}
	before := w.window(t).wire[last]
	if c, err := net.Dial("tcp", last.to.String()); err == nil {
		c.Close()
	}
	await.Until(t, "the last packet is seen", func() bool { return w.window(t).wire[last] > before })
	asked := w.names.questions()[lastName]
	_, _ = net.DefaultResolver.LookupHost(await.Context(t), lastName+".")
	if w.names.questions()[lastName] == asked {
		t.Error("the last question was not seen")
	}
}

// wrong returns the packets since then that the policy denies.
func (b *window) wrong(t *testing.T, v *ir.View) (out []string) {
	b.w.arrived(t)
	now := b.w.window(t)
	for p, n := range now.wire {
		if n > b.wire[p] && !granted(v, p) {
			out = append(out, fmt.Sprintf("%d packets of %s", n-b.wire[p], p))
		}
	}
	for name, n := range now.names {
		if name != lastName && n > b.names[name] && !v.Named(ir.Host{Kind: ir.HostName, Name: name}).Allowed() {
			out = append(out, "a question for "+name)
		}
	}
	slices.Sort(out)
	return out
}

// stormInput are the lines that the storm reads. The first name, address and port come more often.
func stormInput(port int) (out string) {
	for _, n := range stormNames {
		out += "name " + n + "\n"
	}
	for _, a := range stormAddresses {
		out += "addr " + a + "\n"
	}
	for _, p := range append([]int{port, portHTTP, portOther}, stormPorts...) {
		out += "port " + strconv.Itoa(p) + "\n"
	}
	return out
}

// TestStormAlone: without accessc the storm reaches hosts that the policy denies, and the test
// sees it.
func TestStormAlone(t *testing.T) {
	w := need(t)
	if has("cc") != "" {
		t.Skip("no C compiler")
	}
	p := newPlace(t, w, ordinary, "")
	p.cc("storm")
	_, v := policy(t, grants)
	before := w.window(t)
	cmd := p.command(t.Context(), "", "./storm", "1", "1000")
	cmd.Stdin = strings.NewReader(stormInput(portHTTP))
	out, err := cmd.CombinedOutput()
	wrong := before.wrong(t, v)
	if err != nil || len(wrong) < 50 {
		t.Errorf("%v %s %q", err, out, wrong)
	}
	t.Logf("%s%d kinds of wrong arrivals", out, len(wrong))
}

// TestStorm: of random connections, none reaches a host that the policy denies.
func TestStorm(t *testing.T) {
	w := need(t)
	if has("cc") != "" {
		t.Skip("no C compiler")
	}
	for _, u := range users() {
		t.Run(string(u)+" names", func(t *testing.T) { storm(t, w, u, grants, portHTTP, irtest.Times(12_000)) })
		t.Run(string(u)+" addresses", func(t *testing.T) { storm(t, w, u, addressGrants, portOther, irtest.Times(38_000)) })
	}
}

// storm runs the storm under a policy. Of fewer connections than the least, none might reach a host
// that the policy grants.
func storm(t *testing.T, w *world, u user, list []grant, port, count int) {
	const least = 600
	count = max(count, least)
	toml, v := policy(t, list)
	p := newPlace(t, w, u, toml)
	p.cc("storm")
	p.holds(t)
	seed := epoch.Seed(t) % 1_000_000
	before := w.window(t)
	ctx := await.Context(t)
	cmd := p.exec(ctx, "", "storm.jsonl", p.ws+"/storm", fmt.Sprint(seed), fmt.Sprint(count))
	cmd.Stdin = strings.NewReader(stormInput(port))
	out, err := cmd.CombinedOutput()
	t.Logf("%d connections, seed %d: %.2000s", count, seed, out)
	for _, x := range before.wrong(t, v) {
		t.Error(x)
	}
	if err != nil || !strings.Contains(string(out), "done: ") || strings.Contains(string(out), " 0 answered") {
		t.Errorf("the controls failed: %v", err)
	}
}
