package compare

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

func host(s string) ir.Host {
	switch rest, suffix := strings.CutPrefix(s, "*."); {
	case s == "*":
		return ir.Host{Kind: ir.HostAny}
	case suffix:
		return ir.Host{Kind: ir.HostSuffix, Name: rest}
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return ir.Host{Kind: ir.HostAddr, Addr: a}
	}
	return ir.Host{Kind: ir.HostName, Name: s}
}

func drawHost(t *rapid.T, of ...string) ir.Host { return host(rapid.SampledFrom(of).Draw(t, "host")) }

func drawNet(t *rapid.T, n int) []ir.NetRule {
	out := make([]ir.NetRule, rapid.IntRange(0, n).Draw(t, "rules"))
	for i := range out {
		out[i].Allow = rapid.Bool().Draw(t, "allow")
		if rapid.IntRange(0, 4).Draw(t, "listen") == 0 {
			out[i].Listen, out[i].Host = true, drawHost(t, "localhost", "127.0.0.1", "::1", "10.0.0.1", "::", "*")
			out[i].Port = rapid.SampledFrom([]uint16{0, 80, 8080}).Draw(t, "port")
			continue
		}
		out[i].Host = drawHost(t, "*", "a.test", "x.a.test", "b.test", "*.a.test", "*.test", "*.x.a.test", "localhost", "127.0.0.1", "10.0.0.1")
		out[i].Scheme = rapid.SampledFrom([]string{"", "https", "http", "git", ir.Stream}).Draw(t, "scheme")
		out[i].Port = rapid.SampledFrom([]uint16{0, 443, 8080}).Draw(t, "port")
		out[i].Path = rapid.SampledFrom([][]string{nil, {"v1"}, {"v1", "a"}, {"w"}}).Draw(t, "path")
		out[i].Methods = rapid.SampledFrom([][]string{nil, nil, {"GET"}, {"GET", "POST"}}).Draw(t, "methods")
	}
	return out
}

func targetHosts() []ir.Host {
	var out []ir.Host
	for _, name := range []string{"a.test", "x.a.test", "y.a.test", "z.x.a.test", "b.test", "c.test", "other.org", "localhost", "127.0.0.1", "::1", "10.0.0.1", "10.0.0.2"} {
		out = append(out, host(name))
	}
	return out
}

// addresses are the addresses of this host.
func addresses() []ir.Host {
	var out []ir.Host
	for _, name := range []string{"localhost", "127.0.0.1", "127.0.0.2", "::1", "10.0.0.1", "10.0.0.2", "192.0.2.7", "0.0.0.0", "::"} {
		out = append(out, host(name))
	}
	return out
}

// targets is a universe that includes names which no policy mentions.
func targets() []ir.Operation {
	var out []ir.Operation
	for _, h := range targetHosts() {
		for _, port := range []uint16{21, 80, 443, 8080, 9999} {
			for _, path := range [][]string{nil, {"v1"}, {"v1", "a"}, {"w", "q"}, {"u"}} {
				for _, scheme := range []string{"", "http", "https", "ftp", "ws", "wss", "git", "ssh"} {
					for _, method := range []string{"", "GET", "POST"} {
						out = append(out, ir.Connect{To: ir.Endpoint{Scheme: scheme, Host: h, Port: port, Path: path}, Method: method})
					}
				}
			}
			out = append(out, ir.Connect{To: ir.Endpoint{Scheme: ir.Stream, Host: h, Port: port}})
		}
	}
	for _, h := range addresses() {
		for _, port := range []uint16{0, 80, 81, 1023, 1024, 8080, 9999} {
			out = append(out, ir.Listen{Host: h, Port: port})
		}
	}
	return out
}

func TestNetworkAgainstBruteForce(t *testing.T) {
	ops := targets()
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		a, b := closed(), closed()
		a.Net, b.Net = near(rt, drawNet)
		against(rt, a, b, ir.Net, ops)
		c := newComparison(a, b, ir.Linux)
		n := &netPartition{comparison: c, grid: c.grid(), paths: c.paths()}
		n.bit = n.granted
		for _, wider := range []bool{true, false} {
			n.coverHosts(rt, wider)
			c.coverAddresses(rt, wider)
		}
	})
}

// coverHosts checks the regions of hosts against every host of the universe.
func (n *netPartition) coverHosts(rt *rapid.T, wider bool) {
	var regions []region[hostCell, string]
	for _, t := range n.hosts() {
		regions = append(regions, n.only(t, wider).regions()...)
	}
	for _, h := range append(targetHosts(), host("test"), host("d.z.x.a.test"), host("127.0.0.77")) {
		in := n.contains(h, false)
		said, hits := "", 0
		for _, r := range regions {
			if in(r.item) && !slices.ContainsFunc(r.except, in) {
				said, hits = r.label, hits+1
			}
		}
		if want := direction(n.label(h, n.paths), wider); said != want || hits > 1 {
			rt.Fatalf("%s: %d regions say %q, it is %q", h, hits, said, want)
		}
	}
}

