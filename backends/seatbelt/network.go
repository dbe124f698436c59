package seatbelt

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

// A filter for a connection has one of two hosts, "localhost" and "*", and a port;
// anything else refuses the whole profile ("host must be * or localhost in network
// address"). So a profile opens ports of the own machine by itself; every other host is
// reached through the proxy of the run, which is at a port of the own machine.
// See decision D117.

// openings are the ports to connect to that a profile opens.
type openings struct {
	rules []ir.NetRule
	// own are the ports of the own machine that are open.
	own []uint16
	// proxied is true where some rule is of use only through the proxy.
	proxied bool
}

// opened decides which ports open. A port stays closed when a rule that denies could match a
// connection to it and the profile cannot distinguish that connection; the proxy can.
// See decision D71.
func opened(t *ir.Tool) *openings {
	o := &openings{rules: t.Net}
	for i := range t.Net {
		r := &t.Net[i]
		switch {
		case !r.Allow || r.Listen || plain(r) && !o.wins(i):
		case ownPlain(r) && r.Credential == nil && !o.disputed(r.Port):
			o.own = insert(o.own, r.Port)
		default:
			o.proxied = true
		}
	}
	return o
}

var localName = ir.Host{Kind: ir.HostName, Name: ir.Localhost}

func insert(ports []uint16, port uint16) []uint16 {
	if i, ok := slices.BinarySearch(ports, port); !ok {
		return slices.Insert(ports, i, port)
	}
	return ports
}

// plain reports whether a rule is about a port and nothing that a profile cannot see.
func plain(r *ir.NetRule) bool {
	return r.Port != 0 && r.Scheme == "" && len(r.Path) == 0 && len(r.Methods) == 0 && !r.Inspect
}

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

func ownPlain(r *ir.NetRule) bool { return own(r.Host) && plain(r) }

// wins reports whether no later rule takes everything that a plain rule matches.
func (o *openings) wins(i int) bool {
	return !slices.ContainsFunc(o.rules[i+1:], func(r ir.NetRule) bool {
		return !r.Listen && plain(&r) && r.Host == o.rules[i].Host && r.Port == o.rules[i].Port
	})
}

// disputed reports whether some rule denies a connection to a port of the own machine.
func (o *openings) disputed(port uint16) bool {
	for i := range o.rules {
		r := &o.rules[i]
		if !r.Allow && !r.Listen && own(r.Host) && backends.MayMatch(r, port) && (!plain(r) || o.wins(i)) {
			return true
		}
	}
	return false
}

// direct reports whether the port of an allowing rule is open without the proxy.
func (o *openings) direct(r *ir.NetRule) bool {
	return own(r.Host) && r.Port != 0 && slices.Contains(o.own, r.Port)
}

// network writes the ports that open. Names are resolved by the proxy, so the resolver's
// socket (mDNSResponder(8)), which is a way out by itself, stays closed.
func (p *profile) network(w *writer) {
	o := opened(p.tool)
	connect := []string{opConnect}
	if o.proxied {
		w.allow(connect, [][]string{{`(remote tcp (string-append "localhost:" (param "` + start.ParamProxy + `")))`}})
	}
	w.allow(connect, addresses("remote", "localhost", o.own...))
	listened(p.view).write(w)
}

// addresses writes a filter for each port at an end of a connection.
func addresses(end, host string, ports ...uint16) [][]string {
	var lines [][]string
	for _, port := range ports {
		lines = append(lines, []string{address(end, host, strconv.Itoa(int(port)))})
	}
	return lines
}

func address(end, host, port string) string {
	return "(" + end + " tcp " + start.Quote(host+":"+port) + ")"
}
