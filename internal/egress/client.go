package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/accessc/accessc/ir"
)

// client is a connection of the tool. Bytes that were looked at are read again.
type client struct {
	net.Conn
	proxy  *Proxy
	origin Origin
	seen   []byte
	once   sync.Once
	done   func() // tells the one who waits for the connection's end
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

// Close implements net.Conn and frees the connection's slot.
func (c *client) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		p := c.proxy
		p.mu.Lock()
		delete(p.open, c.Conn)
		p.mu.Unlock()
		<-p.slots
		if c.done != nil {
			c.done()
		}
	})
	return err
}

// CloseWrite ends the direction to the tool.
func (c *client) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return c.Close()
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

// serve finds out what a connection carries and serves it until its end.
func (p *Proxy) serve(c *client) {
	o := c.origin
	switch {
	case o.Resolver:
		p.serveStream(c)
	case o.Host != ir.Host{}:
		p.tunnel(c, o.Host, o.Port)
	default:
		p.greet(c)
	}
	_ = c.Close()
}

// greet serves a client that knows that it speaks with a proxy.
func (p *Proxy) greet(c *client) {
	_ = c.SetDeadline(time.Now().Add(p.config.Limits.Handshake))
	b, err := c.first()
	switch {
	case err != nil:
	case b[0] == socksVersion:
		p.socks(c)
	default:
		p.hand(c)
	}
}

// hand gives a connection to the HTTP server and waits for its end.
func (p *Proxy) hand(c *client) {
	end := make(chan struct{})
	c.done = func() { close(end) }
	_ = c.SetDeadline(time.Time{})
	if p.plain.give(c) {
		<-end
	}
}

// copyBoth moves bytes in both directions until both have ended or nothing moves.
func (p *Proxy) copyBoth(c *client, upstream net.Conn) {
	_ = c.SetDeadline(time.Time{})
	both := make(chan struct{})
	go func() {
		p.copyOne(upstream, c, c.seen)
		close(both)
	}()
	p.copyOne(c.Conn, upstream, nil)
	<-both
	_ = upstream.Close()
}

// copyOne moves bytes in one direction. The kernel moves them where both ends are sockets
// (splice(2)). A direction that failed ends both.
func (p *Proxy) copyOne(dst, src net.Conn, seen []byte) {
	if c, ok := src.(*client); ok {
		src = c.Conn
	}
	var err error
	if len(seen) > 0 {
		_, err = dst.Write(seen)
	}
	const part = 1 << 20
	for err == nil {
		_ = src.SetReadDeadline(time.Now().Add(p.config.Limits.Idle))
		var n int64
		n, err = io.CopyN(dst, src, part)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() && n > 0 {
			err = nil // bytes moved within the time
		}
	}
	if w, ok := dst.(interface{ CloseWrite() error }); ok && err == io.EOF {
		_ = w.CloseWrite()
		return
	}
	_, _ = dst.Close(), src.Close()
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
