package backends

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// An egress proxy tells HTTP, TLS and other bytes apart, and looks no further where a rule has it
// pass them. The functions here say for which rules that matters.

// Carried reports whether the proxy takes a connection as a connection of a scheme. It tells HTTP and TLS apart, and
// passes other bytes for a rule with the scheme of streams; a rule without a scheme is about others as well.
func Carried(scheme string) bool {
	return slices.Contains([]string{"http", "https", ir.Stream}, scheme)
}

// MayMatch reports whether a rule could match some connection to a port.
func MayMatch(r *ir.NetRule, port uint16) bool {
	if r.Port != 0 {
		return r.Port == port
	}
	if r.Scheme != "" {
		return ir.DefaultPort(r.Scheme) == port
	}
	return slices.ContainsFunc([]string{"http", "https", "ftp"}, func(scheme string) bool {
		return ir.DefaultPort(scheme) == port
	})
}

// Streams reports whether connections that a denying rule is about can pass as others at which the
// proxy does not look.
func Streams(r *ir.NetRule, all []ir.NetRule) bool {
	return beside(r, all, func(a *ir.NetRule) bool {
		return a.Opaque || a.Scheme == ir.Stream && r.Scheme != ir.Stream
	})
}

// Unseen reports whether requests that a rule tells from others are encrypted on their way through
// the proxy.
func Unseen(r *ir.NetRule, all []ir.NetRule) bool {
	return (len(r.Path) > 0 || len(r.Methods) > 0) && Secured(r) && beside(r, all, Secured)
}

// Secured reports whether a rule is about connections whose requests are encrypted on their way
// through the proxy.
func Secured(r *ir.NetRule) bool { return (r.Scheme == "" || r.Scheme == "https") && !r.Inspect }

// beside reports whether a rule of a kind allows some connection to a host and port that r is
// about.
func beside(r *ir.NetRule, all []ir.NetRule, kind func(*ir.NetRule) bool) bool {
	return slices.ContainsFunc(all, func(a ir.NetRule) bool {
		return a.Allow && !a.Listen && kind(&a) && (a.Port == 0 || MayMatch(r, a.Port)) && meets(r.Host, a.Host)
	})
}

// meets reports whether some host can match both patterns.
func meets(a, b ir.Host) bool {
	pattern := func(h ir.Host) bool { return h.Kind == ir.HostSuffix || h.Kind == ir.HostAny }
	local := func(h ir.Host) bool {
		return h.Kind == ir.HostName && h.Name == ir.Localhost || h.Kind == ir.HostAddr && h.Addr.IsLoopback()
	}
	return a == b || pattern(a) || pattern(b) || local(a) && local(b)
}
