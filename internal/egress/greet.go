package egress

import (
	"time"

	"github.com/accessc/accessc/ir"
)

// greeter finds out what a new connection of the tool speaks.
type greeter struct {
	*run
	judge   *judge
	dialer  *dialer
	stub    *stub
	tunnels *tunnels
}

// serve finds out the protocol of a connection and serves it until its end.
func (g *greeter) serve(c *client) {
	o := c.origin
	switch {
	case o.Resolver:
		g.stub.serveStream(c)
	case o.Host != ir.Host{}:
		g.tunnels.tunnel(c, o.Host, o.Port)
	default:
		g.greet(c)
	}
	_ = c.Close()
}

// greet serves a client that knows that it speaks with a proxy.
func (g *greeter) greet(c *client) {
	_ = c.SetDeadline(time.Now().Add(g.config.Limits.Handshake))
	b, err := c.first()
	switch {
	case err != nil:
	case b[0] == socksVersion:
		g.socks(c)
	case b[0] == socks4Version:
		_, _ = c.Write([]byte{0, socks4Rejected, 0, 0, 0, 0, 0, 0})
	default:
		g.tunnels.hand(c, c)
	}
}
