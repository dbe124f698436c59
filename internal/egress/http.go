package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Reasons for refusing a request that the policy may grant.
const (
	whyNotAbsolute = "this is a proxy: expected CONNECT, or a request for http:// with its host"
	whyAmbiguous   = "servers disagree about the path of this request; rules with path_prefix grant only plain ones"
	whyTrace       = "TRACE shows a request to its sender, credentials included"
	whyUpgrade     = "connections are upgraded to WebSocket alone"
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
	if r.Method == http.MethodConnect {
		p.connect(w, r, c)
		return
	}
	to, code, why := target(c, r)
	if why == "" {
		code, why = p.acceptable(to, r)
	}
	op := ir.Connect{To: to}
	if why != "" {
		p.refuse(w, Refusal{Op: op, Why: why}, code)
		return
	}
	v := p.config.Policy.Request(to, r.Method)
	if !v.Allowed() {
		p.refuse(w, Refusal{Op: op, Verdict: v}, http.StatusForbidden)
		return
	}
	add, why := p.injection(to, v, r)
	if why != "" {
		p.refuse(w, Refusal{Op: op, Why: why}, http.StatusForbidden)
		return
	}
	add.through(p.forward(to)).ServeHTTP(w, r)
}

// target is where a request goes. In a tunnel it must be for the tunnel's host.
func target(c *client, r *http.Request) (to ir.Endpoint, code int, why string) {
	host, port := c.origin.Host, c.origin.Port
	scheme := schemeHTTP
	if r.TLS != nil {
		scheme = schemeHTTPS
	}
	named, at, err := authority(r.Host, scheme)
	switch {
	case err != nil:
		return to, http.StatusBadRequest, err.Error()
	case host == (ir.Host{}) && (!r.URL.IsAbs() || r.URL.Scheme != schemeHTTP || r.URL.User != nil):
		return to, http.StatusBadRequest, whyNotAbsolute
	case host == (ir.Host{}):
		host, port = named, at
	case r.URL.IsAbs() && r.URL.Scheme != scheme, named != host || at != port:
		why = fmt.Sprintf("a request for %s came by a connection to %s", r.Host, net.JoinHostPort(host.String(), strconv.Itoa(int(port))))
		return to, http.StatusMisdirectedRequest, why
	}
	return ir.Endpoint{Scheme: scheme, Host: host, Port: port, Path: resolve.Segments(r.URL.EscapedPath())}, 0, ""
}

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
	switch {
	case r.Method == http.MethodTrace || r.Method == "TRACK":
		return http.StatusMethodNotAllowed, whyTrace
	case r.Header.Get("Upgrade") != "" && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		return http.StatusBadRequest, whyUpgrade
	case p.config.Policy.Finer(to) && ambiguous(r.URL):
		return http.StatusBadRequest, whyAmbiguous
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
func (p *Proxy) refuse(w http.ResponseWriter, r Refusal, code int) {
	p.refused(r)
	text := p.sentence(r)
	w.Header().Set("X-Proxy-Error", text)
	w.Header().Set("Connection", "close")
	http.Error(w, text, code)
}

// connect serves a CONNECT request: a tunnel to a host and port.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request, c *client) {
	if c.origin.Host != (ir.Host{}) || r.ProtoMajor != 1 {
		p.refuse(w, Refusal{Op: ir.Connect{}, Why: "CONNECT inside a tunnel"}, http.StatusMethodNotAllowed)
		return
	}
	h, port, err := authority(r.Host, "")
	if err != nil {
		p.refuse(w, Refusal{Op: ir.Connect{}, Why: err.Error()}, http.StatusBadRequest)
		return
	}
	_, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	// The client may have sent bytes behind its request.
	if n := buffered.Reader.Buffered(); n > 0 {
		rest, _ := buffered.Reader.Peek(n)
		c.seen = append(append([]byte{}, rest...), c.seen...)
	}
	defer c.Close()
	granted, refused := reach(p.config.Policy, h, port)
	if len(granted) == 0 {
		p.refused(refused)
		answer(c, http.StatusForbidden, p.sentence(refused))
		return
	}
	to := ir.Endpoint{Scheme: likely(granted, port), Host: h, Port: port}
	upstream, err := p.dial(p.ctx, to)
	if err != nil {
		p.failed(to, err)
		code := http.StatusBadGateway
		if errors.Is(err, errInternal) {
			code = http.StatusForbidden
		}
		answer(c, code, "accessc: "+err.Error())
		return
	}
	c.origin = Origin{Host: h, Port: port, Upstream: upstream}
	defer c.dropUpstream()
	if _, err := c.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err == nil {
		p.tunnel(c, h, port)
	}
}

// answer writes a refusal of CONNECT. The reason stands in the status line, which clients show.
func answer(c *client, code int, text string) {
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nX-Proxy-Error: %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		code, line, line, len(text)+1, text)
}

// forward sends judged requests to a host.
func (p *Proxy) forward(to ir.Endpoint) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: p.transport, FlushInterval: -1, ErrorLog: p.server.ErrorLog,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, errInternal) {
				p.refuse(w, Refusal{Op: ir.Connect{To: to}, Why: err.Error()}, http.StatusForbidden)
				return
			}
			w.Header().Set("X-Proxy-Error", "accessc: "+err.Error())
			w.WriteHeader(http.StatusBadGateway)
		},
	}
}

// newTransport dials hosts that were judged; connections are kept for requests to the same host,
// each of which is judged.
func (p *Proxy) newTransport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			h, port, err := authority(address, "")
			if err != nil {
				return nil, err
			}
			if c := clientOf(ctx); c != nil && c.origin.Upstream != nil && c.origin.Host == h && c.origin.Port == port {
				conn := c.origin.Upstream
				c.origin.Upstream = nil
				return conn, nil
			}
			return p.dial(ctx, ir.Endpoint{Scheme: schemeOf(port), Host: h, Port: port})
		},
		TLSClientConfig: &tls.Config{RootCAs: p.config.Roots}, DisableCompression: true, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: p.config.Limits.Handshake * 6,
		TLSHandshakeTimeout: p.config.Limits.Handshake, MaxResponseHeaderBytes: int64(p.config.Limits.Header) * 4,
	}
}
