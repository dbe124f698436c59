package egress

import (
	"encoding/binary"
	"net/netip"
	"sync"

	"github.com/accessc/accessc/ir"
)

// The pool's networks: IPv4 addresses for benchmarks, which no network routes (RFC 2544), and
// unique local addresses (RFC 4193).
var (
	pool4 = netip.MustParsePrefix("198.18.0.0/15")
	pool6 = netip.MustParsePrefix("fd61:6363:6573:7363::/64")
)

// Pool gives names addresses that stand for them during a run.
type Pool struct {
	max    int
	mu     sync.Mutex
	number map[string]uint32
	name   []string
}

func newPool(max int) *Pool { return &Pool{max: max, number: map[string]uint32{}} }

// Addresses returns the two addresses of a name, false when the pool has no more.
func (p *Pool) Addresses(name string) (v4, v6 netip.Addr, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, known := p.number[name]
	if !known {
		if len(p.name) >= p.max {
			return v4, v6, false
		}
		p.name = append(p.name, name)
		n = uint32(len(p.name)) // the network's own address is not given out
		p.number[name] = n
	}
	a4, a6 := pool4.Addr().As4(), pool6.Addr().As16()
	binary.BigEndian.PutUint32(a4[:], binary.BigEndian.Uint32(a4[:])+n)
	binary.BigEndian.PutUint32(a6[12:], n)
	return netip.AddrFrom4(a4), netip.AddrFrom16(a6), true
}

// Holds reports whether an address belongs to the pool's networks.
func (p *Pool) Holds(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return pool4.Contains(a) || pool6.Contains(a)
}

// Host returns the name that an address stands for.
func (p *Pool) Host(a netip.Addr) (ir.Host, bool) {
	a = a.Unmap().WithZone("")
	var n uint32
	switch {
	case pool4.Contains(a):
		b, first := a.As4(), pool4.Addr().As4()
		n = binary.BigEndian.Uint32(b[:]) - binary.BigEndian.Uint32(first[:])
	case pool6.Contains(a):
		b := a.As16()
		if binary.BigEndian.Uint32(b[8:]) != 0 {
			return ir.Host{}, false
		}
		n = binary.BigEndian.Uint32(b[12:])
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n == 0 || int(n) > len(p.name) {
		return ir.Host{}, false
	}
	return ir.Host{Kind: ir.HostName, Name: p.name[n-1]}, true
}
