package egress_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/egress"
)

// callersPort is the port of the caller's own proxy.
const callersPort = 3128

// caller serves the caller's own HTTP proxy, which leads to the world's servers, and returns the
// requests that it got.
func (w *world) caller(refuse map[string]int) func() []string {
	var asked []string
	serve := func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			w.mu.Lock()
			asked = append(asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
			w.mu.Unlock()
			host := r.URL.Hostname()
			if code := refuse[host]; code != 0 {
				fmt.Fprintf(c, "HTTP/1.1 %d secret words\r\nProxy-Authenticate: Basic realm=secret\r\nContent-Length: 0\r\n\r\n", code)
				continue
			}
			at := w.tls.Listener.Addr().String()
			if r.Method != http.MethodConnect || r.URL.Port() == "80" {
				at = w.plain.Listener.Addr().String()
			}
			server, err := net.Dial("tcp", at)
			if err != nil {
				return
			}
			defer server.Close()
			if r.Method == http.MethodConnect {
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
				go func() { _, _ = io.Copy(server, in); server.Close() }()
				_, _ = io.Copy(c, server)
				return
			}
			r.Header.Set("Connection", "close")
			_ = r.Write(server)
			_, _ = io.Copy(c, server)
			return
		}
	}
	w.listen(callersPort, serve)
	w.listen(callersPort+1, func(c net.Conn) { serve(tls.Server(c, &tls.Config{Certificates: w.tls.TLS.Certificates})) })
	return func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return append([]string{}, asked...)
	}
}

func behind(variables map[string]string, change ...func(*egress.Config)) func(*egress.Config) {
	return func(c *egress.Config) {
		c.Proxy = egress.CallersProxy(func(name string) string { return variables[name] })
		for _, f := range change {
			f(c)
		}
	}
}

