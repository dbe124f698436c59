package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"time"
)

// client is a connection of the tool. Bytes that were looked at are read again.
type client struct {
	net.Conn
	// listeners know the connection until it is closed.
	listeners *listeners
	origin    Origin
	by        uint64 // as in Origin
	// permit is the permission that the user gave only this connection, nil for none.
	permit *permission
	// stranger is set until a connection that was not announced has said the token.
	stranger bool
	seen     []byte
	mu       sync.Mutex // guards origin.Upstream
	once     sync.Once
	end      chan struct{} // closed with the connection
}

// Read implements net.Conn.
func (c *client) Read(b []byte) (int, error) {
	if len(c.seen) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.seen)
	if c.seen = c.seen[n:]; len(c.seen) == 0 {
		c.seen = nil
	}
	return n, nil
}

// Write implements net.Conn. A client that takes nothing is given up.
func (c *client) Write(b []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(c.listeners.config.Limits.Idle))
	return c.Conn.Write(b)
}

// CloseWrite ends the direction to the tool, so that it reads the last answer before it learns
// that more of its own bytes are not read.
func (c *client) CloseWrite() error {
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// Close implements net.Conn and frees the connection's slot.
func (c *client) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		if u := c.upstream(); u != nil {
			_ = u.Close()
		}
		c.listeners.drop(c.Conn)
		close(c.end)
	})
	return err
}

// upstream hands over the connection to the host that was made already, nil for none.
func (c *client) upstream() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.origin.Upstream
	c.origin.Upstream = nil
	return u
}

// refused tells of a request of the client that was refused.
func (c *client) refused(r Refusal) {
	r.By = c.by
	c.listeners.refused(r)
}

// carry makes the client's connection a connection to a host.
func (c *client) carry(o Origin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.origin, c.stranger = o, false
}

// reset ends a connection so that its other end sees an error instead of an end, and gets no byte that waits in the
// kernel.
func reset(c net.Conn) {
	bare := carrying(c)
	if l, ok := bare.(interface{ SetLinger(int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = bare.Close()
	_ = c.Close()
}

// carrying is the connection that carries another connection to the caller's proxy, or the connection
// itself.
func carrying(c net.Conn) net.Conn {
	for {
		switch over := c.(type) {
		case *spoken:
			c = over.Conn
		case *halfway:
			c = over.Conn
		case *tls.Conn:
			c = over.NetConn()
		default:
			return c
		}
	}
}

// first looks at the next bytes, at least one.
func (c *client) first() ([]byte, error) {
	if len(c.seen) == 0 {
		buf := make([]byte, 2048)
		n, err := c.Conn.Read(buf)
		if n == 0 {
			return nil, err
		}
		c.seen = buf[:n]
	}
	return c.seen, nil
}

// feed is a listener for connections that were accepted elsewhere.
type feed struct {
	conns chan net.Conn
	end   chan struct{}
	once  sync.Once
}

func newFeed() *feed { return &feed{conns: make(chan net.Conn), end: make(chan struct{})} }

func (f *feed) give(c net.Conn) bool {
	select {
	case f.conns <- c:
		return true
	case <-f.end:
		return false
	}
}

// Accept implements net.Listener.
func (f *feed) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.end:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (f *feed) Close() error {
	f.once.Do(func() { close(f.end) })
	return nil
}

// Addr implements net.Listener.
func (f *feed) Addr() net.Addr { return net.TCPAddrFromAddrPort(netip.AddrPort{}) }

// originKey is the key of a connection's carrier in the context of its requests.
type originKey struct{}

func withOrigin(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, originKey{}, c)
}
