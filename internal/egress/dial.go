package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// dial connects to a judged target, by the caller's own proxy if there is one for it.
func (p *Proxy) dial(ctx context.Context, to ir.Endpoint) (net.Conn, error) {
	points.Reach(points.Dialing)
	ctx, cancel := context.WithTimeout(ctx, p.config.Limits.Dial)
	defer cancel()
	if via, err := p.via(to); err != nil {
		return nil, err
	} else if via != nil {
		return p.dialVia(ctx, via, to)
	}
	list, err := p.addresses(ctx, to)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no address", to.Host)
	}
	return p.race(ctx, to, list[:min(len(list), maxAddresses)])
}

// Connections to several addresses of a name are begun one after the other (RFC 8305, 5).
const (
	stagger      = 300 * time.Millisecond
	maxAddresses = 8
)

// race returns the first connection to one of several addresses.
func (p *Proxy) race(ctx context.Context, to ir.Endpoint, list []netip.Addr) (net.Conn, error) {
	type made struct {
		conn net.Conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan made, len(list))
	next := time.NewTimer(0)
	begun, failed := 0, 0
	var first error
	defer func() {
		cancel()
		next.Stop()
		go func() { // those that were too late
			for range begun - failed {
				if m := <-results; m.conn != nil {
					_ = m.conn.Close()
				}
			}
		}()
	}()
	for failed < len(list) {
		select {
		case <-next.C:
		case m := <-results:
			failed++ // or won: it is not waited for
			if m.err == nil {
				return m.conn, nil
			}
			if first == nil || errors.Is(m.err, errInternal) {
				first = m.err
			}
		}
		if begun < len(list) {
			at := netip.AddrPortFrom(list[begun], to.Port)
			begun++
			go func() {
				conn, err := p.made(ctx, to, at)
				results <- made{conn, err}
			}()
			next.Reset(stagger)
		}
	}
	return nil, first
}

// made connects to an address, and refuses one that turns out to be this host's: the system
// chooses an address of its own as the source of connections to that address.
func (p *Proxy) made(ctx context.Context, to ir.Endpoint, at netip.AddrPort) (net.Conn, error) {
	conn, err := p.config.Dial(ctx, at)
	if err != nil {
		return nil, err
	}
	local, remote := addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	if remote == at && local.Addr() == at.Addr() && !p.names(ctx, to, at.Addr()) {
		_ = conn.Close()
		return nil, errInternal
	}
	return conn, nil
}
