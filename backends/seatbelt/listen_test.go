package seatbelt

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/sbpl"
)

func drawListen(t *rapid.T) ir.NetRule {
	return ir.NetRule{
		Listen: true,
		Host: rapid.SampledFrom([]ir.Host{
			host("localhost"), host("localhost"), {Kind: ir.HostAny}, addr("127.0.0.1"), addr("::1"), addr("127.0.0.2"), addr("192.168.1.7"),
		}).Draw(t, "listen host"),
		Port:  rapid.SampledFrom([]uint16{0, 0, 80, 3000, 8080}).Draw(t, "listen port"),
		Allow: rapid.IntRange(0, 2).Draw(t, "listen allow") > 0,
	}
}

// TestListeningAgainstPolicy holds the ports at which the tool may listen against the policy. An
// address is asked under its own name; localhost is one of the two loopback addresses.
func TestListeningAgainstPolicy(t *testing.T) {
	const per = 30
	seen := map[string]int{}
	irtest.Check(t, 2500, per, func(rt *rapid.T) {
		// Rules about a port of all addresses, and of an address that is not the machine's own, hardly ever meet their
		// questions.
		every := ir.NetRule{Listen: true, Host: ir.Host{Kind: ir.HostAny}, Port: 9001, Allow: true}
		lan := ir.NetRule{Listen: true, Host: addr("192.168.1.7"), Port: 9002, Allow: true}
		c := drawNetwork(rt, seen, given(rt, every, lan)...)
		for i := range per {
			at := rapid.SampledFrom([]string{"localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "192.168.1.7", "10.0.0.9"}).Draw(rt, "at")
			op := ir.Listen{Host: host(at), Port: rapid.SampledFrom([]uint16{0, 80, 443, 3000, 8080, 9000}).Draw(rt, "port")}
			if i < 2 {
				at, op.Port = "192.168.1.7", []uint16{every.Port, lan.Port}[i]
			}
			local := sbpl.Address{Protocol: "tcp", Port: op.Port, Addr: netip.MustParseAddr("127.0.0.1"), Own: true}
			if at != "localhost" {
				op.Host = addr(at)
				local.Addr = op.Host.Addr
			}
			binds := c.allows(rt, opListen[0], sbpl.Request{Local: &local})
			if accepts := c.allows(rt, opListen[1], sbpl.Request{Local: &local}); accepts != binds {
				rt.Fatalf("%+v: binds %v, accepts %v\n%s", op, binds, accepts, c.text)
			}
			strict := func(r ir.Row) bool {
				return r.Cites(start.WhyListenDispute) || r.Cites(start.WhyListenAddress)
			}
			c.compare(rt, op, c.view.Decide(op), binds, permitsMore, strict, ir.AspectListen)
			c.connectsToOwn(rt, op, local)
		}
	})
	irtest.Happened(t, seen, "listen true true stricter", "listen true true weaker", "listen true false stricter",
		"listen false true weaker", "listen false false exact")
}

// connectsToOwn compares a connection to a port where the tool itself listens.
func (c *networkCase) connectsToOwn(t *rapid.T, op ir.Listen, to sbpl.Address) {
	if op.Port == 0 || to.Addr.IsUnspecified() {
		return
	}
	v := c.view.Decide(ir.Connect{To: ir.Endpoint{Host: op.Host, Port: op.Port}, Own: true})
	passes := c.allows(t, opConnect, sbpl.Request{Remote: &to})
	strict := func(r ir.Row) bool { return r.Cites(start.WhyListenConnect) || r.Cites(start.WhyProxy) }
	weak := func(r ir.Row) bool { return permitsMore(r) || permitsMore(c.row(nil, ir.AspectConnect)) }
	c.compare(t, op, v, passes, weak, strict, ir.AspectConnect)
}

// TestListeningCells is the mapping table.
func TestListeningCells(t *testing.T) {
	allow := func(h ir.Host, port uint16) ir.NetRule {
		return ir.NetRule{Host: h, Port: port, Listen: true, Allow: true}
	}
	deny := func(h ir.Host, port uint16) ir.NetRule { return ir.NetRule{Host: h, Port: port, Listen: true} }
	every, local, lan := ir.Host{Kind: ir.HostAny}, host("localhost"), addr("192.168.1.7")
	connect := backends.Stricter(start.WhyListenConnect)
	onOwn := backends.Weaker(ir.GapNetListen, start.WhyListenOwn)
	ofOwn := backends.Weaker(ir.GapNetListen, start.WhyListenOwn, start.WhyListenMapped, start.WhyListenConnect)
	low := backends.Weaker(ir.GapNetListen, start.WhyListenLow)
	disputed := backends.Stricter(start.WhyListenDispute, start.WhyListenConnect)
	closed := backends.Stricter(start.WhyListenAddress, start.WhyListenConnect)
	for _, c := range []struct {
		name  string
		rules []ir.NetRule
		text  string
		// cells are the cells of the rules, and the cell of the rest.
		cells []ir.Held
	}{
		{"nothing", nil, "", []ir.Held{backends.Exact}},
		{"a port of the own machine", []ir.NetRule{allow(local, 8080)}, `allow "localhost:8080"`, []ir.Held{ofOwn, onOwn}},
		{"a port of one own address", []ir.NetRule{allow(addr("127.0.0.1"), 8080)}, `allow "localhost:8080"`, []ir.Held{ofOwn, onOwn}},
		{"a port", []ir.NetRule{allow(every, 8080)}, `allow "*:8080"`, []ir.Held{connect, backends.Exact}},
		{"any port of the own machine", []ir.NetRule{allow(local, 0)}, `allow "localhost:*"`, []ir.Held{
			backends.Weaker(ir.GapNetListen, start.WhyListenOwn, start.WhyListenLow, start.WhyListenMapped, start.WhyListenConnect),
			backends.Weaker(ir.GapNetListen, start.WhyListenOwn, start.WhyListenLow),
		}},
		{"any port", []ir.NetRule{allow(every, 0)}, `allow "*:*"`, []ir.Held{backends.Join(low, connect), low}},
		{"an address", []ir.NetRule{allow(lan, 8080)}, "", []ir.Held{closed, backends.Exact}},
		{"all but an address", []ir.NetRule{allow(every, 8080), deny(lan, 8080)}, "", []ir.Held{disputed, backends.Exact, backends.Exact}},
		{"any port but one", []ir.NetRule{allow(every, 0), deny(every, 8080)}, `allow "*:*" deny "*:8080"`,
			[]ir.Held{backends.Join(low, connect), backends.Exact, low}},
		{"any port, one of them not at an address", []ir.NetRule{allow(every, 0), deny(lan, 8080)}, `allow "*:*" deny "*:8080"`,
			[]ir.Held{backends.Join(low, disputed), backends.Exact, low}},
		{"any port, one of them here", []ir.NetRule{allow(every, 0), deny(every, 8080), allow(local, 8080)},
			`allow "*:*" deny "*:8080" allow "localhost:8080"`, []ir.Held{backends.Join(low, connect), onOwn, ofOwn, backends.Join(onOwn, low)}},
		{"the own machine, and an address denied", []ir.NetRule{allow(local, 8080), deny(lan, 8080)}, `allow "localhost:8080"`,
			[]ir.Held{ofOwn, onOwn, onOwn}},
		{"denied, then allowed", []ir.NetRule{deny(local, 8080), allow(local, 8080)}, `allow "localhost:8080"`, []ir.Held{backends.Exact, ofOwn, onOwn}},
		{"all but the own machine", []ir.NetRule{allow(every, 8080), deny(local, 8080)}, "", []ir.Held{disputed, backends.Exact, backends.Exact}},
	} {
		view := ir.NewView(&ir.Tool{Net: c.rules}, ir.Darwin, ir.Facts{})
		l := listened(view)
		w := &writer{tool: "t"}
		l.write(w)
		if got := listens(w.String()); got != c.text {
			t.Errorf("%s: got %s, want %s", c.name, got, c.text)
		}
		for i := range c.rules {
			if got := l.held(&view.Tool.Net[i]); !got.Equal(c.cells[i]) {
				t.Errorf("%s: net[%d] got %+v, want %+v", c.name, i, got, c.cells[i])
			}
		}
		if got, want := l.byDefault(), c.cells[len(c.rules)]; !got.Equal(want) {
			t.Errorf("%s: the rest got %+v, want %+v", c.name, got, want)
		}
	}
}

var statementForm = regexp.MustCompile(`\((allow|deny) network-bind network-inbound\s+\(local tcp ("[^"]*")\)`)

// listens returns the actions and addresses of statements about listening.
func listens(text string) string {
	var out []string
	for _, m := range statementForm.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1]+" "+m[2])
	}
	return strings.Join(out, " ")
}
