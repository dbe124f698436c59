package egress

import (
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Numbers of SOCKS5 (RFC 1928).
const (
	socksVersion     = 5
	socks4Version    = 4
	socks4Rejected   = 0x5b
	socksConnect     = 1
	socksIPv4        = 1
	socksName        = 3
	socksIPv6        = 4
	socksNoAuth      = 0
	socksNoMethod    = 0xff
	socksGranted     = 0
	socksNotAllowed  = 2
	socksUnreachable = 4
	socksRefused     = 5
	socksNoCommand   = 7
	socksNoAddress   = 8
)

// socks serves a SOCKS5 client: only CONNECT.
func (g *greeter) socks(c *client) {
	if err := g.socksMethods(c); err != nil {
		return
	}
	h, port, code := socksRequest(c)
	if code != socksGranted {
		socksReply(c, code)
		return
	}
	h = g.pool.meant(h)
	refused, ok := g.judge.admits(g.ctx, c, h, port)
	_ = c.SetDeadline(time.Now().Add(g.config.Limits.Handshake))
	if !ok {
		c.refused(refused)
		socksReply(c, socksNotAllowed)
		return
	}
	// The host is dialled before the client is told that it is there.
	upstream, to, err := g.dialer.dialed(g.ctx, c.permit, h, port)
	if err != nil {
		g.failed(c, to, err)
		_ = c.SetDeadline(time.Now().Add(g.config.Limits.Handshake))
		socksReply(c, dialCode(err))
		return
	}
	c.carry(Origin{Host: h, Port: port, Upstream: upstream})
	_ = c.SetDeadline(time.Now().Add(g.config.Limits.Handshake))
	if socksReply(c, socksGranted) == nil {
		g.tunnels.tunnel(c, h, port)
	}
}

func dialCode(err error) byte {
	switch {
	case errors.Is(err, errInternal):
		return socksNotAllowed
	case errors.Is(err, syscall.ECONNREFUSED):
		return socksRefused
	}
	return socksUnreachable
}

// socksMethods reads the methods of authentication, and chooses none where the connection says
// who asks.
func (g *greeter) socksMethods(c *client) error {
	var head [2]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c, methods); err != nil {
		return err
	}
	wanted := byte(socksNoAuth)
	if c.stranger {
		wanted = socksPassword
	}
	if !slices.Contains(methods, wanted) {
		_, _ = c.Write([]byte{socksVersion, socksNoMethod})
		return errors.New("no common method of authentication")
	}
	_, err := c.Write([]byte{socksVersion, wanted})
	if err == nil && c.stranger {
		err = g.socksToken(c)
	}
	return err
}

// socksRequest reads where the client wants to go.
func socksRequest(c *client) (h ir.Host, port uint16, code byte) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil || head[0] != socksVersion {
		return h, 0, 1
	}
	size := map[byte]int{socksIPv4: 4, socksIPv6: 16}[head[3]]
	if head[3] == socksName {
		var n [1]byte
		if _, err := io.ReadFull(c, n[:]); err != nil {
			return h, 0, 1
		}
		size = int(n[0])
	}
	raw := make([]byte, size+2)
	if _, err := io.ReadFull(c, raw); err != nil {
		return h, 0, 1
	}
	port = binary.BigEndian.Uint16(raw[size:])
	switch {
	case head[1] != socksConnect:
		return h, 0, socksNoCommand
	case head[3] == socksName:
		h, err := resolve.Host(string(raw[:size]))
		if err != nil {
			return h, 0, socksNotAllowed
		}
		return h, port, socksGranted
	case size == 0:
		return h, 0, socksNoAddress
	}
	addr, _ := netip.AddrFromSlice(raw[:size])
	return ir.Host{Kind: ir.HostAddr, Addr: addr.Unmap()}, port, socksGranted
}

// socksReply answers with a code and no address.
func socksReply(c *client, code byte) error {
	_, err := c.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
