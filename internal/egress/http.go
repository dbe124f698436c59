package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"sync"

	"github.com/accessc/accessc/ir"
)

// Reasons for refusing a request that the policy may grant.
const (
	whyNotAbsolute = "this is a proxy: expected CONNECT, or a request for http:// with its host"
	whyAmbiguous   = "servers disagree about the path of this request; rules with path_prefix grant only plain ones"
	whyMalformed   = "the target of this request has user information, a second host, a backslash or " +
		"other characters that no target has"
	whyOverride = "servers may take another path or method for the one of this request"
	whyTrace    = "TRACE shows a request to its sender, credentials included"
	whyNested   = "CONNECT inside a tunnel"
	whyBusy     = "too many requests at once"
)

// clientOf returns the connection that a request came by.
func clientOf(ctx context.Context) *client {
	switch c := ctx.Value(originKey{}).(type) {
	case *client:
		return c
	case *tls.Conn:
		out, _ := c.NetConn().(*client)
		return out
	}
	return nil
}

// requests serve the HTTP of the tool: each request is judged, and sent to its host by senders.
type requests struct {
	*run
	judge   *judge
	dialer  *dialer
	tunnels *tunnels
	senders *senders
	server  *http.Server
	slots   chan struct{} // bounds the requests at once
	buffers buffers
}

func newRequests(r *run, j *judge, d *dialer, t *tunnels) *requests {
	limits := r.config.Limits
	s := &requests{run: r, judge: j, dialer: d, tunnels: t, senders: newSenders(r, j, d),
		slots: make(chan struct{}, limits.Connections)}
	s.server = &http.Server{
		Handler: http.HandlerFunc(s.request), ConnContext: withOrigin, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: limits.Handshake, IdleTimeout: limits.Idle, MaxHeaderBytes: limits.Header,
		DisableGeneralOptionsHandler: true,
	}
	return s
}

