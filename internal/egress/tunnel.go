package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Reasons for refusing a tunnel that the policy may grant. Clients that send an ECH extension
// without a key (RFC 9849, 6.2) cannot be told from clients with a key. See decision D111.
const (
	whyNoName = "the TLS client does not say which name it wants; a rule with opaque = true grants that"
	whyECH    = "the TLS client encrypts the name that it wants, or pretends to (ECH); " +
		"a rule with inspect = true or opaque = true grants that"
	whyNotHTTP     = "the connection is neither TLS nor HTTP; a rule with scheme = \"tcp\" grants that"
	whyNoAuthority = "connections to the host are inspected, and this run has no certificates for that"
	whyServerFirst = "the server speaks first; a rule with scheme = \"tcp\" grants that"
)

// tunnels serve connections to a host whose bytes are no request of a proxy's client.
type tunnels struct {
	*run
	judge     *judge
	dialer    *dialer
	listeners *listeners
	plain     *feed         // connections that carry HTTP
	hellos    chan struct{} // bounds the hellos that are read at once
}

// tunnel serves a connection to a host and port. The first bytes tell the scheme unless every
// byte is granted.
func (t *tunnels) tunnel(c *client, h ir.Host, port uint16) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	m := arrival(h, port, c.by, func() { cancel(); reset(c.Conn) })
	m.conn = c.Conn
	v, once, end := t.judge.decided(t.ctx, c.permit, m)
	defer end()
	c.permit = once
	granted, refused := reach(t.judge.policy(once), h, port)
	if !v.Allowed() || len(granted) == 0 {
		c.refused(refused)
		reset(c)
		return
	}
	to := ir.Endpoint{Scheme: likely(granted, port), Host: h, Port: port}
	if unseen(granted) {
		carried := to
		if _, ok := granted[schemeStream]; ok {
			carried.Scheme = schemeStream
		}
		t.join(c, to, carried)
		return
	}
	b, err := t.opening(ctx, c, to)
	switch {
	case err != nil:
		reset(c)
	case b[0] == recordHandshake:
		to.Scheme = schemeHTTPS
		t.secure(c, to)
	case 'A' <= b[0] && b[0] <= 'Z' && !bytes.HasPrefix(b, []byte("SSH-")):
		t.hand(c, c)
	default:
		c.refused(Refusal{Op: refused.Op, Why: whyNotHTTP})
		reset(c)
	}
}

// unseen reports whether all bytes are granted.
func unseen(granted map[string]ir.Verdict) bool {
	if _, ok := granted[schemeStream]; ok {
		return true
	}
	for _, v := range granted {
		if r := rule(v); r == nil || !r.Opaque {
			return false
		}
	}
	return true
}

// errServerFirst is the end of a tunnel whose server speaks first.
var errServerFirst = errors.New("the server speaks first")

// opening reads the first bytes of a client, and meanwhile connects to the host and listens to
// it: with a server that speaks first the client would wait until it is given up.
func (t *tunnels) opening(ctx context.Context, c *client, to ir.Endpoint) ([]byte, error) {
	_ = c.SetReadDeadline(time.Now().Add(t.config.Limits.Handshake))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &watch{ended: make(chan error, 1)}
	go func() {
		err := w.listen(ctx, t, c, to)
		if err != nil {
			_ = c.SetReadDeadline(time.Unix(1, 0))
		}
		w.ended <- err
	}()
	b, err := c.first()
	if err != nil {
		cancel()
	}
	w.stop()
	if watched := <-w.ended; watched != nil {
		t.failed(c, to, watched)
		return nil, watched
	}
	return b, err
}

// A watch listens to a host until its client has spoken.
type watch struct {
	ended   chan error
	mu      sync.Mutex
	conn    net.Conn // that is listened to
	stopped bool
}

