package egress

import (
	"github.com/accessc/accessc/ir"
)

// A Policy decides about requests.
type Policy interface {
	// Request decides about one request. The method is empty for a stream of bytes.
	Request(to ir.Endpoint, method string) ir.Verdict
	// Reach decides whether any request to a scheme, host and port is granted, whatever its
	// path and method.
	Reach(to ir.Endpoint) ir.Verdict
	// Named decides whether any request to a host is granted.
	Named(h ir.Host) ir.Verdict
	// Finer reports whether rules for a scheme, host and port tell paths or methods apart.
	Finer(to ir.Endpoint) bool
	// Inspects reports whether a rule for a host and port asks for TLS to be terminated.
	Inspects(to ir.Endpoint) bool
}

// Schemes that the proxy tells apart by the first bytes of a connection. A stream is any
// sequence of bytes.
const (
	schemeHTTP   = "http"
	schemeHTTPS  = "https"
	schemeStream = "tcp"
)

// rule returns the net rule behind a verdict, nil for none.
func rule(v ir.Verdict) *ir.NetRule {
	r, _ := v.Rule.(*ir.NetRule)
	return r
}

// reach returns the verdicts for the schemes that a connection to a host and port can turn out
// to carry, and the refusal to report if none is granted.
func reach(p Policy, h ir.Host, port uint16) (granted map[string]ir.Verdict, refused Refusal) {
	granted = map[string]ir.Verdict{}
	for _, scheme := range []string{schemeStream, schemeHTTP, schemeHTTPS} {
		to := ir.Endpoint{Scheme: scheme, Host: h, Port: port}
		v := p.Reach(to)
		if v.Allowed() {
			granted[scheme] = v
		}
		if scheme == schemeOf(port) || refused.Op == nil {
			refused = Refusal{Op: ir.Connect{To: to}, Verdict: v}
		}
	}
	return granted, refused
}

// schemeOf is the scheme whose default port this is, else a stream.
func schemeOf(port uint16) string {
	for _, s := range []string{schemeHTTP, schemeHTTPS} {
		if ir.DefaultPort(s) == port {
			return s
		}
	}
	return schemeStream
}
