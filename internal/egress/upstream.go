package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"

	"github.com/accessc/accessc/ir"
)

// CallersProxy is Config.Proxy for the proxy variables of an environment. It returns nil if
// there are none.
func CallersProxy(getenv func(string) string) func(*url.URL) (*url.URL, error) {
	get := func(upper, lower string) string {
		if v := getenv(lower); v != "" {
			return v
		}
		return getenv(upper)
	}
	all := get("ALL_PROXY", "all_proxy")
	c := httpproxy.Config{HTTPProxy: getenv("http_proxy"), HTTPSProxy: get("HTTPS_PROXY", "https_proxy"),
		NoProxy: get("NO_PROXY", "no_proxy")}
	if c.HTTPProxy == "" && getenv("REQUEST_METHOD") == "" { // in CGI the client sets HTTP_PROXY
		c.HTTPProxy = getenv("HTTP_PROXY")
	}
	if c.HTTPProxy == "" {
		c.HTTPProxy = all
	}
	if c.HTTPSProxy == "" {
		c.HTTPSProxy = all
	}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil
	}
	return c.ProxyFunc()
}

// via returns the caller's own proxy for a target, nil for none. Streams take that for https. See
// decision D121.
func (d *dialer) via(to ir.Endpoint) (*url.URL, error) {
	if d.config.Proxy == nil || local(to.Host.Name) {
		return nil, nil
	}
	scheme := schemeHTTPS
	if to.Scheme == schemeHTTP {
		scheme = schemeHTTP
	}
	via, err := d.config.Proxy(&url.URL{Scheme: scheme, Host: hostPort(to)})
	if err != nil {
		return nil, errors.New("the proxy variables of the caller cannot be understood")
	}
	return via, nil
}

// hostPort writes where a target is.
func hostPort(to ir.Endpoint) string { return to.Host.String() + ":" + strconv.Itoa(int(to.Port)) }

// dialVia connects to a target by the caller's proxy, which resolves the name. Neither its
// credentials nor its words reach the tool.
func (d *dialer) dialVia(ctx context.Context, via *url.URL, to ir.Endpoint) (net.Conn, error) {
	if err := d.unresolved(ctx, to); err != nil {
		return nil, err
	}
	conn, err := d.dialProxy(ctx, via)
	if err != nil {
		return nil, err
	}
	if to.Scheme == schemeHTTP && speaksHTTP(via) {
		return &halfway{Conn: conn, via: via}, nil
	}
	return d.ask(ctx, conn, via, to)
}

// unresolved refuses hosts whose addresses stay unknown.
func (d *dialer) unresolved(ctx context.Context, to ir.Endpoint) error {
	if to.Host.Kind == ir.HostAddr {
		return d.filter.literal(ctx, to)
	}
	return d.judge.countName(ctx, to)
}

// halfway is a connection to the caller's proxy for a host with which the client will speak
// plain HTTP, it seems. Proxies take such requests in absolute form, and many of them no CONNECT
// to port 80.
type halfway struct {
	net.Conn
	via *url.URL
}

func speaksHTTP(via *url.URL) bool { return via.Scheme == "http" || via.Scheme == "https" }

// forwarder is the caller's proxy for requests that are sent to it in absolute form, nil for none.
func (d *dialer) forwarder(ctx context.Context, to ir.Endpoint) (*url.URL, error) {
	via, err := d.via(to)
	if err != nil || via == nil || to.Scheme != schemeHTTP || !speaksHTTP(via) {
		return nil, err
	}
	return via, d.unresolved(ctx, to)
}

// whole finishes a connection that is halfway.
func (d *dialer) whole(ctx context.Context, conn net.Conn, to ir.Endpoint) (net.Conn, error) {
	h, ok := conn.(*halfway)
	if !ok {
		return conn, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.Limits.Dial)
	defer cancel()
	return d.ask(ctx, h.Conn, h.via, to)
}

// ask has the caller's proxy connect to a target, which may take as long as the context lasts.
func (d *dialer) ask(ctx context.Context, bare net.Conn, via *url.URL, to ir.Endpoint) (conn net.Conn, err error) {
	waits := context.AfterFunc(ctx, func() { _ = bare.SetDeadline(time.Unix(1, 0)) })
	if speaksHTTP(via) {
		conn, err = d.connectBy(ctx, bare, via, to)
	} else {
		conn, err = socksBy(ctx, bare, via, to)
	}
	if !waits() && err == nil {
		_ = bare.Close()
		return nil, ctx.Err()
	}
	return conn, err
}