// TestCallersProxy: hosts are asked of the caller's proxy by name, after they were judged.
func TestCallersProxy(t *testing.T) {
	both := map[string]string{"http_proxy": "http://u:p@192.0.2.1:3128", "https_proxy": "http://u:p@192.0.2.1:3128", "no_proxy": "near.example"}
	w := newWorldOf(t, behind(both), allow("example.com"), allow("near.example"), allow("down.example"), allow("locked.example"), allow("*.wild.example"))
	w.names["near.example"] = "203.0.113.7"
	asked := w.caller(map[string]int{"down.example": 503, "locked.example": 407})
	auth := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:p"))
	for _, direct := range []bool{false, true} {
		for _, test := range []struct {
			url  string
			code int
		}{
			{"http://example.com/x", 200}, {"https://example.com/x", 200}, {"http://near.example/x", 200},
			{"http://a.wild.example/x", 200}, {"http://down.example/x", 503}, {"http://locked.example/x", 502},
		} {
			host := strings.Split(test.url, "/")[2]
			if code, body := w.get(w.client(direct, host), test.url); code != test.code || strings.Contains(body, "secret") {
				t.Errorf("direct %v: %s: %d %s", direct, test.url, code, body)
			}
		}
	}
	if code, _ := w.get(w.client(false, ""), "http://other.example/x"); code != 403 {
		t.Error("a denied name:", code)
	}
	if code, body := w.get(w.client(false, ""), "https://locked.example/"); code != 0 || strings.Contains(body, "secret") {
		t.Error(code, body)
	}
	seen := asked()
	for _, a := range []string{"GET http://example.com/x ", "CONNECT example.com:443 ", "GET http://a.wild.example/x "} {
		if !contains(seen, a+auth) {
			t.Errorf("%q was not asked: %q", a, seen)
		}
	}
	for _, a := range seen {
		if strings.Contains(a, "near") || strings.Contains(a, "other") || !strings.HasSuffix(a, auth) {
			t.Error("asked", a)
		}
	}
	for _, r := range w.reached {
		if !strings.HasSuffix(r, " /x") {
			t.Error(r)
		}
	}
	if len(w.looks) != 2 || w.looks[0] != "near.example" {
		t.Error("looked up", w.looks)
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// TestCallersProxySecure: the caller's proxy is spoken to by TLS, and must be the one that is meant.
func TestCallersProxySecure(t *testing.T) {
	for via, code := range map[string]int{"https://u:p@example.com:3129": 200, "https://u:p@false.example:3129": 502} {
		w := newWorldOf(t, behind(map[string]string{"ALL_PROXY": via}), allow("www.example.com"))
		w.names = map[string]string{"example.com": "192.0.2.1", "false.example": "192.0.2.1"}
		asked := w.caller(nil)
		if got, body := w.get(w.client(false, ""), "http://www.example.com/x"); got != code {
			t.Errorf("%s: %d %s", via, got, body)
		}
		r, _ := request(t, w.connect(egress.Origin{}), "CONNECT www.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
		if r.StatusCode != code {
			t.Errorf("%s: %s", via, r.Status)
		}
		if n := len(asked()); n != map[int]int{200: 2, 502: 0}[code] {
			t.Errorf("%s: asked %q", via, asked())
		}
		if strings.Contains(w.reasons(), "u:p") {
			t.Error(w.reasons())
		}
	}
}

// TestCallersProxyWaits: a connection for which the caller of connect(2) waits is made by the
// proxy, whatever the client then speaks.
func TestCallersProxyWaits(t *testing.T) {
	all := map[string]string{"ALL_PROXY": "http://192.0.2.1:3128"}
	w := newWorldOf(t, behind(all), allow("example.com"), allow("example.com", port(80), scheme("https")))
	asked := w.caller(nil)
	v4, _, _ := w.proxy.Pool().Addresses("example.com")
	for _, test := range []struct {
		port uint16
		want string
	}{{80, "GET http://example.com/x "}, {443, "CONNECT example.com:443 "}} {
		o, e := w.proxy.Route(netip.AddrPortFrom(v4, test.port), true)
		if e != 0 || o.Upstream == nil {
			t.Fatal(o, e)
		}
		c := w.connect(o)
		if test.port == 443 {
			secure := tls.Client(c, &tls.Config{RootCAs: w.roots(), ServerName: "example.com"})
			c = secure
		}
		if got := exchange(c, "GET /x HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(got, "GET example.com /x") {
			t.Errorf("port %d: %q", test.port, got)
		}
		if seen := asked(); seen[len(seen)-1] != test.want {
			t.Errorf("port %d: %q", test.port, seen)
		}
	}
	// TLS where plain HTTP was expected: the connection is finished by CONNECT.
	o, e := w.proxy.Route(netip.AddrPortFrom(v4, 80), true)
	if e != 0 {
		t.Fatal(e)
	}
	_ = tls.Client(w.connect(o), &tls.Config{RootCAs: w.roots(), ServerName: "example.com"}).Handshake()
	if seen := asked(); seen[len(seen)-1] != "CONNECT example.com:80 " {
		t.Errorf("%q", seen)
	}
}

// TestCallersProxyFilters: literal addresses are filtered as ever, loopback is not asked of a
// proxy, and names below a wildcard are counted.
func TestCallersProxyFilters(t *testing.T) {
	all := map[string]string{"ALL_PROXY": "http://192.0.2.1:3128"}
	few := func(c *egress.Config) { c.Limits.Wildcard = 2 }
	w := newWorldOf(t, behind(all, few), allow("*"), allow("localhost"), allow("*.wild.example"))
	asked := w.caller(nil)
	for host, code := range map[string]int{
		"10.1.2.3": 403, "169.254.169.254": 403, "[fd00:ec2::254]": 403, "127.0.0.1": 200, "localhost": 200, "[64:ff9b::10.0.0.1]": 403, "203.0.113.9": 200,
	} {
		if got, body := w.get(w.client(false, ""), "http://"+host+"/x"); got != code {
			t.Errorf("%s: %d %s", host, got, body)
		}
		c := w.connect(egress.Origin{})
		r, _ := request(t, c, "CONNECT "+host+":443 HTTP/1.1\r\nHost: x\r\n\r\n")
		if r.StatusCode != code {
			t.Errorf("CONNECT %s: %s", host, r.Status)
		}
	}
	for _, a := range asked() {
		if !strings.Contains(a, "203.0.113.9") {
			t.Error("asked", a)
		}
	}
	for i, code := range []int{200, 200, 403} {
		if got, body := w.get(w.client(false, ""), fmt.Sprintf("http://n%d.wild.example/", i)); got != code {
			t.Errorf("name %d: %d %s", i, got, body)
		}
	}
	if len(w.looks) > 0 {
		t.Error("looked up", w.looks)
	}
}

// TestCallersSocks: a proxy that speaks SOCKS5 serves all schemes.
func TestCallersSocks(t *testing.T) {
	// The caller's proxy is another one of ours.
	theirs := newWorld(t, allow("example.com"), allow("tcp.example", port(25), scheme("tcp")))
	theirs.names = map[string]string{"example.com": "203.0.113.1", "tcp.example": "203.0.113.2"}
	theirs.listen(25, func(c net.Conn) {
		fmt.Fprint(c, "220 hello\r\n")
		b, _ := io.ReadAll(c)
		fmt.Fprintf(c, "%d bytes", len(b))
	})
	w := newWorldOf(t, behind(map[string]string{"all_proxy": "socks5://192.0.2.1:1080"}), allow("*"), allow("*", port(25), scheme("tcp")))
	w.listen(1080, func(c net.Conn) {
		up := theirs.connect(egress.Origin{})
		go func() { _, _ = io.Copy(up, c); _ = up.(*net.TCPConn).CloseWrite() }()
		_, _ = io.Copy(c, up)
	})
	w.tls = theirs.tls
	for url, code := range map[string]int{"http://example.com/x": 200, "https://example.com/x": 200, "http://other.example/": 502} {
		host := strings.Split(url, "/")[2]
		if got, body := w.get(w.client(code == 200, host), url); got != code {
			t.Errorf("%s: %d %s", url, got, body)
		}
	}
	c := w.to("tcp.example", 25)
	if line, err := bufio.NewReader(c).ReadString('\n'); line != "220 hello\r\n" {
		t.Error(line, err)
	}
	_, _ = io.WriteString(c, "12345")
	_ = c.(*net.TCPConn).CloseWrite()
	if b, err := io.ReadAll(c); string(b) != "5 bytes" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestCallersProxyEarly: text of a host right behind the answer of the caller's proxy arrives,
// and the end of the other direction passes.
func TestCallersProxyEarly(t *testing.T) {
	w := newWorldOf(t, behind(map[string]string{"ALL_PROXY": "http://192.0.2.1:3128"}), allow("tcp.example", port(25), scheme("tcp")))
	w.listen(callersPort, func(c net.Conn) {
		in := bufio.NewReader(c)
		_, _ = http.ReadRequest(in)
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n220 hello\r\n")
		b, _ := io.ReadAll(in)
		fmt.Fprintf(c, "%d bytes", len(b))
	})
	c := w.to("tcp.example", 25)
	_, _ = io.WriteString(c, "12345")
	_ = c.(*net.TCPConn).CloseWrite()
	if b, err := io.ReadAll(c); string(b) != "220 hello\r\n5 bytes" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestCallersProxyBroken: proxies that do not answer, or not as they should.
func TestCallersProxyBroken(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(net.Conn){
		"silent": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"closes": func(net.Conn) {},
		"endless": func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		},
		"binary":  func(c net.Conn) { _, _ = c.Write([]byte{0, 1, 2, 3, 10, 13, 10}) },
		"no port": nil,
	} {
		w := newWorldOf(t, behind(map[string]string{"ALL_PROXY": "http://192.0.2.1:3128"}, func(c *egress.Config) {
			c.Limits.Dial = 300 * time.Millisecond // alone ends the wait
			c.Limits.Handshake, c.Limits.Idle = time.Hour, time.Hour
		}), allow("example.com"))
		if serve != nil {
			w.listen(callersPort, serve)
		}
		r, _ := request(t, w.connect(egress.Origin{}), "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
		if r.StatusCode/100 != 5 {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	w := newWorldOf(t, func(c *egress.Config) {
		c.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse("gopher://192.0.2.1") }
	}, allow("example.com"))
	if r, _ := request(t, w.connect(egress.Origin{}), "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"); r.StatusCode != 502 {
		t.Error(r.Status)
	}
}

// TestCallersVariables: each variable names the proxy of its schemes.
func TestCallersVariables(t *testing.T) {
	for _, test := range []struct {
		variables, http, https string
	}{
		{"", "", ""},
		{"http_proxy=http://a:1", "http://a:1", ""},
		{"HTTP_PROXY=http://a:1", "http://a:1", ""},
		{"HTTP_PROXY=http://a:1 REQUEST_METHOD=GET", "", ""},
		{"HTTPS_PROXY=http://a:1 https_proxy=http://b:1", "", "http://b:1"},
		{"ALL_PROXY=socks5://a:1", "socks5://a:1", "socks5://a:1"},
		{"all_proxy=socks5h://a:1 https_proxy=http://b:1", "socks5h://a:1", "http://b:1"},
		{"ALL_PROXY=http://a:1 NO_PROXY=.example.com", "", ""},
		{"ALL_PROXY=http://a:1 no_proxy=*", "", ""},
		{"https_proxy=a:1", "", "http://a:1"},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(test.variables) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		find := egress.CallersProxy(func(name string) string { return env[name] })
		for scheme, want := range map[string]string{"http": test.http, "https": test.https} {
			got := ""
			if find != nil {
				u, err := find(&url.URL{Scheme: scheme, Host: "www.example.com:443"})
				if err != nil {
					t.Error(err)
				}
				if u != nil {
					got = u.String()
				}
			}
			if got != want {
				t.Errorf("%q for %s: %q, want %q", test.variables, scheme, got, want)
			}
		}
	}
}