func (w *watch) listen(ctx context.Context, t *tunnels, c *client, to ir.Endpoint) error {
	conn := c.upstream()
	if conn == nil {
		var err error
		if conn, err = t.dialer.dial(judgedBy(ctx, t.judge.policy(c.permit)), to); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.conn = conn
	if w.stopped {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	w.mu.Unlock()
	n, err := conn.Read(make([]byte, 1))
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		c.carry(Origin{Host: to.Host, Port: to.Port, Upstream: conn})
		return conn.SetReadDeadline(time.Time{})
	}
	_ = conn.Close()
	if n > 0 {
		return errServerFirst
	}
	return err
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.conn != nil {
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// secure serves a connection whose first bytes are TLS.
func (t *tunnels) secure(c *client, to ir.Endpoint) {
	v, once, end := t.judge.decided(t.ctx, c.permit, matter{
		op: ir.Connect{To: to}, judge: func(p Policy) ir.Verdict { return p.Reach(to) }, by: c.by,
		cut: func() { reset(c.Conn) }, conn: c.Conn,
	})
	defer end()
	c.permit = once
	said, err := t.hello(c)
	refusal := Refusal{Op: ir.Connect{To: to}, Verdict: v}
	switch {
	case err != nil:
		reset(c)
		return
	case !v.Allowed():
	case rule(v) != nil && rule(v).Opaque:
		t.join(c, to, to)
		return
	default:
		inspects := t.judge.policy(once).Inspects(to)
		if refusal.Why = mismatch(to, said, inspects); refusal.Why != "" {
			break
		}
		switch {
		case !inspects:
			t.join(c, to, to)
			return
		case t.config.Authority != nil:
			t.terminate(c, to)
			return
		}
		refusal.Why = whyNoAuthority
	}
	c.refused(refusal)
	_, _ = c.Write([]byte{recordAlert, 3, 3, 0, 2, alertFatal, alertDenied})
}

// mismatch says why a hello does not fit the host that was judged, empty if it does. A client
// may greet twice (RFC 8446, 4.1.4); the second hello is not read, and must not differ in its
// name. A server that takes the second name serves several.
func mismatch(to ir.Endpoint, said hello, inspects bool) string {
	if said.ech && !inspects {
		return whyECH
	}
	if said.name == "" {
		if to.Host.Kind == ir.HostAddr {
			return ""
		}
		return whyNoName
	}
	// Names are ASCII here (RFC 6066, 3): a server reads other characters in its own way.
	other := strings.ContainsFunc(said.name, func(r rune) bool { return r > unicode.MaxASCII })
	named, err := resolve.Host(said.name)
	if err != nil || other || named != to.Host {
		return fmt.Sprintf("the TLS client asks %s for %q", to.Host, said.name)
	}
	return ""
}

// join connects to the host and moves bytes, as long as the carried bytes are granted.
func (t *tunnels) join(c *client, to, carried ir.Endpoint) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	v, end := t.judge.rest(c.permit, matter{
		op: ir.Connect{To: carried}, judge: func(p Policy) ir.Verdict { return p.Reach(carried) }, by: c.by,
		noted: true, cut: func() { cancel(); reset(c.Conn) },
	})
	defer end()
	if !v.Allowed() {
		c.refused(Refusal{Op: ir.Connect{To: carried}, Verdict: v})
		reset(c)
		return
	}
	t.granted(c.by, ir.Connect{To: carried}, c.permit)
	upstream := c.upstream()
	if upstream == nil {
		var err error
		if upstream, err = t.dialer.dial(judgedBy(ctx, t.judge.policy(c.permit)), to); err != nil {
			t.failed(c, to, err)
			reset(c)
			return
		}
	}
	upstream, err := t.dialer.whole(ctx, upstream, to)
	if err != nil {
		reset(c)
		return
	}
	if !t.listeners.track(upstream) {
		_ = upstream.Close()
		return
	}
	defer t.listeners.untrack(upstream)
	over := sync.OnceFunc(func() { reset(upstream) })
	defer context.AfterFunc(ctx, over)()
	if ctx.Err() == nil {
		t.copyBoth(ctx, c, upstream, t.judge.lent.carries(v, nil))
	}
	if ctx.Err() != nil {
		over() // waits for a reset that has begun
	}
}

// failed reports a host that may not be dialled. Other failures are the network's.
func (r *run) failed(c *client, to ir.Endpoint, err error) {
	switch {
	case errors.Is(err, errServerFirst):
		c.refused(Refusal{Op: ir.Connect{To: to}, Why: whyServerFirst})
	case errors.Is(err, errInternal):
		c.refused(Refusal{Op: ir.Connect{To: to}, Why: hostPort(to) + ": " + err.Error()})
	}
}

// hand gives a connection to the HTTP server and waits for its end.
func (t *tunnels) hand(c *client, carrier net.Conn) {
	_ = c.SetDeadline(time.Time{})
	if t.plain.give(carrier) {
		<-c.end
	}
}

// terminate serves a connection whose requests are judged one by one.
func (t *tunnels) terminate(c *client, to ir.Endpoint) {
	cert, err := t.config.Authority.certificate(to.Host)
	if err != nil {
		c.refused(Refusal{Op: ir.Connect{To: to}, Why: err.Error()})
		return
	}
	config := &tls.Config{Certificates: []tls.Certificate{*cert}, NextProtos: []string{"h2", "http/1.1"},
		MinVersion: tls.VersionTLS12}
	t.hand(c, tls.Server(c, config))
}