// contains reports whether a cell contains a host.
func (c *comparison) contains(h ir.Host, listen bool) func(hostCell) bool {
	named := slices.ContainsFunc(rules(c.old.Tool, c.new.Tool), func(r ir.NetRule) bool { return r.Listen == listen && r.Host == h })
	return func(cell hostCell) bool {
		switch {
		case cell.every:
			return h.Kind == ir.HostAddr && h.Addr.IsUnspecified() && !named
		case cell.loopback:
			return h.Kind == ir.HostAddr && h.Addr.IsLoopback() && !named
		case cell.pattern.Kind == ir.HostAny:
			return listen || !ir.OnlyNamed(h)
		default:
			return cell.pattern == h || covers(cell.pattern, h)
		}
	}
}

// coverAddresses checks the regions of addresses to listen at against every one of the universe.
func (c *comparison) coverAddresses(rt *rapid.T, wider bool) {
	n, tree := c.listenCells()
	if tree == nil {
		return
	}
	regions := n.only(tree, wider).regions()
	for _, h := range addresses() {
		in := c.contains(h, true)
		said, hits := "", 0
		for _, r := range regions {
			if in(r.item) && !slices.ContainsFunc(r.except, in) {
				said, hits = r.label, hits+1
			}
		}
		cell := &listenTree{item: hostCell{sample: h}}
		n.label(cell)
		if want := direction(cell.label, wider); said != want || hits > 1 {
			rt.Fatalf("%s: %d regions say %q, it is %q", h, hits, said, want)
		}
	}
}

// used is how much is looked at, and which credential is used, at the targets of a universe.
func used(v *ir.View, op ir.Connect) (inspected, opaque bool, credential string) {
	if r, ok := v.Decide(op).Rule.(*ir.NetRule); ok && r.Allow && r.Credential != nil && op.To.Scheme == "https" {
		credential = r.Credential.Env
	}
	reach := v.Reach(op.To)
	if op.To.Scheme != "https" || !reach.Allowed() {
		return false, false, credential
	}
	return v.Inspects(op.To), reach.Rule.(*ir.NetRule).Opaque, credential
}

// TestUsesAgainstBruteForce: changes of inspection and of credentials are found, and none is
// made up.
func TestUsesAgainstBruteForce(t *testing.T) {
	ops := targets()
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		a, b := closed(), closed()
		a.Net, b.Net = near(rt, drawUses)
		old, new := ir.NewView(a, ir.Linux, ir.Facts{}), ir.NewView(b, ir.Linux, ir.Facts{})
		want := map[Kind][2]bool{}
		note := func(k Kind, differs, wider bool) {
			w := want[k]
			w[btoi(wider)] = w[btoi(wider)] || differs
			want[k] = w
		}
		for _, op := range ops {
			to, ok := op.(ir.Connect)
			if !ok {
				continue
			}
			wasInspected, wasOpaque, was := used(old, to)
			isInspected, isOpaque, is := used(new, to)
			note(Credentials, was != is && was != "", false)
			note(Credentials, was != is && is != "", true)
			if old.Reach(to.To).Allowed() && new.Reach(to.To).Allowed() {
				note(Inspection, wasInspected != isInspected, wasInspected)
				note(Inspection, wasOpaque != isOpaque, isOpaque)
			}
		}
		ds := Policies(Policy{Tool: a}, Policy{Tool: b})
		for _, k := range []Kind{Inspection, Credentials} {
			of := slices.DeleteFunc(slices.Clone(ds), func(d Difference) bool { return d.Kind != k })
			if got, want := Sum(of), verdict(want[k][1], want[k][0]); got != want {
				rt.Fatalf("kind %d: got %v, brute force says %v\nold %+v\nnew %+v\n%+v", k, got, want, a.Net, b.Net, of)
			}
		}
	})
}

// drawUses draws rules with the fields that change how requests are treated.
func drawUses(t *rapid.T, n int) []ir.NetRule {
	out := drawNet(t, n)
	for i := range out {
		switch r := &out[i]; rapid.IntRange(0, 4).Draw(t, "use") {
		case 0:
			r.Inspect = true
		case 1:
			r.Opaque = true
		case 2:
			r.Inspect, r.Credential = true, &ir.Credential{Env: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "variable"), As: "header"}
		}
	}
	return out
}

