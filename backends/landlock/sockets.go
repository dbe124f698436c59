package landlock

import (
	"net/netip"
	"slices"

	"github.com/accessc/accessc/ir"
)

// internet says which sockets of the internet a supervised tool can have.
type internet struct {
	// connect is set where addresses may be connected to, listen where connections may be
	// accepted, egress where hosts are known by name.
	connect, listen, egress bool
}

func (s *Supervision) internet() internet {
	return internet{connect: s.Connect != nil, listen: s.Listen, egress: s.Egress}
}

// tcp reports whether the tool can have TCP sockets.
func (n internet) tcp() bool { return n.connect || n.listen || n.egress }

var inet = []string{"AF_INET", "AF_INET6"}

// netlink is the family of the sockets that list interfaces.
var netlink = []string{"AF_NETLINK"}

// datagrams are the sockets of UDP and its relatives.
var datagrams = []Condition{{Arg: 0, In: inet}, {Arg: 1, Mask: sockTypeMask, In: []string{"SOCK_DGRAM"}}}

// filter permits the sockets that reach other processes only by a call that the supervisor
// judges: connected unix sockets and, where the policy needs them, TCP. Where hosts are known by
// name, a trap answers calls that make a datagram socket of the internet.
func (n internet) filter() []Block {
	families, types, protocols := []string{"AF_UNIX"}, []string{"SOCK_STREAM", "SOCK_SEQPACKET"},
		[]string{"IPPROTO_IP", "IPPROTO_TCP"}
	if n.tcp() {
		families = append(families, inet...)
	}
	block := func(call string, when ...Condition) Block {
		return Block{Group: "network", Errno: "EACCES", Syscalls: []string{call}, When: when}
	}
	out := []Block{block("socket", Condition{Arg: 0, NotIn: families})}
	streams := []string{"SOCK_STREAM"}
	if n.egress {
		out[0].When[0].NotIn = append(out[0].When[0].NotIn, netlink...)
		out = append(out,
			block("socket", Condition{Arg: 0, In: netlink},
				Condition{Arg: 1, NotIn: []string{"SOCK_RAW|SOCK_CLOEXEC"}}),
			block("socket", Condition{Arg: 0, In: netlink}, Condition{Arg: 2, NotIn: []string{"NETLINK_ROUTE"}}),
		)
		out = append(out, block("socket", Condition{Arg: 0, In: []string{"AF_UNIX"}},
			Condition{Arg: 1, Mask: sockTypeMask, NotIn: types}))
		streams, protocols = append(streams, "SOCK_DGRAM"), append(protocols, "IPPROTO_UDP")
	} else {
		out = append(out, block("socket", Condition{Arg: 1, Mask: sockTypeMask, NotIn: types}))
	}
	if n.tcp() {
		out = append(out,
			block("socket", Condition{Arg: 0, In: inet}, Condition{Arg: 1, Mask: sockTypeMask, NotIn: streams}),
			block("socket", Condition{Arg: 0, In: inet}, Condition{Arg: 2, NotIn: protocols}),
		)
	}
	for _, b := range sockets[1:] {
		switch {
		case !n.egress:
		case b.Syscalls[0] == "sendto":
			continue // a trap answers data that is sent to an address
		case b.When[0].Mask == sockTypeMask:
			b = block("socketpair", Condition{Arg: 1, Mask: sockTypeMask, NotIn: append(types, "SOCK_DGRAM")})
		}
		out = append(out, b)
	}
	return out
}

