package egress

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"syscall"

	"github.com/accessc/accessc/ir"
)

// dnsPort is the port of name servers (RFC 1035, 4.2).
const dnsPort = 53

// route decides about a connection of the tool to an address. If the caller waits for the host, route
// connects to it first, so that the tool learns of its errors.
func (p *Proxy) route(want netip.AddrPort, wait bool, by uint64) (Origin, *Refusal, syscall.Errno) {
	for _, v6 := range []bool{false, true} {
		if l, ok := p.listeners.Listener(v6); ok && l == want {
			return Origin{}, nil, 0
		}
	}
	host := ir.Host{Kind: ir.HostAddr, Addr: want.Addr().Unmap().WithZone("")}
	if p.pool.Holds(host.Addr) {
		named, ok := p.pool.Host(host.Addr)
		if !ok {
			return Origin{}, nil, syscall.EHOSTUNREACH
		}
		host = named
	}
	o := Origin{Host: host, Port: want.Port()}
	granted, refused := reach(p.judge.policy(nil), host, want.Port())
	switch {
	case len(granted) > 0:
	case want.Port() == dnsPort:
		return Origin{Resolver: true}, nil, 0
	case !p.judge.mayAsk(host, want.Port()):
		return Origin{}, &refused, syscall.EACCES
	case !wait: // the user is asked when the connection comes
	default:
		asked := &client{by: by}
		refused, ok := p.judge.admits(p.ctx, asked, host, want.Port())
		if o.permit = asked.permit; !ok {
			return Origin{}, &refused, syscall.EACCES
		}
	}
	if !wait {
		return o, nil, 0
	}
	upstream, to, err := p.dialer.dialed(p.ctx, o.permit, host, want.Port())
	switch {
	case errors.Is(err, errInternal):
		return Origin{}, &Refusal{Op: ir.Connect{To: to}, Why: err.Error()}, syscall.EACCES
	case err != nil:
		return Origin{}, nil, errnoOf(err)
	}
	o.Upstream = upstream
	return o, nil, 0
}

// likely is the scheme that a port suggests if it is granted, else a scheme that is.
func likely(granted map[string]ir.Verdict, port uint16) string {
	for _, s := range []string{schemeOf(port), schemeStream, schemeHTTPS, schemeHTTP} {
		if _, ok := granted[s]; ok {
			return s
		}
	}
	return schemeStream
}

// errnoOf is the error number that connect(2) gives for a failure.
func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return syscall.ETIMEDOUT
	default:
		return syscall.EHOSTUNREACH
	}
}
