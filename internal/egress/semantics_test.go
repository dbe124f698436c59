package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// listen serves connections to a port by a function.
func (w *world) listen(port uint16, serve func(net.Conn)) {
	w.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { l.Close() })
	w.ports[port] = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
}

// exchange sends text by a connection and returns all that comes back.
func exchange(c net.Conn, text string) string {
	_, _ = io.WriteString(c, text)
	b, _ := io.ReadAll(c)
	return string(b)
}

// request sends a request by a connection and returns its answer.
func request(t testing.TB, c net.Conn, text string) (*http.Response, string) {
	t.Helper()
	_, _ = io.WriteString(c, text)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%.100q: %v", text, err)
	}
	if strings.HasPrefix(text, "CONNECT ") && r.StatusCode == http.StatusOK {
		return r, "" // its end is that of the tunnel
	}
	b, _ := io.ReadAll(r.Body)
	return r, string(b)
}

func (w *world) reasons() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.said, "\n")
}

func opaque(r *ir.NetRule)                  { r.Opaque = true }
func inspect(r *ir.NetRule)                 { r.Inspect = true }
func port(n uint16) func(*ir.NetRule)       { return func(r *ir.NetRule) { r.Port = n } }
func below(s ...string) func(*ir.NetRule)   { return func(r *ir.NetRule) { r.Path = s } }
func methods(s ...string) func(*ir.NetRule) { return func(r *ir.NetRule) { r.Methods = s } }
func scheme(s string) func(*ir.NetRule)     { return func(r *ir.NetRule) { r.Scheme = s } }
func deny(r *ir.NetRule)                    { r.Allow = false }

// TestServerFirst: a server that speaks first is noticed at once, and passes where the rule
// grants any bytes.
func TestServerFirst(t *testing.T) {
	patient := func(c *egress.Config) { c.Limits.Handshake = time.Hour } // nothing else ends a client's silence
	w := newWorldOf(t, patient, allow("mail.example", port(25)),
		allow("tcp.example", port(25), scheme("tcp")), allow("opaque.example", port(25), opaque))
	w.names = map[string]string{"mail.example": "203.0.113.1", "tcp.example": "203.0.113.2", "opaque.example": "203.0.113.3"}
	w.listen(25, func(c net.Conn) {
		fmt.Fprint(c, "220 hello\r\n")
		_, _ = io.Copy(c, c)
	})
	for host, granted := range map[string]bool{"mail.example": false, "tcp.example": true, "opaque.example": true} {
		c := w.to(host, 25)
		line, err := bufio.NewReader(c).ReadString('\n')
		if (err == nil) != granted || granted && line != "220 hello\r\n" {
			t.Errorf("%s: %q, %v", host, line, err)
		}
	}
	if !strings.Contains(w.reasons(), "the server speaks first") {
		t.Error(w.reasons())
	}
	if c := w.to("mail.example", 25); exchange(c, "SSH-2.0-x\r\n") != "" {
		t.Error("a client of ssh was served")
	}
}

// TestSlowHost: a client that speaks before its host was reached is served afterwards.
func TestSlowHost(t *testing.T) {
	spoken := make(chan struct{}, 1)
	w := newWorldOf(t, func(c *egress.Config) {
		dial := c.Dial
		c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			await.Receive(t, "the client's first bytes", spoken)
			return dial(ctx, to)
		}
	}, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	for _, scheme := range []string{"https", "http"} {
		client := w.client(true, "example.com")
		transport := client.Transport.(*http.Transport)
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			return &speaking{Conn: c, spoken: spoken}, err
		}
		if code, body := w.get(client, scheme+"://example.com/x"); code != 200 {
			t.Error(scheme, code, body)
		}
	}
}

// speaking tells of the first bytes that are sent by a connection.
type speaking struct {
	net.Conn
	once   sync.Once
	spoken chan<- struct{}
}

func (s *speaking) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.once.Do(func() { s.spoken <- struct{}{} })
	return n, err
}

