package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/accessc/accessc/ir"
)

// A carriage is where a judged request goes, and by which of the caller's proxies in absolute
// form, nil for none.
type carriage struct {
	to  ir.Endpoint
	via *url.URL
	// once is the permission that the user gave only the request, nil for none.
	once *permission
	// lent judges the request if it rests on a grant for the run, else it is nil.
	lent func(Policy) ir.Verdict
}

// carriageKey is the key of the carriage in the context of a request.
type carriageKey struct{}

func carriageOf(ctx context.Context) carriage {
	out, _ := ctx.Value(carriageKey{}).(carriage)
	return out
}

// senders send judged requests to their hosts. Connections are kept for requests to the same host, each of which is
// judged.
type senders struct {
	*run
	judge  *judge
	dialer *dialer
	// shared has the connections of requests that rules grant; lending has its own.
	shared *http.Transport
}

func newSenders(r *run, j *judge, d *dialer) *senders {
	s := &senders{run: r, judge: j, dialer: d}
	s.shared = s.newTransport()
	if j.lent != nil {
		j.lent.transport = s.newTransport()
	}
	return s
}

// idle closes the connections that no request uses.
func (s *senders) idle() {
	s.shared.CloseIdleConnections()
	if s.judge.lent != nil {
		s.judge.lent.transport.CloseIdleConnections()
	}
}

// carrier connects for a request. The connection that its client came with is used first.
func (s *senders) carrier(ctx context.Context) (net.Conn, error) {
	by := carriageOf(ctx)
	if c := clientOf(ctx); c != nil && c.origin.Host == by.to.Host && c.origin.Port == by.to.Port {
		conn := c.upstream()
		half, _ := conn.(*halfway)
		switch {
		case conn == nil:
		case by.via == nil:
			return s.dialer.whole(ctx, conn, by.to)
		case half != nil:
			return half.Conn, nil
		default: // the caller's proxy was asked for a tunnel
			_ = conn.Close()
		}
	}
	if by.via == nil {
		return s.dialer.dial(ctx, by.to)
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Limits.Dial)
	defer cancel()
	return s.dialer.dialProxy(ctx, by.via)
}

// carried is a connection for requests. A connection to a host that rests on a grant ends with
// it.
func (s *senders) carried(ctx context.Context) (net.Conn, error) {
	by := carriageOf(ctx)
	out := &timed{idle: s.config.Limits.Idle, end: func() {}, lent: by.lent != nil}
	ctx, cancel := context.WithCancel(ctx)
	if by.via == nil {
		judge := by.lent
		if judge == nil {
			judge = func(p Policy) ir.Verdict { return p.Reach(by.to) }
		}
		v, end := s.judge.rest(by.once,
			matter{op: ir.Connect{To: by.to}, judge: judge, cut: func() { cancel(); out.cut() }})
		if out.end = end; !v.Allowed() {
			cancel()
			return nil, errRevoked
		}
	}
	conn, err := s.carrier(ctx)
	cancel()
	if err != nil {
		out.end()
		return nil, err
	}
	return out, out.start(conn)
}

// newTransport dials hosts that were judged; connections are kept for requests to the same host,
// each of which is judged.
func (s *senders) newTransport() *http.Transport {
	limits := s.config.Limits
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) { return carriageOf(r.Context()).via, nil },
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return s.carried(ctx)
		},
		TLSClientConfig: &tls.Config{RootCAs: s.config.Roots}, DisableCompression: true, ForceAttemptHTTP2: true,
		MaxIdleConns: 256, MaxIdleConnsPerHost: 32, IdleConnTimeout: limits.Handshake * 6,
		TLSHandshakeTimeout: limits.Handshake, ExpectContinueTimeout: time.Second,
		MaxResponseHeaderBytes: int64(limits.Header) * 4,
	}
}
