package egress

import (
	"context"
	"net/netip"
	"slices"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// special are addresses that a name must not lead to unless a rule names the address: addresses
// that netip does not classify, and the metadata services of clouds outside of link-local space.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network (RFC 791)
	netip.MustParsePrefix("100.64.0.0/10"),    // shared address space (RFC 6598)
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments (RFC 6890), Oracle's metadata
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's platform address
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks (RFC 2544), the stub's pool
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved (RFC 1112)
	netip.MustParsePrefix("fec0::/10"),        // site-local (RFC 3879)
	netip.MustParsePrefix("64:ff9b:1::/48"),   // translators of the local network (RFC 8215)
	netip.MustParsePrefix("fd00::/8"),         // unique local; netip knows it, the pool is in it
}

// Prefixes of IPv6 that contain an IPv4 address.
var (
	compatible = netip.MustParsePrefix("::/96")           // RFC 4291, 2.5.5.1
	translated = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052
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
	case compatible.Contains(a), translated.Contains(a), rfc2765.Contains(a), isatap(b):
		return at(12), true
	case sixToFour.Contains(a):
		return at(2), true
	case teredo.Contains(a):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	}
	return netip.Addr{}, false
}

// isatap reports whether an address belongs to a tunnel through an IPv4 network (RFC 5214,
// 6.1).
func isatap(b [16]byte) bool {
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// filter says which addresses of a granted name, and which aliases, may be dialled.
type filter struct {
	*run
	judge *judge
}

// internal reports whether an address leads somewhere that names of the internet do not: to this
// host, its neighbours or its operator.
func (f *filter) internal(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if v4, ok := inner(a); ok && f.internal(v4) {
		return true
	}
	return !a.IsGlobalUnicast() || a.IsPrivate() ||
		slices.ContainsFunc(special, func(s netip.Prefix) bool { return s.Contains(a) }) || f.owns(a)
}

func (f *filter) owns(a netip.Addr) bool {
	return f.config.Own != nil && slices.Contains(f.config.Own(), a)
}

// denied reports whether a rule about an address denies a host that a rule about a name
// allows.
func (f *filter) denied(ctx context.Context, to ir.Endpoint, a netip.Addr) bool {
	to.Host = ir.Host{Kind: ir.HostAddr, Addr: a}
	v := f.judge.judging(ctx).Reach(to)
	r := rule(v)
	return !v.Allowed() && r != nil && r.Host == to.Host
}

// deniedName reports whether a rule about a name denies a host that a name which a rule allows is an alias of. A rule
// about all hosts says nothing about it: most aliases lead to networks that no rule names.
// See decision D110.
func (f *filter) deniedName(ctx context.Context, to ir.Endpoint, name string) bool {
	host, err := resolve.Host(name)
	if err != nil {
		return false // no rule can name it
	}
	to.Host = host
	v := f.judge.judging(ctx).Reach(to)
	r := rule(v)
	return !v.Allowed() && r != nil && r.Host.Kind != ir.HostAny
}

// A withheld error is a refusal, where other errors of dial are the network's.
type withheld string

// Error implements error.
func (w withheld) Error() string { return string(w) }

// Is has errors.Is take all of them for the same.
func (withheld) Is(target error) bool {
	_, ok := target.(withheld)
	return ok
}

// Reasons why no address of a granted host was dialled.
const (
	errInternal = withheld("the name leads to an address of this host or its networks, " +
		"which only a rule for the address grants")
	errDenied = withheld("the name leads to an address that a rule denies")
	errAlias  = withheld("the name leads to another name, which a rule denies")
	errInner  = withheld("the address leads to an IPv4 address that no rule grants")
	errNames  = withheld("too many names below one wildcard within a minute")
)

// literal says why an address that a wildcard grants may not be dialled. An address that leads
// to an IPv4 address needs a rule for that, too, unless a rule names it.
func (f *filter) literal(ctx context.Context, to ir.Endpoint) error {
	a := to.Host.Addr
	if f.names(ctx, to, a) {
		return nil
	}
	if f.internal(a) {
		return errInternal
	}
	if v4, ok := inner(a); ok {
		to.Host = ir.Host{Kind: ir.HostAddr, Addr: v4}
		if !f.judge.judging(ctx).Reach(to).Allowed() {
			return errInner
		}
	}
	return nil
}

// names reports whether a rule for this very address grants the request. A rule for localhost
// is about the loopback addresses.
func (f *filter) names(ctx context.Context, to ir.Endpoint, a netip.Addr) bool {
	to.Host = ir.Host{Kind: ir.HostAddr, Addr: a}
	v := f.judge.judging(ctx).Reach(to)
	r := rule(v)
	return v.Allowed() && r != nil && (r.Host.Kind == ir.HostAddr || r.Host.Kind == ir.HostName && a.IsLoopback())
}