// TestNetworkWords has the words for regions of methods, streams and listening, and for changes of
// inspection and credentials.
func TestNetworkWords(t *testing.T) {
	web := ir.NetRule{Host: host("a.test"), Scheme: "https", Allow: true}
	with := func(change func(*ir.NetRule)) ir.NetRule {
		r := web
		change(&r)
		return r
	}
	inspected := with(func(r *ir.NetRule) { r.Inspect = true })
	token := func(name string) ir.NetRule {
		return with(func(r *ir.NetRule) { r.Credential = &ir.Credential{Env: name, As: "header", Name: "Authorization"} })
	}
	listen := func(name string, port uint16, allow bool) ir.NetRule {
		return ir.NetRule{Host: host(name), Listen: true, Port: port, Allow: allow}
	}
	for _, c := range []struct {
		old, new []ir.NetRule
		want     string
	}{
		{nil, []ir.NetRule{with(func(r *ir.NetRule) { r.Methods = []string{"GET", "HEAD"} })},
			"+ connect a.test by https, port 443, GET, HEAD alone [] (connect GET https://a.test/)"},
		{[]ir.NetRule{web, with(func(r *ir.NetRule) { r.Methods = []string{"POST"}; r.Allow = false })}, []ir.NetRule{web},
			"+ connect a.test by https, port 443, POST alone [] (connect POST https://a.test/)"},
		{nil, []ir.NetRule{web, with(func(r *ir.NetRule) { r.Methods = []string{"POST"}; r.Allow = false })},
			"+ connect a.test by https, port 443, any method but POST [] (connect https://a.test/)"},
		{nil, []ir.NetRule{with(func(r *ir.NetRule) { r.Scheme, r.Port = ir.Stream, 22 }), with(func(r *ir.NetRule) { r.Path = []string{"v1"} })},
			"+ connect a.test by tcp, port 22 [] (connect tcp://a.test:22)\n+ connect a.test/v1 by https, port 443 [] (connect https://a.test/v1)"},
		// A rule about every host is not about this host, so one line cannot have both.
		{nil, []ir.NetRule{with(func(r *ir.NetRule) { r.Host = host("*") }), with(func(r *ir.NetRule) { r.Host = host("localhost") })},
			"+ connect * by https, port 443 [] (connect https://other.example/)\n+ connect localhost by https, port 443 [] (connect https://localhost/)"},
		{[]ir.NetRule{inspected}, []ir.NetRule{web}, "+ connect uninspected a.test, port 443 [] ()"},
		{[]ir.NetRule{inspected}, []ir.NetRule{with(func(r *ir.NetRule) { r.Methods = []string{"GET"} })},
			"- connect a.test by https, port 443, any method but GET [] (connect https://a.test/)\n+ connect uninspected a.test, port 443 [] ()"},
		{[]ir.NetRule{with(func(r *ir.NetRule) { r.Opaque = true })}, []ir.NetRule{web}, "- connect opaque a.test, port 443 [] ()"},
		{[]ir.NetRule{token("A")}, []ir.NetRule{token("B")}, "- use variable A as header Authorization a.test, port 443 [] ()\n" +
			"+ use variable B as header Authorization a.test, port 443 [] ()"},
		{[]ir.NetRule{web}, []ir.NetRule{token("A")}, "+ use variable A as header Authorization a.test, port 443 [] ()"},
		{nil, []ir.NetRule{listen("localhost", 0, true)}, "+ listen localhost, any port above 1023 [] (listen localhost:1024)"},
		{nil, []ir.NetRule{listen("*", 0, true), listen("*", 80, true), listen("*", 3000, false), listen("10.0.0.1", 0, false)},
			"+ listen *, any port above 1023 but 3000, 80 [10.0.0.1 every address at once] (listen 192.0.2.1:1024)\n" +
				"+ listen 10.0.0.1, port 80 [] (listen 10.0.0.1:80)\n+ listen every address at once, port 80 [] (listen 0.0.0.0:80)"},
		{[]ir.NetRule{listen("localhost", 80, true)}, []ir.NetRule{listen("localhost", 80, true), listen("127.0.0.1", 80, false)},
			"- listen 127.0.0.1, port 80 [] (listen 127.0.0.1:80)"},
		{[]ir.NetRule{{Host: host("*"), Allow: true}}, []ir.NetRule{{Host: host("*"), Allow: true}, {Host: host("localhost"), Port: 8080, Allow: true}},
			"+ connect localhost by tcp, port 8080 [] (connect tcp://localhost:8080)\n" +
				"+ connect localhost, port 8080 [] (connect https://localhost:8080/)"},
	} {
		a, b := closed(), closed()
		a.Net, b.Net = c.old, c.new
		var got []string
		for _, d := range Policies(Policy{Tool: a}, Policy{Tool: b}) {
			sign := "-"
			if d.Wider {
				sign = "+"
			}
			got = append(got, fmt.Sprintf("%s %s %s %v (%s)", sign, d.What, d.Where, d.Except, d.Example))
		}
		slices.SortFunc(got, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("got\n%s\nwant\n%s", text, c.want)
		}
	}
}
