package seatbelt

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

// A filter for a connection has one of two hosts, "localhost" and "*", and a port;
// anything else refuses the whole profile ("host must be * or localhost in network
// address"). So of a policy's network rules those about a port of the own machine,
// or of every host, can be written if they name no scheme and no path.

// resolver is the socket by which names are resolved (mDNSResponder(8)).
const resolver = "/private/var/run/mDNSResponder"

// openings are the ports that a profile opens.
type openings struct {
	rules []ir.NetRule
	// every are the ports open to every host, own those open to the own machine.
	every, own []uint16
	// shut are ports of every that are closed to the own machine.
	shut []uint16
}

// opened decides which ports open. A port stays closed when a rule that denies could match a
// connection to it and the profile cannot distinguish that connection.
// See RATIONALE D71.
func opened(t *ir.Tool) *openings {
	o := &openings{rules: t.Net}
	for i := range t.Net {
		r := &t.Net[i]
		switch {
		case !r.Allow || !plain(r) || !o.wins(i):
		case r.Host.Kind == ir.HostAny && !o.disputed(r.Port, nil, ownPlain):
			o.every = insert(o.every, r.Port)
		case own(r.Host) && !o.disputed(r.Port, ownHost, nil):
			o.own = insert(o.own, r.Port)
		}
	}
	for i := range t.Net {
		// A wildcard of the policy matches the name, and no address of the machine.
		r := &t.Net[i]
		if !r.Allow && plain(r) && r.Host == localName && o.wins(i) && slices.Contains(o.every, r.Port) {
			o.shut = insert(o.shut, r.Port)
		}
	}
	return o
}

var localName = ir.Host{Kind: ir.HostName, Name: "localhost"}

func insert(ports []uint16, port uint16) []uint16 {
	if i, ok := slices.BinarySearch(ports, port); !ok {
		return slices.Insert(ports, i, port)
	}
	return ports
}

// plain reports whether a rule is about a port and nothing that a profile cannot see.
func plain(r *ir.NetRule) bool { return r.Port != 0 && r.Scheme == "" && len(r.Path) == 0 }

// own reports whether a host is one of the names of the own machine.
func own(h ir.Host) bool {
	switch h.Kind {
	case ir.HostName:
		return h == localName
	case ir.HostAddr:
		return h.Addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || h.Addr == netip.IPv6Loopback()
	case ir.HostSuffix, ir.HostAny:
		return false
	default:
		return false
	}
}

func ownHost(r *ir.NetRule) bool { return own(r.Host) }

func ownPlain(r *ir.NetRule) bool { return own(r.Host) && plain(r) }

// wins reports whether no later rule takes everything that a plain rule matches.
func (o *openings) wins(i int) bool {
	return !slices.ContainsFunc(o.rules[i+1:], func(r ir.NetRule) bool {
		return plain(&r) && r.Host == o.rules[i].Host && r.Port == o.rules[i].Port
	})
}

// disputed reports whether some rule denies a connection to a port. Only rules for which among
// is true count, and none for which except is; nil means no such limit.
func (o *openings) disputed(port uint16, among, except func(*ir.NetRule) bool) bool {
	for i := range o.rules {
		r := &o.rules[i]
		if r.Allow || !mayMatch(r, port) || among != nil && !among(r) || except != nil && except(r) {
			continue
		}
		if !plain(r) || o.wins(i) {
			return true
		}
	}
	return false
}

// mayMatch reports whether a rule could match some connection to a port.
func mayMatch(r *ir.NetRule, port uint16) bool {
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

// reaches reports whether every connection that an allowing rule matches passes.
func (o *openings) reaches(r *ir.NetRule) bool {
	if r.Port == 0 {
		return false
	}
	every := slices.Contains(o.every, r.Port)
	if own(r.Host) {
		return slices.Contains(o.own, r.Port) || every && !slices.Contains(o.shut, r.Port)
	}
	return every
}

// network writes the ports that open. To reach a host by its name, programs ask the
// resolver's socket; that is a way out by itself, so it opens only where every host
// may be reached anyway.
func (p *profile) network(w *writer) {
	o := opened(p.tool)
	remote := func(host string, ports []uint16) [][]string {
		var lines [][]string
		for _, port := range ports {
			lines = append(lines, []string{"(remote tcp " + start.Quote(host+":"+strconv.Itoa(int(port))) + ")"})
		}
		return lines
	}
	connect := []string{opConnect}
	if len(o.every) > 0 {
		w.allow(connect, [][]string{{literal(place{text: resolver})}})
	}
	w.allow(connect, remote("*", o.every))
	w.deny("net", connect, remote("localhost", o.shut))
	w.allow(connect, remote("localhost", o.own))
}
