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

// peers are the addresses that sockets of the tool are connected to in its own eyes, by their cookies.
type peers struct {
	mu sync.Mutex
	at recent[uint64, netip.AddrPort]
	// stands has the sockets that stand for those of datagrams.
	stands recent[uint64, struct{}]
	// ends has the ends of pairs that stand for pairs of datagram sockets.
	ends recent[uint64, struct{}]
	// routes has the sockets that stand for those of netlink, with their numbers there.
	routes recent[uint64, uint32]
}

// route notes a socket that stands for one of netlink.
func (p *peers) route(fd int, number uint32) {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.routes.put(cookie, number)
}

// routed returns the number of a socket that stands for one of netlink.
func (p *peers) routed(fd int) (uint32, bool) {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	number, ok := p.routes.entries[cookie]
	return number, ok
}

// stand notes a socket that stands for one of datagrams.
func (p *peers) stand(fd int) {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stands.put(cookie, struct{}{})
}

// end notes an end of a pair that stands for one of datagrams.
func (p *peers) end(fd int) {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends.put(cookie, struct{}{})
}

// paired reports whether a socket is an end of such a pair.
func (p *peers) paired(fd int) bool {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.ends.entries[cookie]
	return ok
}

// datagrams reports whether the tool has sockets that stand for those of datagrams.
func (p *peers) datagrams() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.stands.entries)+len(p.ends.entries) > 0
}

// datagram reports whether a socket stands for one of datagrams, and whether it has a peer in the eyes of the tool.
func (p *peers) datagram(fd int) (stands, connected bool) {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return false, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, stands = p.stands.entries[cookie]
	_, connected = p.at.entries[cookie]
	return stands, connected
}

// remember keeps the address that a socket is connected to in the eyes of the tool.
func (p *peers) remember(fd int, to netip.AddrPort) {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at.put(cookie, to)
}

// asked reports whether the tool has an address in view at all, of the internet or of netlink.
func (p *peers) asked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.at.entries)+len(p.routes.entries) > 0
}

func (p *peers) peer(fd int) (netip.AddrPort, bool) {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return netip.AddrPort{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	to, ok := p.at.entries[cookie]
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
