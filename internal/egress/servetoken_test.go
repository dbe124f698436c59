package egress_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/test/await"
)

// byToken runs a proxy for clients with a token, and returns the loader's end of its socket.
func byToken(t *testing.T, run func(control io.ReadWriter) error) (wire.Greeting, func()) {
	t.Helper()
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(theirs)
		theirs.Close()
	}()
	line, err := bufio.NewReader(ours).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var g wire.Greeting
	if err := json.Unmarshal(line, &g); err != nil {
		t.Fatal(err)
	}
	return g, func() {
		ours.Close()
		await.Receive(t, "the end of the proxy, after that of its control socket", ended)
	}
}

// through returns a client that reaches hosts by a proxy's URL.
func (w *world) through(proxy string) *http.Client {
	u, err := url.Parse(proxy)
	if err != nil {
		w.Fatal(err)
	}
	t := &http.Transport{Proxy: http.ProxyURL(u), TLSClientConfig: &tls.Config{RootCAs: w.roots()}}
	w.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// TestServeByToken: a client with the token reaches the hosts of the policy and nothing else, and the
// token reaches no host. Other clients of the machine reach nothing.
func TestServeByToken(t *testing.T) {
	var config egress.Config
	w := newWorldOf(t, func(c *egress.Config) { config = *c }, allow("example.com"))
	w.names["example.com"] = "93.184.216.34"
	seen := make(chan http.Header, 4)
	w.handle = func(rw http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		fmt.Fprintf(rw, "%s %s %s", r.Method, r.Host, r.URL.EscapedPath())
	}
	g, end := byToken(t, func(control io.ReadWriter) error { return egress.ServeByToken(control, config) })
	if code, said := w.get(w.through(g.URL().String()), "http://example.com/"); code != http.StatusOK {
		t.Errorf("http: %d %s", code, said)
	} else if h := <-seen; h.Get("Proxy-Authorization") != "" {
		t.Errorf("the host sees %v", h)
	}
	if code, said := w.get(w.through(g.URL().String()), "https://example.com/x"); code != http.StatusOK || said != "GET example.com /x" {
		t.Errorf("https: %d %s", code, said)
	}
	if code, said := w.get(w.through(g.URL().String()), "http://b.example/"); code != http.StatusForbidden || !strings.Contains(said, "refused") {
		t.Errorf("another host: %d %s", code, said)
	}
	for _, other := range []wire.Greeting{{Port: g.Port}, {Port: g.Port, Token: g.Token + "A"}, {Port: g.Port, Token: strings.ToLower(g.Token)}} {
		if code, said := w.get(w.through(other.URL().String()), "http://example.com/"); code != http.StatusProxyAuthRequired {
			t.Errorf("with the token %q: %d %s", other.Token, code, said)
		}
		if code, said := w.get(w.through(other.URL().String()), "https://example.com/"); code == http.StatusOK || !strings.Contains(said, "Authentication Required") {
			t.Errorf("with the token %q: %d %s", other.Token, code, said)
		}
	}
	end()
	if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", g.Port)); err == nil {
		conn.Close()
		t.Error("the port is open after the end")
	}
}

// TestServeByTokenBytes: the token counts once, in a header of bounded size, however it is divided.
func TestServeByTokenBytes(t *testing.T) {
	g := tokenProxy(t, time.Hour)
	with := tokenHeader(g)
	const first = "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n"
	for _, c := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"at once", []string{first + with + "\r\n"}, "HTTP/1.1 200"},
		{"in parts", []string{first[:9], first[9:] + with[:30], with[30:] + "\r", "\n"}, "HTTP/1.1 200"},
		{"another spelling", []string{first + strings.Replace(with, "Basic", "bAsIc", 1) + "\r\n"}, "HTTP/1.1 200"},
		{"twice", []string{first + with + with + "\r\n"}, "HTTP/1.1 407"},
		{"another scheme", []string{first + strings.Replace(with, "Basic", "Bearer", 1) + "\r\n"}, "HTTP/1.1 407"},
		{"for the host", []string{first + strings.TrimPrefix(with, "Proxy-") + "\r\n"}, "HTTP/1.1 407"},
		{"in the body", []string{first + "\r\n" + with + "\r\n"}, "HTTP/1.1 407"},
		{"too long", []string{first + "X: " + strings.Repeat("x", 64<<10)}, "HTTP/1.1 431"},
		{"SOCKS", []string{"\x05\x01\x00"}, "\x05\xff"},
	} {
		if said := says(t, g, c.parts...); !strings.HasPrefix(said, c.want) || c.want == "" && said != "" {
			t.Errorf("%s: %q, want %q", c.name, said, c.want)
		}
	}
	g = tokenProxy(t, 50*time.Millisecond)
	for _, text := range []string{first + tokenHeader(g), first + "X: " + strings.Repeat("x", 9<<10)} {
		if said := says(t, g, text); said != "" {
			t.Errorf("%.100q, and no end: %q", text, said)
		}
	}
	// The time may be over before the first byte has come.
	if said := says(t, g, "\r\n\r\n"); said != "" && !strings.HasPrefix(said, "HTTP/1.1 400") {
		t.Errorf("no line: %q", said)
	}
}

