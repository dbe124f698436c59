package seatbelt

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

// extent is how far a profile opens a port for listening.
type extent uint8

const (
	shut extent = iota
	// ownMachine is "localhost", which takes every address that the machine has: the system
	// decides only by the local address (bazelbuild/bazel, pull 30865).
	ownMachine
	everyAddress
)

// listening is where a profile lets connections be accepted.
// See decision D117.
type listening struct {
	view *ir.View
	// named are the ports that rules name.
	named []uint16
	at    map[uint16]extent
	// rest is the decision of all other ports, which a profile cannot tell apart.
	rest extent
	// hosts are the hosts that decisions could differ for: the hosts of the rules, and others.
	hosts []ir.Host
	// free is an address that no rule names.
	free ir.Host
}

// opListen are binding a socket and accepting at it, which the system asks one by one.
var opListen = []string{"network-bind", "network-inbound"}

func listened(v *ir.View) *listening {
	l := &listening{view: v, at: map[uint16]extent{}}
	l.hosts = []ir.Host{localName, addressOf(netip.AddrFrom4([4]byte{127, 0, 0, 1})), addressOf(netip.IPv6Loopback())}
	for i := range v.Tool.Net {
		if r := &v.Tool.Net[i]; r.Listen {
			if r.Port != 0 {
				l.named = insert(l.named, r.Port)
			}
			l.hosts = append(l.hosts, r.Host)
		}
	}
	l.free = addressOf(netip.AddrFrom4([4]byte{192, 0, 2, 1}))
	for slices.Contains(l.hosts, l.free) {
		l.free = addressOf(l.free.Addr.Next())
	}
	l.hosts = append(slices.DeleteFunc(l.hosts, func(h ir.Host) bool { return h.Kind == ir.HostAny }), l.free)
	l.rest = l.extent(0)
	for _, port := range l.named {
		l.at[port] = l.extent(port)
	}
	return l
}

func addressOf(a netip.Addr) ir.Host { return ir.Host{Kind: ir.HostAddr, Addr: a} }

// extent asks the policy about a port at every address that it could decide differently about. A
// rule that denies at an own address closes the port, and at another address leaves it to the rules
// that are about the own machine.
func (l *listening) extent(port uint16) extent {
	every, local := true, false
	for _, h := range l.hosts {
		v := l.view.Decide(ir.Listen{Host: h, Port: port})
		r, _ := v.Rule.(*ir.NetRule)
		every = every && v.Allowed()
		if own(h) && r != nil && !v.Allowed() {
			return shut
		}
		local = local || own(h) && r != nil && own(r.Host)
	}
	switch {
	case every:
		return everyAddress
	case local:
		return ownMachine
	default:
		return shut
	}
}

// write writes the ports that no rule names first, since "*" as a port has the others in it.
func (l *listening) write(w *writer) {
	star := func(x extent, port string) {
		switch x {
		case everyAddress:
			w.allow(opListen, [][]string{{address("local", "*", port)}})
		case ownMachine:
			w.allow(opListen, [][]string{{address("local", "localhost", port)}})
		case shut:
		}
	}
	star(l.rest, "*")
	for _, port := range l.named {
		one := addresses("local", "*", port)
		if l.rest > l.at[port] {
			w.deny("net", opListen, one)
		}
		if l.rest != l.at[port] {
			star(l.at[port], strconv.Itoa(int(port)))
		}
	}
}

// held says how one rule about listening is held.
func (l *listening) held(r *ir.NetRule) ir.Held {
	switch {
	case !l.decides(r, r.Port):
		return backends.Exact // another rule has all of its own
	case !r.Allow:
		return backends.When(!own(r.Host) && l.exposes(r), backends.Weaker(ir.GapNetListen, start.WhyListenOwn))
	}
	x, disputed := l.rest, false
	if r.Port != 0 {
		x = l.at[r.Port]
	} else {
		disputed = slices.ContainsFunc(l.high(), func(p uint16) bool { return l.at[p] < x && l.decides(r, p) })
	}
	return backends.Join(
		l.open(r, x), backends.When(disputed, backends.Stricter(start.WhyListenDispute)),
		backends.Stricter(start.WhyListenConnect),
	)
}

// decides reports whether a rule has the last word about a port at its own host.
func (l *listening) decides(r *ir.NetRule, port uint16) bool {
	asked := r.Host
	if asked.Kind == ir.HostAny {
		asked = l.free
	}
	return l.view.Decide(ir.Listen{Host: asked, Port: port}).Rule == ir.Rule(r)
}

// firstHigh is the lowest port that a rule without a port is about (see ir.NetRule).
const firstHigh = 1024

// high are the ports that rules name and that rules without a port are about as well.
func (l *listening) high() []uint16 {
	i, _ := slices.BinarySearch(l.named, firstHigh)
	return l.named[i:]
}

// open says how an allowing rule is held whose ports open so far.
func (l *listening) open(r *ir.NetRule, x extent) ir.Held {
	low := backends.When(r.Port == 0, backends.Weaker(ir.GapNetListen, start.WhyListenLow))
	switch {
	case x == everyAddress:
		return low
	case own(r.Host) && x == ownMachine:
		return backends.Join(backends.Weaker(ir.GapNetListen, start.WhyListenOwn), low,
			backends.Stricter(start.WhyListenMapped))
	case own(r.Host) || r.Host.Kind == ir.HostAny:
		return backends.Stricter(start.WhyListenDispute)
	default:
		return backends.Stricter(start.WhyListenAddress)
	}
}

// exposes reports whether a port that a denying rule is about is open on the machine's addresses.
func (l *listening) exposes(r *ir.NetRule) bool {
	if r.Port != 0 {
		return l.at[r.Port] == ownMachine
	}
	return l.rest == ownMachine || slices.ContainsFunc(l.high(), func(p uint16) bool { return l.at[p] == ownMachine })
}

// byDefault says how listening at places that no rule is about is held.
func (l *listening) byDefault() ir.Held {
	local := l.rest == ownMachine
	for _, x := range l.at {
		local = local || x == ownMachine
	}
	return backends.Join(
		backends.When(local, backends.Weaker(ir.GapNetListen, start.WhyListenOwn)),
		backends.When(l.rest != shut, backends.Weaker(ir.GapNetListen, start.WhyListenLow)),
	)
}
