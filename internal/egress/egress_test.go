package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/proxy"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// A world is a proxy among servers that names lead to.
type world struct {
	testing.TB
	proxy *egress.Proxy
	plain *httptest.Server
	tls   *httptest.Server
	names map[string]string // name → address that the resolver gives
	// aliases are the names that a name is an alias of.
	aliases map[string][]string
	mu      sync.Mutex
	said    []string
	dials   []string
	looks   []string

	reached []string          // requests that arrived at a server
	handle  http.HandlerFunc  // answers them, nil for the default
	ports   map[uint16]string // servers beside the two
}

func newWorld(t testing.TB, rules ...ir.NetRule) *world { return newWorldWith(t, nil, rules...) }

func newWorldWith(t testing.TB, a *egress.Authority, rules ...ir.NetRule) *world {
	return newWorldOf(t, func(c *egress.Config) { c.Authority = a }, rules...)
}

func newWorldOf(t testing.TB, change func(*egress.Config), rules ...ir.NetRule) *world {
	w := &world{TB: t, names: map[string]string{}, ports: map[uint16]string{}}
	h := http.HandlerFunc(w.serve)
	w.plain, w.tls = httptest.NewServer(h), httptest.NewUnstartedServer(h)
	w.tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.tls.EnableHTTP2 = true
	w.tls.StartTLS()
	var err error
	view := ir.NewView(&ir.Tool{Name: "t", Net: rules}, ir.Linux, ir.Facts{})
	config := egress.Config{
		Policy: view, Roots: pool(w.tls.Certificate()), Limits: egress.DefaultLimits(),
		Resolve: w.lookup, Dial: w.reach,
		Refused: func(r egress.Refusal) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.said = append(w.said, fmt.Sprint(r.Op, r.Why))
		},
		Sentence: func(op ir.Operation, _ ir.Verdict) string { return fmt.Sprint("refused ", op) },
	}
	if change != nil {
		change(&config)
	}
	w.proxy, err = egress.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.proxy.Close(); w.plain.Close(); w.tls.Close() })
	return w
}

// serve answers a request that arrived.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.reached = append(w.reached, r.Method+" "+r.Host+" "+r.URL.EscapedPath())
	handle := w.handle
	w.mu.Unlock()
	if handle != nil {
		handle(rw, r)
		return
	}
	fmt.Fprintf(rw, "%s %s %s", r.Method, r.Host, r.URL.EscapedPath())
}

func (w *world) lookup(_ context.Context, name string) (egress.Found, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, name)
	a, ok := w.names[name]
	if !ok {
		return egress.Found{}, &net.DNSError{Name: name, IsNotFound: true}
	}
	return egress.Found{Addrs: []netip.Addr{netip.MustParseAddr(a)}, Aliases: w.aliases[name]}, nil
}

