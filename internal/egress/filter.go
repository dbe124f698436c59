package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/accessc/accessc/ir"
)

// special are addresses that a name must not lead to unless a rule names the address: those that
// netip does not classify, and the metadata services of clouds outside of link-local space.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network (RFC 791)
	netip.MustParsePrefix("100.64.0.0/10"),    // shared address space (RFC 6598)
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments (RFC 6890), Oracle's metadata
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's platform address
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks (RFC 2544), the stub's pool
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved (RFC 1112)
	netip.MustParsePrefix("fec0::/10"),        // site-local (RFC 3879)
	netip.MustParsePrefix("fd00::/8"),         // unique local; netip knows it, the pool is in it
}

// Prefixes of IPv6 that contain an IPv4 address.
var (
	compatible = netip.MustParsePrefix("::/96")           // RFC 4291, 2.5.5.1
	translated = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052
	local64    = netip.MustParsePrefix("64:ff9b:1::/48")  // RFC 8215
	rfc2765    = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765
	sixToFour  = netip.MustParsePrefix("2002::/16")       // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32")       // RFC 4380
)

// inner returns the IPv4 address that an IPv6 address leads to.
func inner(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case !a.Is6() || a == netip.IPv6Unspecified() || a == netip.IPv6Loopback():
		return netip.Addr{}, false
	case compatible.Contains(a), translated.Contains(a), rfc2765.Contains(a), local64.Contains(a):
		return at(12), true
	case sixToFour.Contains(a):
		return at(2), true
	case teredo.Contains(a):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	}
	return netip.Addr{}, false
}

// internal reports whether an address leads somewhere that names of the internet do not: to this
// host, its neighbours or its operator.
func (p *Proxy) internal(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if v4, ok := inner(a); ok && p.internal(v4) {
		return true
	}
	return !a.IsGlobalUnicast() || a.IsPrivate() ||
		slices.ContainsFunc(special, func(s netip.Prefix) bool { return s.Contains(a) }) || slices.Contains(p.config.Own, a)
}

// errInternal is the reason why no address of a name was dialled.
var errInternal = errors.New("the name leads to an address of this host or its networks, which only a rule for the address grants")

// addresses resolves a host once and returns the addresses that may be dialled for it.
func (p *Proxy) addresses(ctx context.Context, to ir.Endpoint) ([]netip.Addr, error) {
	if to.Host.Kind == ir.HostAddr {
		// Only a rule that names an internal address has granted it (see ir.NetRule).
		if p.internal(to.Host.Addr) && !p.names(to, to.Host.Addr) {
			return nil, errInternal
		}
		return []netip.Addr{to.Host.Addr}, nil
	}
	found, err := p.config.Resolve(ctx, to.Host.Name)
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, a := range found {
		a = a.Unmap().WithZone("")
		local := a.IsLoopback() && to.Host.Name == "localhost"
		if local || !p.internal(a) || p.names(to, a) {
			out = append(out, a)
		}
	}
	if len(out) == 0 && len(found) > 0 {
		return nil, errInternal
	}
	return out, nil
}

// names reports whether a rule for this very address grants the request.
func (p *Proxy) names(to ir.Endpoint, a netip.Addr) bool {
	to.Host = ir.Host{Kind: ir.HostAddr, Addr: a}
	v := p.config.Policy.Reach(to)
	r := rule(v)
	return v.Allowed() && r != nil && r.Host.Kind == ir.HostAddr
}

// dial connects to a judged target.
func (p *Proxy) dial(ctx context.Context, to ir.Endpoint) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.config.Limits.Dial)
	defer cancel()
	list, err := p.addresses(ctx, to)
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("%s has no address", to.Host)
	for i, a := range list {
		// Each address gets an equal part of the time that is left (as net.Dialer does).
		part := ctx
		if end, ok := ctx.Deadline(); ok && i < len(list)-1 {
			var done context.CancelFunc
			part, done = context.WithTimeout(ctx, time.Until(end)/time.Duration(len(list)-i))
			defer done()
		}
		var c net.Conn
		if c, err = p.config.Dial(part, netip.AddrPortFrom(a, to.Port)); err == nil {
			return c, nil
		}
	}
	return nil, err
}
