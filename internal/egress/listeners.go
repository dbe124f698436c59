package egress

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// listeners are the sockets to which the tool connects, the connections that the supervisor announced, and the
// connections that are open.
type listeners struct {
	*run
	tcp     []net.Listener // IPv4, and IPv6 where the host has it
	slots   chan struct{}
	running sync.WaitGroup

	mu       sync.Mutex
	expected map[netip.AddrPort][]*announcement // in the order of their connections
	open     map[io.Closer]struct{}
	closed   bool
}

func newListeners(r *run) *listeners {
	return &listeners{
		run: r, slots: make(chan struct{}, r.config.Limits.Connections),
		expected: map[netip.AddrPort][]*announcement{}, open: map[io.Closer]struct{}{},
	}
}

// listen opens a socket for one loopback address, whose connections are served.
func (l *listeners) listen(address string, serve func(*client)) error {
	at, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	l.tcp = append(l.tcp, at)
	l.running.Add(1)
	go l.accept(at, serve)
	return nil
}

func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.TCPAddr:
		return netip.AddrPortFrom(a.AddrPort().Addr().Unmap(), a.AddrPort().Port())
	}
	return netip.AddrPort{}
}

func (l *listeners) listens6() bool { return len(l.tcp) > 1 }

// Listener returns the address for connections of a family, false where this host has none.
func (l *listeners) Listener(v6 bool) (netip.AddrPort, bool) {
	if v6 && !l.listens6() {
		return netip.AddrPort{}, false
	}
	return addrPort(l.tcp[index(v6)].Addr()), true
}

func index(v6 bool) int {
	if v6 {
		return 1
	}
	return 0
}

// An announcement is a connection that was announced and has not come yet.
type announcement struct {
	origin Origin
	expiry *time.Timer
}

func (a *announcement) drop() {
	a.expiry.Stop()
	if a.origin.Upstream != nil {
		_ = a.origin.Upstream.Close()
	}
}

// Expect announces a connection from a local address. Others are closed unless there is a token:
// they are not the tool's. The caller takes the announcement back if it does not connect; it expires, so that it
// is not another program's that gets the address later.
func (l *listeners) Expect(from netip.AddrPort, o Origin) {
	a := &announcement{origin: o}
	l.mu.Lock()
	defer l.mu.Unlock()
	a.expiry = time.AfterFunc(l.config.Limits.Handshake, func() { l.forget(from, a) })
	if l.closed {
		a.drop()
		return
	}
	// A connection that was reset may wait to be accepted while its port is used again.
	l.expected[from] = append(l.expected[from], a)
}

// Forget takes back the last announcement of Expect.
func (l *listeners) Forget(from netip.AddrPort) { l.forget(from, nil) }

// forget takes an announcement back, nil for the last.
func (l *listeners) forget(from netip.AddrPort, only *announcement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.expected[from]
	i := len(list) - 1
	if only != nil {
		i = slices.Index(list, only)
	}
	if i < 0 {
		return
	}
	list[i].drop()
	l.keep(from, slices.Delete(list, i, i+1))
}

// keep sets the announcements of an address.
func (l *listeners) keep(from netip.AddrPort, list []*announcement) {
	if len(list) == 0 {
		delete(l.expected, from)
		return
	}
	l.expected[from] = list
}

// announced returns the origin of a connection that came, once.
func (l *listeners) announced(from netip.AddrPort) (Origin, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.expected[from]
	if len(list) == 0 {
		return Origin{}, false
	}
	l.keep(from, list[1:])
	list[0].expiry.Stop()
	return list[0].origin, true
}

// accept takes connections that were announced.
func (l *listeners) accept(at net.Listener, serve func(*client)) {
	defer l.running.Done()
	for {
		conn, err := at.Accept()
		if err != nil {
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() {
				time.Sleep(10 * time.Millisecond) // no descriptors are left: wait for some
				continue
			}
			return
		}
		o, announced := l.announced(addrPort(conn.RemoteAddr()))
		if !announced && l.config.Token == "" || !l.admit(conn) {
			_ = conn.Close()
			if o.Upstream != nil {
				_ = o.Upstream.Close()
			}
			continue
		}
		go func() {
			defer l.running.Done()
			serve(&client{Conn: conn, listeners: l, origin: o, by: o.By, permit: o.permit, stranger: !announced,
				end: make(chan struct{})})
		}()
	}
}

// admit takes a slot for a connection of the tool, which drop gives back.
func (l *listeners) admit(c io.Closer) bool {
	select {
	case l.slots <- struct{}{}:
	default:
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		<-l.slots
		return false
	}
	l.open[c] = struct{}{}
	l.running.Add(1)
	return true
}

func (l *listeners) drop(c io.Closer) {
	l.untrack(c)
	<-l.slots
}

// track remembers an open connection, so that Close ends it.
func (l *listeners) track(c io.Closer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[c] = struct{}{}
	return true
}

func (l *listeners) untrack(c io.Closer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// close ends all connections, and takes no more of them.
func (l *listeners) close() {
	for _, at := range l.tcp {
		_ = at.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.open {
		_ = c.Close()
	}
	for _, list := range l.expected {
		for _, a := range list {
			a.drop()
		}
	}
	clear(l.expected)
}