// TestHalfClosed: the end of one direction reaches the other side while the other direction goes on.
func TestHalfClosed(t *testing.T) {
	w := newWorld(t, allow("tcp.example", port(9), scheme("tcp")))
	w.names["tcp.example"] = "203.0.113.1"
	w.listen(9, func(c net.Conn) {
		b, _ := io.ReadAll(c)
		fmt.Fprintf(c, "got %d", len(b))
	})
	c := w.to("tcp.example", 9)
	_, _ = io.WriteString(c, strings.Repeat("x", 100_000))
	_ = c.(*net.TCPConn).CloseWrite()
	if b, err := io.ReadAll(c); string(b) != "got 100000" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	// A server's end, and then the client's bytes.
	got := make(chan int, 1)
	w.listen(10, func(c net.Conn) {
		_ = c.(*net.TCPConn).CloseWrite()
		b, _ := io.ReadAll(c)
		got <- len(b)
	})
	w2 := newWorld(t, allow("tcp.example", port(10), scheme("tcp")))
	w2.names, w2.ports = w.names, w.ports
	c = w2.to("tcp.example", 10)
	if b, err := io.ReadAll(c); len(b) > 0 || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	_, _ = io.WriteString(c, "later")
	_ = c.(*net.TCPConn).CloseWrite()
	if n := <-got; n != 5 {
		t.Error(n)
	}
}

