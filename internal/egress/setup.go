package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// NewConfig is the configuration of a proxy that uses this host's network.
func NewConfig(s *wire.Setup, platform ir.Platform) (Config, error) {
	program, err := irjson.Unmarshal(s.Policy)
	if err != nil {
		return Config{}, err
	}
	if len(program.Tools) != 1 {
		return Config{}, errors.New("expected the policy of one tool")
	}
	tool := program.Tools[0]
	own, err := ownAddresses()
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Policy: ir.NewView(tool, platform, ir.Facts{Base: []ir.FSRule{}}), Resolve: resolveName, Dial: dialAddress, Own: own,
		Sentence: func(op ir.Operation, v ir.Verdict) string { return sentence(tool, op, v) }, Limits: DefaultLimits(),
	}
	if s.Offline {
		c.Resolve, c.Dial = offline, unreachable
	}
	if hosts := inspected(tool.Net); len(hosts) > 0 {
		if c.Authority, err = NewAuthority(hosts); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

// inspected are the hosts of rules that say inspect.
func inspected(rules []ir.NetRule) (out []ir.Host) {
	for _, r := range rules {
		if r.Inspect {
			out = append(out, r.Host)
		}
	}
	return out
}

// resolveName asks the host's resolver.
func resolveName(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".")
}

func dialAddress(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", to.String())
}

// offline answers for every name with an address that no host has: one for documentation (RFC
// 5737).
func offline(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 1})}, nil
}

func unreachable(context.Context, netip.AddrPort) (net.Conn, error) { return nil, syscall.ENETUNREACH }

// ownAddresses are the addresses of this host's interfaces.
func ownAddresses() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range list {
		if p, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(p.IP); ok {
				out = append(out, ip.Unmap())
			}
		}
	}
	return out, nil
}

func sentence(_ *ir.Tool, op ir.Operation, _ ir.Verdict) string {
	return "the policy does not allow " + ir.Describe(op).Subject
}
