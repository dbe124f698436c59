package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Reasons for refusing a request that the policy may grant.
const (
	whyNotAbsolute = "this is a proxy: expected CONNECT, or a request for http:// with its host"
	whyAmbiguous   = "servers disagree about the path of this request; rules with path_prefix grant only plain ones"
	whyMalformed   = "the target of this request has user information, a second host, a backslash or other characters that no target has"
	whyOverride    = "servers may take another path or method for the one of this request"
	whyTrace       = "TRACE shows a request to its sender, credentials included"
	whyNested      = "CONNECT inside a tunnel"
	whyBusy        = "too many requests at once"
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

// request answers a request of the tool.
func (p *Proxy) request(w http.ResponseWriter, r *http.Request) {
	c := clientOf(r.Context())
	if !p.passes(w, r, c) {
		return
	}
	if r.Method == http.MethodConnect {
		p.connect(w, r, c)
		return
	}
	select {
	case p.requests <- struct{}{}:
		defer func() { <-p.requests }()
	default:
		fail(w, whyBusy, http.StatusServiceUnavailable)
		return
	}
	to, code, why := p.target(c, r)
	if why == "" {
		code, why = p.acceptable(to, r)
	}
	op := ir.Connect{To: to, Method: r.Method}
	if why != "" {
		p.refuse(w, c, Refusal{Op: op, Why: why}, code)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	over := ending{conn: c.Conn, cancel: cancel}
	if r.ProtoMajor > 1 {
		over.stream = http.NewResponseController(w)
	}
	judge := func(p Policy) ir.Verdict { return p.Request(to, r.Method) }
	v, once, end := p.decided(ctx, c.permit, matter{op: op, judge: judge, by: c.by, noted: true, cut: over.cut})
	defer end()
	defer over.end()
	if !v.Allowed() {
		p.refuse(w, c, Refusal{Op: op, Verdict: v}, http.StatusForbidden)
		return
	}
	if !webSocket(r.Header) {
		// A server may disregard the wish for another protocol (RFC 9110, 7.8), such as for
		// HTTP/2, whose requests would not be judged.
		r.Header.Del("Upgrade")
	}
	add, why := p.injection(to, v, r)
	if why != "" {
		p.refuse(w, c, Refusal{Op: op, Why: why}, http.StatusForbidden)
		return
	}
	ctx = judgedBy(ctx, p.policy(once))
	via, err := p.forwarder(ctx, to)
	if err != nil {
		p.unreached(w, c, to, err)
		return
	}
	by, transport := carriage{to: to, via: via, once: once}, p.transport
	if p.lent.carries(v, once) {
		by.lent, transport = judge, p.lent.transport
	}
	add.through(p.forward(c, to, transport)).ServeHTTP(w, r.WithContext(context.WithValue(ctx, carriageKey{}, by)))
}

func webSocket(h http.Header) bool {
	return len(h["Upgrade"]) == 1 && strings.EqualFold(h.Get("Upgrade"), "websocket")
}

// target is where a request goes. In a tunnel it must be for the tunnel's host. A Host beside an
// absolute target counts for nothing (RFC 9112, 3.2.2) and is not forwarded.
func (p *Proxy) target(c *client, r *http.Request) (to ir.Endpoint, code int, why string) {
	host, port := c.origin.Host, c.origin.Port
	scheme := schemeHTTP
	if r.TLS != nil {
		scheme = schemeHTTPS
	}
	named, at, err := authority(r.Host, scheme)
	switch {
	case malformed(r):
		return to, http.StatusBadRequest, whyMalformed
	case err != nil:
		return to, http.StatusBadRequest, err.Error()
	case host == (ir.Host{}) && (!r.URL.IsAbs() || r.URL.Scheme != schemeHTTP):
		return to, http.StatusBadRequest, whyNotAbsolute
	case host == (ir.Host{}):
		host, port = p.meant(named), at
	case r.URL.IsAbs() && r.URL.Scheme != scheme, !means(named, host) || at != port:
		why = fmt.Sprintf("a request for %s came by a connection to %s", r.Host, hostPort(ir.Endpoint{Host: host, Port: port}))
		return to, http.StatusMisdirectedRequest, why
	}
	return ir.Endpoint{Scheme: scheme, Host: host, Port: port, Path: resolve.Segments(r.URL.EscapedPath())}, 0, ""
}

// means reports whether a name is that of the host that a connection goes to. A client that wants
// localhost connects to an address.
func means(named, host ir.Host) bool {
	return named == host || named == (ir.Host{Kind: ir.HostName, Name: ir.Localhost}) && host.Kind == ir.HostAddr && host.Addr.Unmap().IsLoopback()
}

// malformed reports whether a target has parts that programs read in different ways, whatever
// the rules are. The query may have a backslash: it belongs to the server. HTTP/2 has room for a
// second and a third host in the path and in a field.
func malformed(r *http.Request) bool {
	for _, host := range r.Header["Host"] {
		if host != r.Host {
			return true
		}
	}
	if r.URL.IsAbs() && r.URL.Host != r.Host {
		return true
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return r.URL.User != nil || r.URL.Opaque != "" || strings.ContainsFunc(r.RequestURI, outside) || strings.Contains(path, "\\")
}

// outside reports whether a target cannot have a character (RFC 3986, 2; RFC 9112, 3.2). Some servers end the target at
// a blank of Latin-1 as well, and HTTP/2 carries them all.
func outside(c rune) bool { return c <= ' ' || c > '~' }

// authority parses a host with an optional port (RFC 3986, 3.2).
func authority(s, scheme string) (ir.Host, uint16, error) {
	name, port := s, ir.DefaultPort(scheme)
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		n, err := strconv.ParseUint(s[i+1:], 10, 16)
		if err != nil || n == 0 {
			return ir.Host{}, 0, fmt.Errorf("found the port %q, expected 1 to 65535", s[i+1:])
		}
		name, port = s[:i], uint16(n)
	}
	h, err := resolve.Host(name)
	if err != nil {
		return ir.Host{}, 0, err
	}
	if port == 0 {
		return ir.Host{}, 0, errors.New("found no port")
	}
	return h, port, nil
}

// acceptable refuses requests that servers may understand in another way than the policy.
func (p *Proxy) acceptable(to ir.Endpoint, r *http.Request) (code int, why string) {
	if strings.EqualFold(r.Method, http.MethodTrace) || strings.EqualFold(r.Method, "TRACK") {
		return http.StatusMethodNotAllowed, whyTrace
	}
	if !p.policy(nil).Finer(to) {
		return 0, ""
	}
	switch {
	case ambiguous(r.URL):
		return http.StatusBadRequest, whyAmbiguous
	case strings.ToUpper(r.Method) != r.Method, overridden(r):
		return http.StatusBadRequest, whyOverride
	}
	return 0, ""
}

// ambiguous reports whether servers read a path in different ways.
func ambiguous(u *url.URL) bool {
	path := u.EscapedPath()
	if u.Opaque != "" || !strings.HasPrefix(path, "/") && path != "" || strings.Contains(path, "//") || strings.ContainsAny(path, "\\;") {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	if misread(path) {
		return true
	}
	// A percent-encoded character that needs no encoding, or that separates or ends segments
	// where a server decodes first.
	for rest := path; ; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			return false
		}
		n, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 || n < ' ' || n == 0x7f || strings.ContainsRune("./\\%;?#", rune(n)) || unreserved(byte(n)) {
			return true
		}
		rest = after[2:]
	}
}

// unreserved reports whether a character never needs encoding (RFC 3986, 2.3).
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// refuse answers a request that is not forwarded.
func (p *Proxy) refuse(w http.ResponseWriter, c *client, r Refusal, code int) {
	c.refused(r)
	deny(w, p.sentence(r), code)
}

// connect serves a CONNECT request: a tunnel to a host and port.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request, c *client) {
	if c.origin.Host != (ir.Host{}) || r.ProtoMajor != 1 {
		p.refuse(w, c, Refusal{Op: ir.Connect{}, Why: whyNested}, http.StatusMethodNotAllowed)
		return
	}
	h, port, err := authority(r.Host, "")
	if r.RequestURI != r.Host {
		err = errors.New(whyMalformed)
	}
	if err != nil {
		p.refuse(w, c, Refusal{Op: ir.Connect{}, Why: err.Error()}, http.StatusBadRequest)
		return
	}
	h = p.meant(h)
	refused, ok := p.admits(r.Context(), c, h, port)
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
		answer(c, http.StatusForbidden, p.sentence(refused))
		return
	}
	upstream, to, err := p.dialed(p.ctx, c.permit, h, port)
	if err != nil {
		p.failed(c, to, err)
		answer(c, failure(err), "accessc: "+err.Error())
		return
	}
	c.carry(Origin{Host: h, Port: port, Upstream: upstream})
	if _, err := c.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err == nil {
		p.tunnel(c, h, port)
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

// forwarded are the headers that a reverse proxy takes from its clients. This one passes them on.
var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// errUpgrade is a server that changes the protocol although nothing asked for that.
var errUpgrade = errors.New("the server changes the protocol without having been asked")

// forward sends judged requests to a host, which gets the name that was judged.
func (p *Proxy) forward(c *client, to ir.Endpoint, by *http.Transport) *httputil.ReverseProxy {
	host := hostPort(to)
	if to.Port == ir.DefaultPort(to.Scheme) {
		host = to.Host.String()
	}
	return &httputil.ReverseProxy{
		Transport: by, FlushInterval: -1, ErrorLog: p.server.ErrorLog, BufferPool: &p.buffers,
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
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, err error) { p.unreached(w, c, to, err) },
	}
}

// unreached answers a request whose host was not reached.
func (p *Proxy) unreached(w http.ResponseWriter, c *client, to ir.Endpoint, err error) {
	p.failed(c, to, err)
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

// buffers are those through which the bodies of answers pass.
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