// TestReset: a connection that breaks off does not look like one that ended.
func TestReset(t *testing.T) {
	w := newWorld(t, allow("tcp.example", port(9), scheme("tcp")))
	w.names["tcp.example"] = "203.0.113.1"
	w.listen(9, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	c := w.to("tcp.example", 9)
	_, _ = io.WriteString(c, "x")
	if b, err := io.ReadAll(c); err == nil {
		t.Errorf("an end after %q", b)
	}
}

// TestIdle: a connection ends when nothing moves in it. TestIdleMoves has what counts as a movement.
func TestIdle(t *testing.T) {
	short := func(c *egress.Config) { c.Limits.Idle = 200 * time.Millisecond }
	w := newWorldOf(t, short, allow("tcp.example", port(9), scheme("tcp")))
	w.names["tcp.example"] = "203.0.113.1"
	w.listen(9, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	c := w.to("tcp.example", 9)
	_, _ = io.WriteString(c, "x")
	if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Error("still open:", err)
	}
}

// TestNested: a tunnel inside of CONNECT is served to its end, and nothing waits for it longer.
func TestNested(t *testing.T) {
	w := newWorld(t, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	c := w.connect(egress.Origin{})
	if r, _ := request(t, c, "CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\n\r\n"); r.StatusCode != 200 {
		t.Fatal(r.Status)
	}
	if got := exchange(c, "GET /x HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(got, "GET example.com /x") {
		t.Errorf("%q", got)
	}
	closed := make(chan bool)
	go func() { w.proxy.Close(); close(closed) }()
	await.Receive(t, "the end of the proxy", closed)
}

// TestStrangers: connections that were not announced take no place from those that were.
func TestStrangers(t *testing.T) {
	w := newWorldOf(t, func(c *egress.Config) { c.Limits.Connections = 4 }, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	at, _ := w.proxy.Listener(false)
	for range 20 {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		if got := exchange(c, ""); got != "" {
			t.Errorf("a stranger got %q", got)
		}
		c.Close()
	}
	if code, body := w.get(w.client(false, ""), "http://example.com/"); code != 200 {
		t.Error(code, body)
	}
}

// TestOldAnnouncement: an announcement that was not followed by a connection, and is followed by a stranger's.
func TestOldAnnouncement(t *testing.T) {
	w := newWorldOf(t, func(c *egress.Config) { c.Limits.Handshake = 20 * time.Millisecond }, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	at, _ := w.proxy.Listener(false)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	from := l.Addr().(*net.TCPAddr)
	l.Close()
	w.proxy.Expect(from.AddrPort(), egress.Origin{})
	await.Until(t, "the announcement has expired", func() bool { return !w.proxy.Expects(from.AddrPort()) })
	c, err := (&net.Dialer{LocalAddr: from}).Dial("tcp", at.String())
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	if got := exchange(c, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"); got != "" {
		t.Errorf("an old announcement still holds: %q", got)
	}
}

// TestReusedPort: a connection that was reset and waits to be accepted does not take the
// announcement of the next one from its port. The tool saw that one break off.
func TestReusedPort(t *testing.T) {
	w := newWorld(t, allow("tcp.example", port(9), scheme("tcp")), allow("tcp.example", port(10), scheme("tcp")))
	w.names["tcp.example"] = "203.0.113.1"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	from, at := l.Addr().(*net.TCPAddr), []uint16{9, 10}
	l.Close()
	for _, n := range at {
		w.listen(n, func(c net.Conn) { fmt.Fprint(c, n) })
		w.proxy.Expect(from.AddrPort(), egress.Origin{Host: host("tcp.example"), Port: n})
	}
	to, _ := w.proxy.Listener(false)
	for _, n := range at {
		c, err := (&net.Dialer{LocalAddr: from}).Dial("tcp", to.String())
		if err != nil {
			t.Skip(err)
		}
		if b, _ := io.ReadAll(c); string(b) != fmt.Sprint(n) {
			t.Errorf("port %d: %q", n, b)
		}
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// TestStalled: a client that does not take its answer is given up. The test keeps the client's connection: one that nothing
// refers to is closed by the garbage collector, which runs here while the proxy looks the name up. The proxy would see
// the client leave before its request was sent on.
func TestStalled(t *testing.T) {
	t.Parallel()
	_, ended := stalled(t, 2*time.Second) // in which the request arrives
	patient, late := stalled(t, time.Hour)
	await.Receive(t, "the end of the answer that the client does not take", ended)
	select {
	case <-late:
		t.Error("given up sooner than the limit")
	default:
	}
	patient.Close()
	await.Receive(t, "the end of the answer after that of the proxy", late)
}

// stalled has a client ask for an answer without an end, of which it takes nothing, and returns the end of
// the host's sending.
func stalled(t *testing.T, idle time.Duration) (*egress.Proxy, <-chan struct{}) {
	w := newWorldOf(t, func(c *egress.Config) {
		c.Limits.Idle = idle
		lookup := c.Resolve
		c.Resolve = func(ctx context.Context, name string) (egress.Found, error) {
			runtime.GC()
			return lookup(ctx, name)
		}
	}, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	begun, ended := make(chan struct{}), make(chan struct{})
	w.handle = func(rw http.ResponseWriter, _ *http.Request) {
		close(begun)
		defer close(ended)
		for part := make([]byte, 1<<20); ; {
			if _, err := rw.Write(part); err != nil {
				return
			}
		}
	}
	client := w.to("example.com", 80)
	t.Cleanup(func() { client.Close() })
	_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
	await.Receive(t, "the request", begun)
	return w.proxy, ended
}

// TestWildcardNames: the names below a wildcard that are looked up are bounded, those of other
// rules are not.
func TestWildcardNames(t *testing.T) {
	w := newWorldOf(t, func(c *egress.Config) { c.Limits.Wildcard = 5 }, allow("*.wild.example"), allow("a.wild.example"))
	for i := range 10 {
		w.names[fmt.Sprintf("n%d.wild.example", i)] = "203.0.113.1"
	}
	w.names["a.wild.example"] = "203.0.113.2"
	served := 0
	for round := range 2 {
		for i := range 10 {
			if code, _ := w.get(w.client(false, ""), fmt.Sprintf("http://n%d.wild.example/", i)); code == 200 {
				served++
			} else if code != 403 {
				t.Error(code)
			}
		}
		if want := 5 * (round + 1); served != want {
			t.Errorf("%d answers, want %d", served, want)
		}
	}
	if code, _ := w.get(w.client(false, ""), "http://a.wild.example/"); code != 200 {
		t.Error("an exact rule:", code)
	}
	for _, name := range w.looks {
		if name > "n5" {
			t.Error("looked up", name)
		}
	}
}

// TestAllNames: a rule about all hosts bounds no names, since the tool may send as much to any of them.
func TestAllNames(t *testing.T) {
	w := newWorldOf(t, func(c *egress.Config) { c.Limits.Wildcard = 5 }, allow("*"))
	for i := range 10 {
		name := fmt.Sprintf("n%d.example", i)
		w.names[name] = "203.0.113.1"
		if code, _ := w.get(w.client(false, ""), "http://"+name+"/"); code != 200 {
			t.Errorf("%s: %d", name, code)
		}
	}
}

// TestOwnAddress: an address that this host got during the run is known by the connection.
func TestOwnAddress(t *testing.T) {
	list, _ := net.InterfaceAddrs()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := uint16(l.Addr().(*net.TCPAddr).Port)
	for _, a := range list {
		n, ok := a.(*net.IPNet)
		own, _ := netip.AddrFromSlice(n.IP)
		own = own.Unmap()
		if !ok || !own.Is4() || own.IsLoopback() {
			continue
		}
		dial := func(r ...ir.NetRule) *world {
			return newWorldOf(t, func(c *egress.Config) {
				c.Resolve = func(context.Context, string) (egress.Found, error) {
					return egress.Found{Addrs: []netip.Addr{own}}, nil
				}
				c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
				}
			}, append(r, allow("own.example", port(at), scheme("tcp")))...)
		}
		if _, e := dial().proxy.Made(own, at); !errors.Is(e, egress.ErrInternal) {
			t.Errorf("%v: %v", own, e)
		}
		if _, e := dial(allow(own.String(), port(at), scheme("tcp"))).proxy.Made(own, at); e != nil {
			t.Errorf("%v with a rule: %v", own, e)
		}
		return
	}
	t.Skip("this host has no address beside loopback")
}

// TestLoopback: no wildcard leads to loopback, a rule for localhost does, under all names that
// are loopback's. None of them is looked up.
func TestLoopback(t *testing.T) {
	for _, test := range []struct {
		rule ir.NetRule
		host string
		want bool
	}{
		{allow("*"), "localhost", false},
		{allow("*"), "a.localhost", false},
		{allow("*"), "127.0.0.1", false},
		{allow("*"), "[::1]", false},
		{allow("*"), "[::ffff:127.0.0.1]", false},
		{allow("localhost"), "localhost", true},
		{allow("localhost"), "LOCALHOST.", true},
		{allow("localhost"), "127.0.0.1", true},
		{allow("localhost"), "127.0.0.2", true},
		{allow("localhost"), "[::1]", true},
		{allow("localhost"), "[::ffff:127.0.0.1]", true},
		{allow("localhost"), "a.localhost", false},
		{allow("127.0.0.1"), "127.0.0.1", true},
		{allow("127.0.0.1"), "127.0.0.2", false},
		{allow("a.localhost"), "a.localhost", false},
	} {
		w := newWorld(t, test.rule)
		code, body := w.get(w.client(false, ""), "http://"+test.host+"/")
		if (code == 200) != test.want {
			t.Errorf("rule %s: %s: %d %s", test.rule.Subject(), test.host, code, body)
		}
		if len(w.looks) > 0 {
			t.Error("looked up", w.looks)
		}
	}
}

// TestInnerAddresses: an IPv6 address that leads to an IPv4 address needs the grant for both.
func TestInnerAddresses(t *testing.T) {
	for addr, want := range map[string]bool{
		"[64:ff9b::203.0.113.9]": false, "[64:ff9b::203.0.113.8]": true, "[2002:cb00:7109::1]": false, "[2002:cb00:7108::1]": true,
		"[2001:0:1:2:3:4:34ff:8ef6]": false, "[2001:0:1:2:3:4:34ff:8ef7]": true, "[::ffff:203.0.113.9]": false, "[::ffff:203.0.113.8]": true,
		"[64:ff9b::169.254.169.254]": false, "[64:ff9b:1::1]": false, "[2002:a9fe:a9fe::1]": false, "[::203.0.113.9]": false,
		"[2001:db8::200:5efe:cb00:7109]": false, "[2001:db8::5efe:10.0.0.1]": false, "[fd00:ec2::254]": false, "100.100.100.200": false,
		"168.63.129.16": false, "192.0.0.192": false, "0.0.0.0": false, "[::]": false, "255.255.255.255": false, "224.0.0.1": false,
		"[2001:db8::1]": true, "198.18.7.7": false, "[fe80::1]": false, "[ff02::1]": false, "[::ffff:0:203.0.113.9]": false,
	} {
		w := newWorld(t, allow("*"), allow("203.0.113.9", deny))
		if code, body := w.get(w.client(false, ""), "http://"+addr+"/"); (code == 200) != want {
			t.Errorf("%s: %d %s", addr, code, body)
		}
	}
}

// TestPoolAddresses: an address of the pool means its name in every form.
func TestPoolAddresses(t *testing.T) {
	w := newWorld(t, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	v4, v6, _ := w.proxy.Pool().Addresses("example.com")
	for _, host := range []string{v4.String(), "[" + v6.String() + "]"} {
		c := w.connect(egress.Origin{})
		if r, _ := request(t, c, "CONNECT "+host+":443 HTTP/1.1\r\nHost: x\r\n\r\n"); r.StatusCode != 200 {
			t.Fatal(host, r.Status)
		}
		if err := tls.Client(c, &tls.Config{RootCAs: w.roots(), ServerName: "example.com"}).Handshake(); err != nil {
			t.Error(host, err)
		}
		o, e := w.proxy.Route(netip.AddrPortFrom(netip.MustParseAddr(strings.Trim(host, "[]")), 443), true)
		if e != 0 || o.Host.Name != "example.com" || o.Upstream == nil {
			t.Error(host, o, e)
		} else {
			o.Upstream.Close()
		}
	}
}