// errForwarder is the failure to reach the caller's proxy.
var errForwarder = errors.New("the caller's own proxy cannot be reached")

// dialProxy connects to the caller's proxy, which the caller trusts wherever it is.
func (d *dialer) dialProxy(ctx context.Context, via *url.URL) (net.Conn, error) {
	port, known := map[string]uint64{"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}[via.Scheme]
	if !known {
		return nil, fmt.Errorf("the caller's own proxy has the unknown scheme %q", via.Scheme)
	}
	if via.Port() != "" {
		var err error
		if port, err = strconv.ParseUint(via.Port(), 10, 16); err != nil {
			return nil, errForwarder
		}
	}
	var list []netip.Addr
	switch a, err := netip.ParseAddr(via.Hostname()); {
	case err == nil:
		list = append(list, a)
	case local(via.Hostname()):
		list = loopback
	default:
		found, _ := d.config.Resolve(ctx, via.Hostname())
		list = found.Addrs
	}
	for _, a := range list {
		conn, err := d.config.Dial(ctx, netip.AddrPortFrom(a, uint16(port)))
		if err == nil {
			return conn, nil
		}
	}
	return nil, errForwarder
}

// connectBy asks a proxy by CONNECT.
func (d *dialer) connectBy(ctx context.Context, conn net.Conn, via *url.URL, to ir.Endpoint) (net.Conn, error) {
	if via.Scheme == "https" {
		secure := tls.Client(conn, &tls.Config{ServerName: via.Hostname(), RootCAs: d.config.Roots})
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, errors.New("the caller's own proxy has no valid certificate")
		}
		conn = secure
	}
	request := "CONNECT " + hostPort(to) + " HTTP/1.1\r\nHost: " + hostPort(to) + "\r\n"
	if u := via.User; u != nil {
		password, _ := u.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(u.Username() + ":" + password))
		request += "Proxy-Authorization: Basic " + basic + "\r\n"
	}
	_, err := io.WriteString(conn, request+"\r\n")
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	// The host may have spoken already; bytes behind the answer are read again.
	buffered := bufio.NewReader(&io.LimitedReader{R: conn, N: maxAnswer})
	answer, err := http.ReadResponse(buffered, &http.Request{Method: http.MethodConnect})
	if err != nil || answer.StatusCode != http.StatusOK {
		_ = conn.Close()
		if err != nil {
			return nil, errors.New("the caller's own proxy does not answer")
		}
		return nil, fmt.Errorf("the caller's own proxy answered %d", answer.StatusCode)
	}
	if n := buffered.Buffered(); n > 0 {
		rest, _ := buffered.Peek(n)
		return &spoken{Conn: conn, rest: rest}, nil
	}
	return conn, nil
}

// maxAnswer bounds the answer of the caller's proxy in bytes.
const maxAnswer = 64 << 10

// spoken is a connection of which some bytes were read too early.
type spoken struct {
	net.Conn
	rest []byte
}

// Read implements net.Conn.
func (s *spoken) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		return s.Conn.Read(b)
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// CloseWrite ends the direction to the host where the carrier can.
func (s *spoken) CloseWrite() error {
	if w, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return s.Conn.Close()
}

// connected is a dialer that has connected already.
type connected struct{ net.Conn }

// Dial implements proxy.Dialer.
func (c connected) Dial(string, string) (net.Conn, error) { return c.Conn, nil }

// socksBy asks a proxy by SOCKS5.
func socksBy(ctx context.Context, conn net.Conn, via *url.URL, to ir.Endpoint) (net.Conn, error) {
	var auth *proxy.Auth
	if u := via.User; u != nil {
		password, _ := u.Password()
		auth = &proxy.Auth{User: u.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", via.Host, auth, connected{conn})
	if err == nil {
		name := to.Host.Name
		if to.Host.Kind == ir.HostAddr {
			name = to.Host.Addr.String()
		}
		host := net.JoinHostPort(name, strconv.Itoa(int(to.Port)))
		if _, err = d.(proxy.ContextDialer).DialContext(ctx, "tcp", host); err == nil {
			return conn, nil // which knows more than what carries it now
		}
	}
	_ = conn.Close()
	return nil, errors.New("the caller's own proxy does not connect to the host")
}