// reach connects to the server that has a port, whatever the address.
func (w *world) reach(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dials = append(w.dials, to.String())
	w.mu.Unlock()
	at, ok := map[uint16]string{80: w.plain.Listener.Addr().String(), 443: w.tls.Listener.Addr().String()}[to.Port()]
	if !ok {
		at, ok = w.ports[to.Port()]
	}
	if !ok {
		return nil, errors.New("connection refused")
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", at)
}

func allow(host string, change ...func(*ir.NetRule)) ir.NetRule {
	h, err := resolve.HostPattern(host)
	if err != nil {
		panic(err)
	}
	r := ir.NetRule{Written: host, Host: h, Allow: true}
	for _, c := range change {
		c(&r)
	}
	return r
}

// connect makes a connection that the supervisor would make.
func (w *world) connect(o egress.Origin) net.Conn {
	w.Helper()
	to, _ := w.proxy.Listener(false)
	var c net.Conn
	for tries := 0; c == nil; tries++ {
		l, err := net.Listen("tcp", "127.0.0.1:0") // finds a free port, which others may take
		if err != nil {
			w.Fatal(err)
		}
		from := l.Addr().(*net.TCPAddr)
		l.Close()
		w.proxy.Expect(from.AddrPort(), o)
		d := net.Dialer{LocalAddr: from}
		if c, err = d.Dial("tcp", to.String()); err != nil {
			if w.proxy.Forget(from.AddrPort()); tries > 10 {
				w.Fatal(err)
			}
			c = nil
		}
	}
	_ = c.SetDeadline(await.Deadline(w.TB))
	return c
}

func (w *world) to(host string, port uint16) net.Conn {
	h, err := resolve.Host(host)
	if err != nil {
		w.Fatal(err)
	}
	return w.connect(egress.Origin{Host: h, Port: port})
}

// client is an HTTP client that knows of the proxy.
func (w *world) client(direct bool, host string) *http.Client {
	t := &http.Transport{
		DialContext: func(_ context.Context, _, addr string) (net.Conn, error) {
			if !direct {
				return w.connect(egress.Origin{}), nil
			}
			_, port, _ := net.SplitHostPort(addr)
			var n uint16
			fmt.Sscan(port, &n)
			return w.to(host, n), nil
		},
		TLSClientConfig: &tls.Config{RootCAs: w.roots(), ServerName: "example.com"},
	}
	if !direct {
		t.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.invalid:1"})
	}
	return &http.Client{Transport: t}
}

func (w *world) roots() *x509.CertPool { return pool(w.tls.Certificate()) }

func pool(c *x509.Certificate) *x509.CertPool {
	out := x509.NewCertPool()
	out.AddCert(c)
	return out
}

func (w *world) get(c *http.Client, u string) (int, string) {
	w.Helper()
	r, err := c.Get(u)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

// TestForms: every form of a request for a granted name arrives, and none for another.
func TestForms(t *testing.T) {
	w := newWorld(t, allow("example.com"))
	w.names = map[string]string{"example.com": "203.0.113.1", "other.example": "203.0.113.2"}
	for _, direct := range []bool{false, true} {
		c := w.client(direct, "example.com")
		for _, u := range []string{"http://example.com/a/b?x;y", "https://example.com/a/b"} {
			if code, body := w.get(c, u); code != 200 || body != "GET example.com /a/b" {
				t.Errorf("direct %v: %s: %d %s", direct, u, code, body)
			}
		}
		c = w.client(direct, "other.example")
		for _, u := range []string{"http://other.example/", "https://other.example/"} {
			if code, body := w.get(c, u); code == 200 {
				t.Errorf("direct %v: %s: %s", direct, u, body)
			}
		}
	}
	for _, d := range w.dials {
		if strings.HasPrefix(d, "203.0.113.2") {
			t.Error("a denied host was dialled", d)
		}
	}
	for _, l := range w.looks {
		if l == "other.example" {
			t.Error("a denied name was looked up")
		}
	}
}

// TestSocks: SOCKS5 clients get the same answers.
func TestSocks(t *testing.T) {
	w := newWorld(t, allow("example.com"))
	w.names = map[string]string{"example.com": "203.0.113.1", "other.example": "203.0.113.2"}
	d, err := proxy.SOCKS5("tcp", "x:1", nil, dialer(func() net.Conn { return w.connect(egress.Origin{}) }))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"example.com:80": true, "other.example:80": false, "example.com:22": false, "203.0.113.1:80": false} {
		c, err := d.Dial("tcp", host)
		if (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
		if err == nil {
			fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
			if b, _ := io.ReadAll(c); !strings.Contains(string(b), "GET example.com /") {
				t.Errorf("%q", b)
			}
		}
	}
}

type dialer func() net.Conn

func (d dialer) Dial(string, string) (net.Conn, error) { return d(), nil }

// TestUnannounced: a connection that the supervisor did not make is closed.
func TestUnannounced(t *testing.T) {
	w := newWorld(t, allow("*"))
	to, _ := w.proxy.Listener(false)
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n")
	_ = c.SetDeadline(await.Deadline(t))
	if b, _ := io.ReadAll(c); len(b) > 0 {
		t.Errorf("answered %q", b)
	}
}

// TestRefused is the table of requests that look granted and are not.
func TestRefused(t *testing.T) {
	path := func(r *ir.NetRule) { r.Path = []string{"api"} }
	rules := []ir.NetRule{allow("example.com"), allow("paths.example", path), allow("*.wild.example"), allow("inner.example")}
	cases := []struct {
		name, host string
		port       uint16 // 0: the client speaks to the proxy
		send       string
	}{
		{"denied name", "", 0, "GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"},
		{"origin form to the proxy", "", 0, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"https in absolute form", "", 0, "GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"user information", "", 0, "GET http://example.com@other.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"other host inside", "example.com", 80, "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n"},
		{"other host absolute inside", "example.com", 80, "GET http://other.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"TRACE", "example.com", 80, "TRACE / HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"TRACE to the proxy", "", 0, "TRACE http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"CONNECT inside", "example.com", 80, "CONNECT other.example:80 HTTP/1.1\r\nHost: other.example:80\r\n\r\n"},
		{"CONNECT to a denied name", "", 0, "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n"},
		{"CONNECT to a denied port", "", 0, "CONNECT example.com:22 HTTP/1.1\r\nHost: example.com:22\r\n\r\n"},
		{"CONNECT without a port", "", 0, "CONNECT example.com HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"port in octal spelling", "", 0, "CONNECT example.com:0x1bb HTTP/1.1\r\nHost: example.com\r\n\r\n"},
		{"NUL in a name", "", 0, "CONNECT other.example%00.wild.example:443 HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"the apex of a wildcard", "", 0, "GET http://wild.example/ HTTP/1.1\r\nHost: wild.example\r\n\r\n"},
		{"address as a number", "", 0, "GET http://3405803777/ HTTP/1.1\r\nHost: 3405803777\r\n\r\n"},
		{"HTTP/2 without TLS", "example.com", 80, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		{"a path beside the rule's", "paths.example", 80, "GET /apis HTTP/1.1\r\nHost: paths.example\r\n\r\n"},
		{"dot segments", "paths.example", 80, "GET /api/../x HTTP/1.1\r\nHost: paths.example\r\n\r\n"},
		{"encoded dots", "paths.example", 80, "GET /api/%2e%2e/x HTTP/1.1\r\nHost: paths.example\r\n\r\n"},
		{"encoded slash", "paths.example", 80, "GET /api%2fx HTTP/1.1\r\nHost: paths.example\r\n\r\n"},
		{"backslash", "paths.example", 80, "GET /api\\..\\x HTTP/1.1\r\nHost: paths.example\r\n\r\n"},
		{"two slashes", "paths.example", 80, "GET //api/x HTTP/1.1\r\nHost: paths.example\r\n\r\n"},
		{"two lengths", "example.com", 80, "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
		{"two hosts", "example.com", 80, "GET / HTTP/1.1\r\nHost: example.com\r\nHost: other.example\r\n\r\n"},
		{"a name of this host", "inner.example", 80, "GET / HTTP/1.1\r\nHost: inner.example\r\n\r\n"},
		{"a stream at port 443", "example.com", 443, "SSH-2.0-x\r\n"},
		{"bytes of no protocol", "example.com", 80, "\x00\x01\x02\x03"},
		{"a large header", "example.com", 80, "GET / HTTP/1.1\r\nHost: example.com\r\nX: " + strings.Repeat("a", 80<<10) + "\r\n\r\n"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, rules...)
			w.names = map[string]string{
				"example.com": "203.0.113.1", "other.example": "203.0.113.2", "paths.example": "203.0.113.3", "inner.example": "10.1.2.3", "wild.example": "203.0.113.4",
			}
			c := w.connect(egress.Origin{})
			if test.port != 0 {
				c = w.to(test.host, test.port)
			}
			_, _ = io.WriteString(c, test.send)
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err == nil && r.StatusCode < 400 {
				b, _ := io.ReadAll(r.Body)
				t.Errorf("answered %s: %s", r.Status, b)
			}
		})
	}
}

// TestHellos: the name in TLS must be the name that was judged.
func TestHellos(t *testing.T) {
	opaque := func(r *ir.NetRule) { r.Opaque = true }
	w := newWorld(t, allow("example.com"), allow("opaque.example", opaque))
	w.names = map[string]string{"example.com": "203.0.113.1", "opaque.example": "203.0.113.5"}
	for _, test := range []struct {
		host, name string
		want       bool
	}{
		{"example.com", "example.com", true},
		{"example.com", "EXAMPLE.com", true},
		{"example.com", "other.example", false},
		{"example.com", "", false},
		{"opaque.example", "other.example", true},
		{"opaque.example", "", true},
	} {
		c := tls.Client(w.to(test.host, 443), &tls.Config{ServerName: test.name, InsecureSkipVerify: true})
		if err := c.Handshake(); (err == nil) != test.want {
			t.Errorf("%s for %q: %v", test.host, test.name, err)
		}
	}
}

// TestStub: granted names have addresses that stand for them.
func TestStub(t *testing.T) {
	w := newWorld(t, allow("example.com"), allow("*.wild.example"))
	w.names = map[string]string{"example.com": "203.0.113.1", "a.wild.example": "203.0.113.2", "other.example": "203.0.113.3"}
	ask := func(name string, q dnsmessage.Type) (dnsmessage.RCode, []dnsmessage.Resource) {
		m := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
			Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: q, Class: dnsmessage.ClassINET}},
		}
		b, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		var out dnsmessage.Message
		if err := out.Unpack(w.proxy.Answer(context.Background(), b)); err != nil {
			t.Fatal(err)
		}
		return out.RCode, out.Answers
	}
	for _, name := range []string{"example.com.", "EXAMPLE.com.", "a.wild.example."} {
		code, answers := ask(name, dnsmessage.TypeA)
		if code != dnsmessage.RCodeSuccess || len(answers) != 1 {
			t.Fatalf("%s: %v %v", name, code, answers)
		}
		a := netip.AddrFrom4(answers[0].Body.(*dnsmessage.AResource).A)
		if h, ok := w.proxy.Pool().Host(a); !ok || h.Name != strings.ToLower(strings.TrimSuffix(name, ".")) {
			t.Errorf("%s: %v stands for %v", name, a, h)
		}
	}
	for name, want := range map[string]dnsmessage.RCode{
		"other.example.": dnsmessage.RCodeRefused, "wild.example.": dnsmessage.RCodeRefused,
		"no.wild.example.": dnsmessage.RCodeNameError, "1.2.3.4.": dnsmessage.RCodeRefused,
	} {
		if code, _ := ask(name, dnsmessage.TypeA); code != want {
			t.Errorf("%s: %v, want %v", name, code, want)
		}
	}
	for q, want := range map[dnsmessage.Type]dnsmessage.RCode{
		65: dnsmessage.RCodeSuccess, 64: dnsmessage.RCodeSuccess, dnsmessage.TypeTXT: dnsmessage.RCodeRefused, 255: dnsmessage.RCodeRefused, 10: dnsmessage.RCodeRefused,
	} {
		if code, answers := ask("example.com.", q); code != want || len(answers) > 0 {
			t.Errorf("type %v: %v %v", q, code, answers)
		}
	}
}
