package egress

import (
	"context"
	"net"
	"net/netip"

	"github.com/accessc/accessc/ir"
)

// ErrInternal is the reason for refusing addresses.
var ErrInternal error = errInternal

// Made connects to an address for a name.
func (p *Proxy) Made(a netip.Addr, port uint16) (net.Conn, error) {
	to := ir.Endpoint{Scheme: schemeStream, Host: ir.Host{Kind: ir.HostName, Name: "own.example"}, Port: port}
	return p.made(context.Background(), to, netip.AddrPortFrom(a, port))
}