// traps are the calls on sockets that the supervisor judges.
func (n internet) traps() []Trap {
	calls := []string{"bind", "connect"}
	if n.tcp() {
		calls = append(calls, "listen")
	}
	out := []Trap{{"sockets", calls, nil}}
	if !n.egress {
		return out
	}
	return append(out,
		Trap{"datagrams", []string{"socket"}, datagrams},
		Trap{"datagrams", []string{"socketpair"},
			[]Condition{{Arg: 1, Mask: sockTypeMask, In: []string{"SOCK_DGRAM"}}}},
		Trap{"interfaces", []string{"socket"}, []Condition{{Arg: 0, In: netlink}}},
		Trap{"datagrams", []string{"sendto", "recvfrom"}, []Condition{{Arg: 4, NonZero: true}}},
		Trap{"datagrams", []string{"recvmsg", "sendmsg", "sendmmsg"}, nil},
		// A resolver asks for errors of its datagrams (ip(7)).
		Trap{"datagrams", []string{"setsockopt"},
			[]Condition{{Arg: 1, In: []string{"IPPROTO_IP"}}, {Arg: 2, In: []string{"IP_RECVERR"}}}},
		Trap{"datagrams", []string{"setsockopt"},
			[]Condition{{Arg: 1, In: []string{"IPPROTO_IPV6"}}, {Arg: 2, In: []string{"IPV6_RECVERR"}}}},
		// The peer of a connection is the host, not the proxy (getpeername(2)), and the peer of a stand-in for
		// datagrams is the server that it asked.
		Trap{"peers", []string{"getpeername", "getsockname"}, nil},
	)
}

// Named is the supervision with stand-ins for the sockets of the internet that it refuses: their traps have a
// refusal name the address or the host that was asked for. It permits nothing besides.
// See decision D120.
func (s *Supervision) Named() *Supervision {
	n := s.internet()
	if n.egress {
		return s
	}
	all := n
	all.egress = true
	out := *s
	out.Filter = slices.DeleteFunc(slices.Clone(s.Filter), func(b Block) bool { return b.Group == "network" })
	out.Filter = append(out.Filter, all.filter()...)
	out.Traps = slices.DeleteFunc(slices.Clone(s.Traps), func(t Trap) bool { return t.Group == "sockets" })
	out.Traps = append(out.Traps, all.traps()...)
	if !n.tcp() {
		// No socket of the tool takes the options of the internet, and programs give up on a socket that does not.
		out.Traps = slices.DeleteFunc(out.Traps, func(t Trap) bool {
			return t.Syscalls[0] == "setsockopt" || t.Group == "datagrams" && t.Syscalls[0] == "socket"
		})
		out.Traps = append(out.Traps,
			Trap{"datagrams", []string{"socket"}, []Condition{{Arg: 0, In: inet}}},
			Trap{"datagrams", []string{"setsockopt"}, []Condition{
				{Arg: 1, In: []string{"IPPROTO_IP", "IPPROTO_IPV6", "IPPROTO_TCP"}},
			}},
		)
	}
	return &out
}

// addresses returns the targets of rules that allow one address and port.
func addresses(rules []ir.NetRule) []string {
	var out []string
	for i := range rules {
		r := &rules[i]
		if !r.Allow || !literal(r, rules) {
			continue
		}
		at := []netip.Addr{r.Host.Addr}
		if r.Host.Kind == ir.HostName {
			at = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
		}
		for _, a := range at {
			out = append(out, netip.AddrPortFrom(a, r.Port).String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// named reports whether a rule allows hosts that a call to connect does not show.
func named(rules []ir.NetRule) bool {
	return slices.ContainsFunc(rules, func(r ir.NetRule) bool { return r.Allow && !r.Listen && !literal(&r, rules) })
}

// allows reports whether a rule allows any host.
func allows(rules []ir.NetRule) bool {
	return slices.ContainsFunc(rules, func(r ir.NetRule) bool { return r.Allow })
}

// listens reports whether a rule lets connections be accepted.
func listens(rules []ir.NetRule) bool {
	return slices.ContainsFunc(rules, func(r ir.NetRule) bool { return r.Allow && r.Listen })
}

// literal reports whether a rule is about one address and port, which a connect call shows. The
// name of this host is its loopback addresses.
func literal(r *ir.NetRule, all []ir.NetRule) bool {
	return r.Port != 0 && ir.Plain(r, all)
}

// ParseAddress reads an address of Connect.
func ParseAddress(s string) (ir.Endpoint, error) {
	a, err := netip.ParseAddrPort(s)
	if err != nil {
		return ir.Endpoint{}, err
	}
	return ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: a.Addr()}, Port: a.Port()}, nil
}