// request answers a request of the tool.
func (s *requests) request(w http.ResponseWriter, r *http.Request) {
	c := clientOf(r.Context())
	if !s.passes(w, r, c) {
		return
	}
	if r.Method == http.MethodConnect {
		s.connect(w, r, c)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		fail(w, whyBusy, http.StatusServiceUnavailable)
		return
	}
	to, code, why := s.target(c, r)
	if why == "" {
		code, why = s.acceptable(to, r)
	}
	op := ir.Connect{To: to, Method: r.Method}
	if why != "" {
		s.refuse(w, c, Refusal{Op: op, Why: why}, code)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	over := ending{conn: c.Conn, cancel: cancel}
	if r.ProtoMajor > 1 {
		over.stream = http.NewResponseController(w)
	}
	judge := func(p Policy) ir.Verdict { return p.Request(to, r.Method) }
	v, once, end := s.judge.decided(ctx, c.permit, matter{op: op, judge: judge, by: c.by, noted: true, cut: over.cut})
	defer end()
	defer over.end()
	if !v.Allowed() {
		s.refuse(w, c, Refusal{Op: op, Verdict: v}, http.StatusForbidden)
		return
	}
	if !webSocket(r.Header) {
		// A server may disregard the wish for another protocol (RFC 9110, 7.8), such as for
		// HTTP/2, whose requests would not be judged.
		r.Header.Del("Upgrade")
	}
	add, why := s.config.Secrets.injection(to, v, r)
	if why != "" {
		s.refuse(w, c, Refusal{Op: op, Why: why}, http.StatusForbidden)
		return
	}
	s.granted(c.by, op, once)
	ctx = judgedBy(ctx, s.judge.policy(once))
	via, err := s.dialer.forwarder(ctx, to)
	if err != nil {
		s.unreached(w, c, to, err)
		return
	}
	by, transport := carriage{to: to, via: via, once: once}, s.senders.shared
	if s.judge.lent.carries(v, once) {
		by.lent, transport = judge, s.judge.lent.transport
	}
	add.through(s.forward(c, to, transport)).ServeHTTP(w, r.WithContext(context.WithValue(ctx, carriageKey{}, by)))
}

func webSocket(h http.Header) bool {
	return len(h["Upgrade"]) == 1 && strings.EqualFold(h.Get("Upgrade"), "websocket")
}

// refuse answers a request that is not forwarded.
func (s *requests) refuse(w http.ResponseWriter, c *client, r Refusal, code int) {
	c.refused(r)
	deny(w, s.sentence(r), code)
}

// connect serves a CONNECT request: a tunnel to a host and port.
func (s *requests) connect(w http.ResponseWriter, r *http.Request, c *client) {
	if c.origin.Host != (ir.Host{}) || r.ProtoMajor != 1 {
		s.refuse(w, c, Refusal{Op: ir.Connect{}, Why: whyNested}, http.StatusMethodNotAllowed)
		return
	}
	h, port, err := authority(r.Host, "")
	if r.RequestURI != r.Host {
		err = errors.New(whyMalformed)
	}
	if err != nil {
		s.refuse(w, c, Refusal{Op: ir.Connect{}, Why: err.Error()}, http.StatusBadRequest)
		return
	}
	h = s.pool.meant(h)
	refused, ok := s.judge.admits(r.Context(), c, h, port)
	_, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	// The client may have sent bytes behind its request.
	if n := buffered.Reader.Buffered(); n > 0 {
		rest, _ := buffered.Reader.Peek(n)
		c.seen = append(append([]byte{}, rest...), c.seen...)
	}
	if !ok {
		c.refused(refused)
		answer(c, http.StatusForbidden, s.sentence(refused))
		return
	}
	upstream, to, err := s.dialer.dialed(s.ctx, c.permit, h, port)
	if err != nil {
		s.failed(c, to, err)
		answer(c, failure(err), "accessc: "+err.Error())
		return
	}
	c.carry(Origin{Host: h, Port: port, Upstream: upstream})
	if _, err := c.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err == nil {
		s.tunnels.tunnel(c, h, port)
	}
}

// failure is the status for a host that was not reached.
func failure(err error) int {
	switch {
	case errors.Is(err, errInternal):
		return http.StatusForbidden
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// forwarded are the headers that a reverse proxy takes from its clients. This proxy passes them
// on.
var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// errUpgrade is a server that changes the protocol although nothing asked for that.
var errUpgrade = errors.New("the server changes the protocol without having been asked")

// forward sends judged requests to a host, which gets the name that was judged.
func (s *requests) forward(c *client, to ir.Endpoint, by *http.Transport) *httputil.ReverseProxy {
	host := hostPort(to)
	if to.Port == ir.DefaultPort(to.Scheme) {
		host = to.Host.String()
	}
	return &httputil.ReverseProxy{
		Transport: by, FlushInterval: -1, ErrorLog: s.server.ErrorLog, BufferPool: &s.buffers,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, host, host
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			for _, name := range forwarded {
				if v := r.In.Header[name]; v != nil {
					r.Out.Header[name] = v
				}
			}
		},
		ModifyResponse: acceptableAnswer,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, err error) { s.unreached(w, c, to, err) },
	}
}

// unreached answers a request whose host was not reached.
func (s *requests) unreached(w http.ResponseWriter, c *client, to ir.Endpoint, err error) {
	s.failed(c, to, err)
	say := fail
	if errors.Is(err, errInternal) {
		say = deny
	}
	say(w, "accessc: "+err.Error(), failure(err))
}

// acceptableAnswer refuses answers that are not to a request of the tool.
func acceptableAnswer(r *http.Response) error {
	var err error
	switch {
	case r.StatusCode == http.StatusSwitchingProtocols && !webSocket(r.Request.Header):
		err = errUpgrade
	case r.StatusCode == http.StatusProxyAuthRequired && carriageOf(r.Request.Context()).via != nil:
		err = errForwarder
	default:
		return nil
	}
	_ = r.Body.Close()
	return err
}

// buffers are the buffers through which the bodies of answers pass.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if have, ok := b.pool.Get().(*[]byte); ok {
		return *have
	}
	return make([]byte, 32<<10)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(used []byte) { b.pool.Put(&used) }
