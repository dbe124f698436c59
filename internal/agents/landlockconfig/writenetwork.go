package landlockconfig

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// openPorts are the ports of the rules that allow connections, where the policy accepts that any
// host is then reached there. Otherwise there are none.
func (g *grants) openPorts() []uint16 {
	if !slices.ContainsFunc(g.tool.Accept, func(a ir.Acceptance) bool { return a.Gap == ir.GapNetHost }) {
		return nil
	}
	var out []uint16
	for i := range g.tool.Net {
		r := &g.tool.Net[i]
		switch {
		case !r.Allow || r.Listen:
		case r.Port != 0:
			out = append(out, r.Port)
		case r.Scheme != "" && ir.DefaultPort(r.Scheme) != 0:
			out = append(out, ir.DefaultPort(r.Scheme))
		case r.Scheme == "":
			out = append(out, 80, 443)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// openListeners are the ports at which the policy lets connections be accepted at every address: the kernel's rules are
// about no single address.
func (g *grants) openListeners() []uint16 {
	var out []uint16
	for i := range g.tool.Net {
		if r := &g.tool.Net[i]; g.bound(r) {
			out = append(out, r.Port)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (g *grants) bound(r *ir.NetRule) bool {
	return r.Listen && r.Allow && r.Host.Kind == ir.HostAny && r.Port != 0 &&
		!slices.ContainsFunc(g.tool.Net, func(o ir.NetRule) bool {
			return o.Listen && !o.Allow && (o.Port == 0 || o.Port == r.Port)
		})
}

func (g *grants) ports() []Ports {
	var out []Ports
	if len(g.connects) > 0 {
		out = append(out, Ports{[]string{"connect_tcp"}, g.connects})
	}
	if len(g.binds) > 0 {
		out = append(out, Ports{[]string{"bind_tcp"}, g.binds})
	}
	return out
}

// connection says how a rule about connections is held.
func (g *grants) connection(r *ir.NetRule, abi int) ir.Held {
	opens := slices.ContainsFunc(g.connects, func(port uint16) bool { return backends.MayMatch(r, port) })
	switch {
	case abi < 4:
		return backends.Weaker(ir.GapNetDefault, whyTCP)
	case opens:
		return backends.Weaker(ir.GapNetHost, whyHost)
	default:
		return backends.When(r.Allow, backends.Stricter(whyNames))
	}
}

// listener says how a rule about accepting connections is held.
func (g *grants) listener(r *ir.NetRule, abi int) ir.Held {
	switch {
	case abi < 4:
		return backends.Weaker(ir.GapNetListen, whyTCP)
	case !r.Allow:
		return backends.Weaker(ir.GapNetListen, whyUnbound)
	default:
		return backends.When(!g.bound(r), backends.Stricter(whyAddress))
	}
}

// denied says how the network is held where no rule is about it.
func (g *grants) denied(a ir.Aspect, abi int) ir.Held {
	if a == ir.AspectListen {
		if abi < 4 {
			return backends.Weaker(ir.GapNetListen, whyTCP, whyUDP)
		}
		return backends.Weaker(ir.GapNetListen, whyUnbound, whyUDP)
	}
	held := []ir.Held{backends.Weaker(ir.GapNetDefault, whyUDP)}
	if abi < 4 {
		held = append(held, backends.Weaker(ir.GapNetDefault, whyTCP))
	} else if len(g.connects) > 0 {
		held = append(held, backends.Weaker(ir.GapNetHost, whyHost))
	}
	return backends.Join(held...)
}
