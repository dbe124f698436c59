package irtest

import (
	"net/netip"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
)

// methods are those that rules and requests have.
var methods = []string{"GET", "HEAD", "POST"}

// ports are default ports, a privileged one, and one that any process may listen at.
var ports = []uint16{0, 80, 443, 22, 8080}

var (
	names    = []ir.Host{{Kind: ir.HostName, Name: "a.com"}, {Kind: ir.HostName, Name: "x.a.com"}, {Kind: ir.HostName, Name: ir.Localhost}}
	patterns = []ir.Host{{Kind: ir.HostAny}, {Kind: ir.HostSuffix, Name: "a.com"}}
	// addresses are private, loopback and public ones.
	addresses = addrs("10.0.0.5", "127.0.0.1", "::1", "2001:db8::1", "9.9.9.9")
)

func addrs(texts ...string) []ir.Host {
	var out []ir.Host
	for _, s := range texts {
		out = append(out, ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(s)})
	}
	return out
}

func oneOf[T any](t *rapid.T, what string, lists ...[]T) T {
	var all []T
	for _, l := range lists {
		all = append(all, l...)
	}
	return rapid.SampledFrom(all).Draw(t, what)
}

// NetRules generates up to n net rules, with the fields together that the compiler lets stand
// together.
func NetRules(t *rapid.T, n int) []ir.NetRule {
	var out []ir.NetRule
	for i := range rapid.IntRange(0, n).Draw(t, "net rules") {
		r := netRule(t)
		r.Written = r.Host.String()
		r.Origin = ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: i + 1, Col: 1}}
		out = append(out, r)
	}
	return out
}

func netRule(t *rapid.T) ir.NetRule {
	r := ir.NetRule{Allow: rapid.Bool().Draw(t, "allow"), Port: oneOf(t, "port", ports)}
	switch rapid.IntRange(0, 4).Draw(t, "kind of net rule") {
	case 0:
		r.Listen, r.Host = true, oneOf(t, "address", names[2:], patterns[:1], addresses)
		return r
	case 1:
		r.Scheme, r.Host = ir.Stream, oneOf(t, "host", names, patterns, addresses)
		r.Port = max(r.Port, 1)
		return r
	case 2:
		r.Host = oneOf(t, "host", names, patterns, addresses)
		r.Scheme = oneOf(t, "scheme", []string{"", "https"})
		r.Opaque = r.Allow
		return r
	}
	r.Host = oneOf(t, "host", names, patterns, addresses)
	r.Scheme = oneOf(t, "scheme", []string{"", "https", "http"})
	r.Path = rapid.SampledFrom([][]string{nil, {"p"}, {"p", "q"}}).Draw(t, "path")
	r.Inspect = r.Scheme != "http" && rapid.Bool().Draw(t, "inspect")
	if r.Inspect || r.Scheme == "http" {
		r.Methods = rapid.SampledFrom([][]string{nil, {"GET"}, {"GET", "HEAD"}, {"POST"}}).Draw(t, "methods")
	}
	if r.Inspect && r.Allow && r.Host.Kind != ir.HostAny && rapid.Bool().Draw(t, "credential") {
		r.Credential = credential(t)
	}
	return r
}

func credential(t *rapid.T) *ir.Credential {
	return rapid.SampledFrom([]*ir.Credential{
		{Env: "TOKEN", As: "header", Name: "Authorization"}, {File: "~/.config/token", As: "basic"},
		{Command: []string{"pass", "show", "a b"}, As: "query", Name: "key"},
	}).Draw(t, "which credential")
}

// NetOperation generates a connection, a request or listening about which NetRules say something.
func NetOperation(t *rapid.T) ir.Operation {
	port := oneOf(t, "port", ports, []uint16{9})
	if rapid.IntRange(0, 3).Draw(t, "listen") == 0 {
		return ir.Listen{Host: oneOf(t, "address", names[2:], addresses, addrs("::", "0.0.0.0")), Port: port}
	}
	to := ir.Endpoint{Scheme: oneOf(t, "scheme", []string{"https", "http", ir.Stream}), Port: port}
	to.Host = oneOf(t, "host", names, addresses, []ir.Host{{Kind: ir.HostName, Name: "invalid"}, {Kind: ir.HostName, Name: "y.x.a.com"}})
	if to.Scheme == ir.Stream {
		return ir.Connect{To: to}
	}
	to.Path = rapid.SampledFrom([][]string{nil, {"p"}, {"p", "q", "r"}}).Draw(t, "path of the request")
	return ir.Connect{To: to, Method: oneOf(t, "method", methods, []string{"", "DELETE"})}
}