// tokenProxy starts a proxy for clients with a token that waits some time for a request with a header of at most 8 KiB.
func tokenProxy(t *testing.T, handshake time.Duration) wire.Greeting {
	t.Helper()
	var config egress.Config
	w := newWorldOf(t, func(c *egress.Config) {
		c.Limits.Handshake, c.Limits.Header = handshake, 8<<10
		config = *c
	}, allow("example.com"))
	w.names["example.com"] = "93.184.216.34"
	g, end := byToken(t, func(control io.ReadWriter) error { return egress.ServeByToken(control, config) })
	t.Cleanup(end)
	return g
}

// tokenHeader is the header by which a client says the token.
func tokenHeader(g wire.Greeting) string {
	request, _ := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	request.SetBasicAuth(wire.User, g.Token)
	return "Proxy-Authorization: " + request.Header.Get("Authorization") + "\r\n"
}

// says sends parts to a proxy, each after it has read those before, and returns the first line that comes back.
func says(t *testing.T, g wire.Greeting, parts ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", g.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(await.Deadline(t))
	for i, part := range parts {
		if i > 0 {
			await.Until(t, "the proxy has read a part", func() bool { return taken(conn) })
		}
		_, _ = io.WriteString(conn, part)
	}
	said, err := bufio.NewReader(conn).ReadString('\n')
	if os.IsTimeout(err) {
		t.Errorf("no answer to %.100q", parts)
	}
	return said
}

// taken reports whether the other end, a socket of this machine, has read all that was sent by a connection, by the
// column of its receive queue in /proc/net/tcp (proc_pid_net(5)). Without that file, or when the other end is gone, it has.
func taken(conn net.Conn) bool {
	table, _ := os.ReadFile("/proc/net/tcp")
	hex := func(a net.Addr) string { return fmt.Sprintf(":%04X", a.(*net.TCPAddr).Port) }
	ours, theirs := hex(conn.LocalAddr()), hex(conn.RemoteAddr())
	for line := range strings.Lines(string(table)) {
		const local, remote, queues = 1, 2, 4
		f := strings.Fields(line)
		if len(f) > queues && strings.HasSuffix(f[local], theirs) && strings.HasSuffix(f[remote], ours) {
			return strings.HasSuffix(f[queues], ":00000000")
		}
	}
	return true
}

// TestRunByToken: the process reads the policy of one tool, and says why it cannot serve.
func TestRunByToken(t *testing.T) {
	policy, err := irjson.Marshal(&ir.Program{Tools: []*ir.Tool{{Name: "t", Source: ir.Source{Kind: ir.SourceLocal}, Base: ir.BaseNone, Home: ir.HomeReal, Net: []ir.NetRule{allow("example.com")}}}})
	if err != nil {
		t.Fatal(err)
	}
	setup, err := json.Marshal(wire.Setup{Policy: policy, Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	g, end := byToken(t, func(control io.ReadWriter) error { return egress.RunByToken(control, strings.NewReader(string(setup))) })
	if g.Error != "" || g.Port == 0 || len(g.Token) < 26 {
		t.Errorf("got %+v", g)
	}
	end()
	for _, bad := range []string{"", "{", `{"policy":{}}`} {
		g, end := byToken(t, func(control io.ReadWriter) error { return egress.RunByToken(control, strings.NewReader(bad)) })
		if g.Error == "" || g.Token != "" {
			t.Errorf("%q: got %+v", bad, g)
		}
		end()
	}
}
