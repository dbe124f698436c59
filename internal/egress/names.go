package egress

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/accessc/accessc/ir"
)

// wildcards count the names that are looked up below each wildcard of a rule. See decision D110.
type wildcards struct {
	most int
	mu   sync.Mutex
	seen map[string]*minute
}

// A minute is the names of one wildcard since a time.
type minute struct {
	since time.Time
	names map[string]struct{}
}

// take reports whether a name may be looked up now.
func (w *wildcards) take(pattern, name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.seen[pattern]
	if m == nil || time.Since(m.since) > time.Minute {
		m = &minute{since: time.Now(), names: map[string]struct{}{}}
		w.seen[pattern] = m
	}
	if _, known := m.names[name]; !known && len(m.names) >= w.most {
		return false
	}
	m.names[name] = struct{}{}
	return true
}

// loopback are the addresses of localhost and the names below it (RFC 6761, 6.3).
var loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

// local reports whether a name is only of this host.
func local(name string) bool {
	return name == ir.Localhost || strings.HasSuffix(name, "."+ir.Localhost)
}

// resolve looks up a name that was judged.
func (d *dialer) resolve(ctx context.Context, name string) (Found, error) {
	if local(name) {
		return Found{Addrs: loopback}, nil
	}
	if err := d.judge.countName(ctx, ir.Endpoint{Host: ir.Host{Kind: ir.HostName, Name: name}}); err != nil {
		return Found{}, err
	}
	return d.config.Resolve(ctx, name)
}

// countName refuses a name beyond the names that may be looked up below its wildcard. A rule about all hosts has no
// bound. See decision D110.
func (j *judge) countName(ctx context.Context, to ir.Endpoint) error {
	if r := rule(j.judging(ctx).Named(to.Host)); r != nil && r.Host.Kind == ir.HostSuffix &&
		!j.wild.take(r.Host.Name, to.Host.Name) {
		return errNames
	}
	return nil
}

// meant returns the name that an address of the pool stands for, other hosts as they are.
func (p *Pool) meant(h ir.Host) ir.Host {
	if h.Kind == ir.HostAddr {
		if named, ok := p.Host(h.Addr); ok {
			return named
		}
	}
	return h
}
