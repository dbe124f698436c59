package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/accessc/accessc/internal/process/points"
	"github.com/accessc/accessc/ir"
)

// dialer resolves judged hosts and connects to them, by the caller's own proxy where there is a
// proxy.
type dialer struct {
	*run
	judge  *judge
	filter *filter
}

func newDialer(r *run, j *judge) *dialer { return &dialer{run: r, judge: j, filter: &filter{r, j}} }

// dial connects to a judged target, by the caller's own proxy if it has a proxy for the target.
func (d *dialer) dial(ctx context.Context, to ir.Endpoint) (net.Conn, error) {
	points.Reach(points.Dialing)
	ctx, cancel := context.WithTimeout(ctx, d.config.Limits.Dial)
	defer cancel()
	if via, err := d.via(to); err != nil {
		return nil, err
	} else if via != nil {
		return d.dialVia(ctx, via, to)
	}
	list, err := d.addresses(ctx, to)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no address", to.Host)
	}
	return d.race(ctx, to, list[:min(len(list), maxAddresses)])
}

// Connections to several addresses of a name are begun one after the other (RFC 8305, 5).
const (
	stagger      = 300 * time.Millisecond
	maxAddresses = 8
)

// race returns the first connection to one of several addresses.
func (d *dialer) race(ctx context.Context, to ir.Endpoint, list []netip.Addr) (net.Conn, error) {
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
				conn, err := d.made(ctx, to, at)
				results <- made{conn, err}
			}()
			next.Reset(stagger)
		}
	}
	return nil, first
}

// made connects to an address, and refuses an address that turns out to be this host's: the
// system chooses an address of its own as the source of connections to that address.
func (d *dialer) made(ctx context.Context, to ir.Endpoint, at netip.AddrPort) (net.Conn, error) {
	conn, err := d.config.Dial(ctx, at)
	if err != nil {
		return nil, err
	}
	local, remote := addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	if remote == at && local.Addr() == at.Addr() && !d.filter.names(ctx, to, at.Addr()) {
		_ = conn.Close()
		return nil, errInternal
	}
	return conn, nil
}

// dialed connects to a host and port for a client, as long as the connection is granted, with the scheme
// that it will probably carry.
func (d *dialer) dialed(ctx context.Context, once *permission, h ir.Host, port uint16) (net.Conn, ir.Endpoint, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v, end := d.judge.rest(once, arrival(h, port, 0, cancel))
	defer end()
	to := ir.Endpoint{Host: h, Port: port}
	if !v.Allowed() {
		return nil, to, errRevoked
	}
	policy := d.judge.policy(once)
	granted, _ := reach(policy, h, port)
	to.Scheme = likely(granted, port)
	conn, err := d.dial(judgedBy(ctx, policy), to)
	return conn, to, err
}

// addresses resolves a host once and returns the addresses that may be dialled for it.
func (d *dialer) addresses(ctx context.Context, to ir.Endpoint) ([]netip.Addr, error) {
	if to.Host.Kind == ir.HostAddr {
		return []netip.Addr{to.Host.Addr}, d.filter.literal(ctx, to)
	}
	found, err := d.resolve(ctx, to.Host.Name)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(found.Aliases, func(name string) bool { return d.filter.deniedName(ctx, to, name) }) {
		return nil, errAlias
	}
	var out []netip.Addr
	reason := errInternal
	for _, a := range found.Addrs {
		a = a.Unmap().WithZone("")
		switch {
		case d.filter.denied(ctx, to, a):
			reason = errDenied
		case !d.filter.internal(a) || d.filter.names(ctx, to, a):
			out = append(out, a)
		}
	}
	if len(out) == 0 && len(found.Addrs) > 0 {
		return nil, reason
	}
	return out, nil
}
