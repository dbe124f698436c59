package supervisor

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// maxRecent bounds the supervisor's memory of a tool's sockets.
const maxRecent = 1 << 16

// recent is a map of the latest entries.
type recent[K comparable, V any] struct {
	entries map[K]V
	order   []K
	next    int
}

func (r *recent[K, V]) put(k K, v V) {
	if r.entries == nil {
		r.entries = map[K]V{}
	}
	if _, known := r.entries[k]; !known {
		if len(r.order) < maxRecent {
			r.order = append(r.order, k)
		} else {
			delete(r.entries, r.order[r.next])
			r.order[r.next] = k
			r.next = (r.next + 1) % maxRecent
		}
	}
	r.entries[k] = v
}

// stand is a kind of socket in whose place the tool has another.
type stand int

// The kinds; the zero value is none.
const (
	forDatagrams stand = iota + 1 // of the internet
	forPair                       // an end of a pair of unix datagram sockets
	forNetlink
)

// peers are the sockets of the tool that are of another kind in its own eyes, or have another peer, by their cookies.
type peers struct {
	mu sync.Mutex
	// at has the addresses that they are connected to, stands the kinds that they stand for.
	at     recent[uint64, netip.AddrPort]
	stands recent[uint64, stand]
}

// cookie is the number of a socket, which no other socket of the host ever has (socket(7), SO_COOKIE).
func cookie(fd int) (uint64, bool) {
	n, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	return n, err == nil
}

// stand notes the kind that a socket stands for.
func (p *peers) stand(fd int, as stand) {
	if n, ok := cookie(fd); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stands.put(n, as)
	}
}

// standsFor returns the kind that a socket stands for.
func (p *peers) standsFor(fd int) (as stand) {
	if n, ok := cookie(fd); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		as = p.stands.entries[n]
	}
	return as
}

// remember keeps the address that a socket is connected to in the eyes of the tool.
func (p *peers) remember(fd int, to netip.AddrPort) {
	if n, ok := cookie(fd); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.at.put(n, to)
	}
}

// none reports whether the tool has no such socket at all.
func (p *peers) none() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.at.entries)+len(p.stands.entries) == 0
}

// peer returns the address that a socket is connected to in the eyes of the tool.
func (p *peers) peer(fd int) (to netip.AddrPort, ok bool) {
	if n, known := cookie(fd); known {
		p.mu.Lock()
		defer p.mu.Unlock()
		to, ok = p.at.entries[n]
	}
	return to, ok
}

// names are the latest refusals of names, which programs ask for several times.
type names struct {
	mu sync.Mutex
	// at is when a process was refused a name.
	at recent[question, time.Time]
}

// question is a name that a process asked for.
type question struct {
	host ir.Host
	pid  int
}

// repeats reports whether a process was refused a name a moment ago: a resolver asks for each kind
// of address, again where it is refused, and for the name completed by the host's own domains.
func (n *names) repeats(op ir.Operation, by process, now time.Time) bool {
	c, ok := op.(ir.Connect)
	if !ok || c.To.Port != 0 {
		return false
	}
	const moment = 5 * time.Second
	n.mu.Lock()
	defer n.mu.Unlock()
	q := question{c.To.Host, by.pid}
	for _, name := range append(hostSearch().shorter(q.host.Name), q.host.Name) {
		last, known := n.at.entries[question{ir.Host{Kind: q.host.Kind, Name: name}, by.pid}]
		if known && now.Sub(last) < moment {
			return true
		}
	}
	n.at.put(q, now)
	return false
}
