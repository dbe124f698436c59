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
	// once is the permission that the user gave the request alone, nil for none.
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

// carrier connects for a request. The connection that its client came with is used first.
func (p *Proxy) carrier(ctx context.Context) (net.Conn, error) {
	by := carriageOf(ctx)
	if c := clientOf(ctx); c != nil && c.origin.Host == by.to.Host && c.origin.Port == by.to.Port {
		conn := c.upstream()
		half, _ := conn.(*halfway)
		switch {
		case conn == nil:
		case by.via == nil:
			return p.whole(ctx, conn, by.to)
		case half != nil:
			return half.Conn, nil
		default: // the caller's proxy was asked for a tunnel
			_ = conn.Close()
		}
	}
	if by.via == nil {
		return p.dial(ctx, by.to)
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Limits.Dial)
	defer cancel()
	return p.dialProxy(ctx, by.via)
}

// carried is a connection for requests. One to a host that rests on a grant ends with it.
func (p *Proxy) carried(ctx context.Context) (net.Conn, error) {
	by := carriageOf(ctx)
	out := &timed{idle: p.config.Limits.Idle, end: func() {}, lent: by.lent != nil}
	ctx, cancel := context.WithCancel(ctx)
	if by.via == nil {
		judge := by.lent
		if judge == nil {
			judge = func(p Policy) ir.Verdict { return p.Reach(by.to) }
		}
		v, end := p.rest(by.once, matter{op: ir.Connect{To: by.to}, judge: judge, cut: func() { cancel(); out.cut() }})
		if out.end = end; !v.Allowed() {
			cancel()
			return nil, errRevoked
		}
	}
	conn, err := p.carrier(ctx)
	cancel()
	if err != nil {
		out.end()
		return nil, err
	}
	return out, out.start(conn)
}

// newTransport dials hosts that were judged; connections are kept for requests to the same host,
// each of which is judged.
func (p *Proxy) newTransport() *http.Transport {
	limits := p.config.Limits
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) { return carriageOf(r.Context()).via, nil },
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return p.carried(ctx)
		},
		TLSClientConfig: &tls.Config{RootCAs: p.config.Roots}, DisableCompression: true, ForceAttemptHTTP2: true,
		MaxIdleConns: 256, MaxIdleConnsPerHost: 32, IdleConnTimeout: limits.Handshake * 6,
		TLSHandshakeTimeout: limits.Handshake, ExpectContinueTimeout: time.Second, MaxResponseHeaderBytes: int64(limits.Header) * 4,
	}
}
