package ir_test

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// drawMayHosts are rules as access.may takes them: without parts of a host.
func drawMayHosts(t *rapid.T) []ir.NetRule {
	var out []ir.NetRule
	for _, r := range irtest.NetRules(t, 5) {
		if !r.Listen {
			out = append(out, ir.NetRule{Host: r.Host, Scheme: r.Scheme, Port: r.Port, Allow: r.Allow})
		}
	}
	return out
}

// drawConnect is a connection near the rules of a tool.
func drawConnect(t *rapid.T, tool *ir.Tool) ir.Connect {
	rules := slices.DeleteFunc(slices.Concat(tool.Net, tool.MayNet, tool.MayNet), func(r ir.NetRule) bool { return r.Listen })
	op, ok := irtest.NetOp(t, rules).(ir.Connect)
	if !ok {
		return ir.Connect{}
	}
	op.Own = false
	return op
}

// TestLiveHosts compares granted views with the definition: the permissions of the policy, and the
// requests that a granted rule and the list both allow.
func TestLiveHosts(t *testing.T) {
	var lent atomic.Int64
	irtest.Check(t, 1000, 20, func(rt *rapid.T) {
		tool := irtest.Tool(rt, irtest.Plain, 2)
		tool.Net, tool.MayNet = irtest.NetRules(rt, 4), drawMayHosts(rt)
		given := drawMayHosts(rt)
		if len(tool.MayNet) > 0 {
			given = append(given, rapid.SampledFrom(tool.MayNet).Draw(rt, "granted as listed"))
		}
		for i := range given {
			given[i].Allow = true
		}
		live := ir.NewLive(tool, ir.Linux, ir.Facts{})
		view := live.With(ir.Given{Net: given})
		may := ir.NewView(&ir.Tool{Net: tool.MayNet}, ir.Linux, ir.Facts{})
		granted := ir.NewView(&ir.Tool{Net: given}, ir.Linux, ir.Facts{})
		for range 20 {
			op := drawConnect(rt, tool)
			bare := ir.Connect{To: ir.Endpoint{Scheme: op.To.Scheme, Host: op.To.Host, Port: op.To.Port}}
			extra := op.To.Scheme != "" && may.Decide(bare).Allowed() && granted.Decide(bare).Allowed()
			own := live.Own().Decide(op).Allowed()
			got := view.Decide(op)
			if got.Allowed() != (own || extra) {
				rt.Fatalf("%+v: %+v, own %v, extra %v\nmay %v\ngiven %v", op, got, own, extra, tool.MayNet, given)
			}
			if live.Lent(got) != (extra && !own) {
				rt.Fatalf("%+v: lent is %v", op, live.Lent(got))
			}
			if extra && !own {
				lent.Add(1)
				if !view.Reach(bare.To).Allowed() || !view.Named(op.To.Host).Allowed() {
					rt.Fatalf("%+v is granted, and not reached or named", op)
				}
			}
		}
	})
	if lent.Load() == 0 {
		t.Error("no grant was of effect")
	}
}

// TestLiveAskHosts: a question is asked exactly if the policy denies a request and the list permits it, and its
// grant permits the request, and nothing of another host or port.
func TestLiveAskHosts(t *testing.T) {
	var asked atomic.Int64
	irtest.Check(t, 1000, 20, func(rt *rapid.T) {
		tool := irtest.Tool(rt, irtest.Plain, 2)
		tool.Net, tool.MayNet = irtest.NetRules(rt, 4), drawMayHosts(rt)
		live := ir.NewLive(tool, ir.Linux, ir.Facts{})
		now := live.With(ir.Given{})
		may := ir.NewView(&ir.Tool{Net: tool.MayNet}, ir.Linux, ir.Facts{})
		for range 20 {
			op, other := drawConnect(rt, tool), drawConnect(rt, tool)
			bare := ir.Connect{To: ir.Endpoint{Scheme: op.To.Scheme, Host: op.To.Host, Port: op.To.Port}}
			q, ok := live.Ask(now, ir.Given{}, op)
			want := !now.Decide(op).Allowed() && op.To.Scheme != "" && may.Decide(bare).Allowed()
			if ok != want {
				rt.Fatalf("%+v: asked %v, want %v\nmay %v", op, ok, want, tool.MayNet)
			}
			if !ok {
				continue
			}
			asked.Add(1)
			granted := live.With(q.Grants)
			// A rule on localhost is about the loopback addresses as well.
			local := op.To.Host.Name == ir.Localhost && other.To.Host.Kind == ir.HostAddr
			elsewhere := other.To.Host != op.To.Host && !local || other.To.Port != op.To.Port
			if !granted.Decide(op).Allowed() || elsewhere && granted.Decide(other).Allowed() != now.Decide(other).Allowed() {
				rt.Fatalf("%+v grants %+v; %+v", op, q.Grants, other)
			}
		}
	})
	if asked.Load() == 0 {
		t.Error("nothing was asked")
	}
}

// A grant that leaves the scheme open names a host for which the list gives a scheme.
func TestLiveHostsNamed(t *testing.T) {
	tool, host := ir.NewTool("t"), ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("2001:db8::1")}
	tool.MayNet = []ir.NetRule{{Host: host, Scheme: "postgres", Port: 5432, Allow: true}}
	given := ir.Given{Net: []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Port: 5432, Allow: true}}}
	if v := ir.NewLive(tool, ir.Linux, ir.Facts{}).With(given).Named(host); !v.Allowed() {
		t.Errorf("got %+v", v)
	}
}

// TestLiveHostsWhole: the whole rule covers what the rule is about, but not what the list takes out, nor addresses
// that only a rule of their own names.
func TestLiveHostsWhole(t *testing.T) {
	name := func(s string) ir.Host { return ir.Host{Kind: ir.HostName, Name: s} }
	tool := ir.NewTool("t")
	tool.MayNet = []ir.NetRule{
		{Host: ir.Host{Kind: ir.HostSuffix, Name: "example.com"}, Allow: true}, {Host: name("private.example.com")},
		{Host: ir.Host{Kind: ir.HostAny}, Scheme: "https", Allow: true},
	}
	live := ir.NewLive(tool, ir.Linux, ir.Facts{})
	to := func(scheme string, h ir.Host, port uint16) ir.Connect {
		return ir.Connect{To: ir.Endpoint{Scheme: scheme, Host: h, Port: port}}
	}
	q, ok := live.Ask(live.With(ir.Given{}), ir.Given{}, to("https", name("a.example.com"), 443))
	if !ok {
		t.Fatal("not asked")
	}
	whole, all := live.With(live.Whole(q.By)), live.With(live.Whole(&tool.MayNet[2]))
	for _, c := range []struct {
		view *ir.View
		op   ir.Connect
		want bool
	}{
		{whole, to("https", name("b.example.com"), 443), true},
		{whole, to("http", name("b.example.com"), 80), true},
		{whole, to("https", name("b.example.com"), 8443), false},
		{whole, to(ir.Stream, name("b.example.com"), 443), false},
		{whole, to("https", name("private.example.com"), 443), false},
		{whole, to("https", name("example.org"), 443), false},
		{whole, to("", name("b.example.com"), 443), false},
		{all, to("https", name("example.org"), 443), true},
		{all, to("https", ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("10.0.0.1")}, 443), false},
		{all, to("https", ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("169.254.169.254")}, 443), false},
	} {
		if got := c.view.Decide(c.op); got.Allowed() != c.want {
			t.Errorf("%+v: %+v", c.op, got)
		}
	}
}
