package irtest

import (
	"cmp"
	"net/netip"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
)

// ports are few, so that rules and questions meet.
var ports = []uint16{0, 80, 443, 5432, 8080}

// Address is the host that an address is.
func Address(s string) ir.Host { return ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(s)} }

var (
	localhost = ir.Host{Kind: ir.HostName, Name: ir.Localhost}
	single    = []ir.Host{
		localhost, {Kind: ir.HostName, Name: "api.example.com"}, {Kind: ir.HostName, Name: "evil.test"}, Address("127.0.0.1"), Address("::1"),
		Address("10.0.0.5"), Address("2001:db8::1"),
	}
	patterns = append([]ir.Host{{Kind: ir.HostAny}, {Kind: ir.HostSuffix, Name: "example.com"}}, single...)
)

// NetRules generates up to n rules of the network, with any fields that the language lets a rule
// have beside each other.
func NetRules(t *rapid.T, n int) []ir.NetRule {
	rules := make([]ir.NetRule, rapid.IntRange(0, n).Draw(t, "net"))
	for i := range rules {
		r := &rules[i]
		r.Port = rapid.SampledFrom(ports).Draw(t, "port")
		r.Allow = rapid.IntRange(0, 2).Draw(t, "allow") > 0
		if r.Listen = rapid.IntRange(0, 4).Draw(t, "listen") == 0; r.Listen {
			r.Host = rapid.SampledFrom([]ir.Host{localhost, {Kind: ir.HostAny}, Address("127.0.0.1"), Address("10.0.0.5")}).Draw(t, "at")
			continue
		}
		r.Host = rapid.SampledFrom(patterns).Draw(t, "host")
		r.Scheme = rapid.SampledFrom([]string{"", "", "http", "https", "postgres", ir.Stream}).Draw(t, "scheme")
		if r.Scheme != ir.Stream && rapid.Bool().Draw(t, "finer") {
			drawFiner(t, r)
		}
	}
	return rules
}

// drawFiner gives a rule fields that are about requests.
func drawFiner(t *rapid.T, r *ir.NetRule) {
	if rapid.Bool().Draw(t, "path given") {
		r.Path = []string{"v1"}
	}
	if rapid.Bool().Draw(t, "methods given") {
		r.Methods = []string{"GET"}
	}
	if !r.Allow {
		return
	}
	switch rapid.IntRange(0, 3).Draw(t, "carried") {
	case 0:
		r.Opaque = true
	case 1:
		r.Inspect = true
	case 2:
		r.Inspect, r.Credential = true, &ir.Credential{Env: "TOKEN", As: "header", Name: "Authorization"}
	}
}

// NetOp generates a connection or a listener, half of them at the host, port and scheme of a
// rule.
func NetOp(t *rapid.T, rules []ir.NetRule) ir.Operation {
	near := ir.NetRule{}
	if len(rules) > 0 && rapid.Bool().Draw(t, "near") {
		near = rapid.SampledFrom(rules).Draw(t, "rule")
	}
	to := ir.Endpoint{Host: near.Host, Port: near.Port, Scheme: near.Scheme}
	if to.Host.Kind != ir.HostName && to.Host.Kind != ir.HostAddr {
		to.Host = rapid.SampledFrom(single).Draw(t, "to host")
	}
	to.Port = cmp.Or(to.Port, rapid.SampledFrom(ports).Draw(t, "to port"), 21)
	if near.Listen || rapid.IntRange(0, 4).Draw(t, "listens") == 0 {
		return ir.Listen{Host: to.Host, Port: to.Port}
	}
	to.Scheme = cmp.Or(to.Scheme, rapid.SampledFrom([]string{"", "http", "https", "postgres", ir.Stream}).Draw(t, "to scheme"))
	if to.Scheme == ir.Stream || rapid.Bool().Draw(t, "bare") {
		return ir.Connect{To: to}
	}
	to.Path = []string{rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "segment"), "x"}
	return ir.Connect{To: to, Method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method")}
}

// NetCell names the cell behind a verdict about a connection or listener.
func NetCell(rules []ir.NetRule, op ir.Operation, v ir.Verdict) (ir.RuleID, ir.Aspect) {
	aspect := ir.AspectConnect
	if _, ok := op.(ir.Listen); ok {
		aspect = ir.AspectListen
	}
	for i := range rules {
		if v.Rule == ir.Rule(&rules[i]) {
			if rules[i].Listen {
				aspect = ir.AspectListen
			}
			return ir.NetRuleID(i), aspect
		}
	}
	return ir.DefaultRule, aspect
}
