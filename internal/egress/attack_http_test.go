package egress_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

// A carrier is one way in which a plain HTTP request reaches the proxy.
type carrier struct {
	name string
	open func(w *world) net.Conn
	// target is the text in front of the path.
	target string
}

// carriers are the forms for requests to the host example.com, with roots for inspected ones.
func carriers(roots *x509.CertPool) []carrier {
	list := []carrier{{"absolute form", func(w *world) net.Conn { return w.connect(egress.Origin{}) }, "http://example.com"}}
	for _, f := range forms {
		list = append(list,
			carrier{f.name, func(w *world) net.Conn { return f.open(w, "example.com", 80) }, ""},
			carrier{f.name + ", absolute form", func(w *world) net.Conn { return f.open(w, "example.com", 80) }, "http://example.com"},
			carrier{f.name + ", inspected", func(w *world) net.Conn {
				return tls.Client(f.open(w, "example.com", 443), &tls.Config{RootCAs: roots, ServerName: "example.com"})
			}, ""},
		)
	}
	return list
}

// pathWorld is a world in which GET and HEAD below /api of example.com are granted.
func pathWorld(t *testing.T, change ...func(*egress.Config)) (*world, *x509.CertPool) {
	t.Helper()
	authority, err := egress.NewAuthority([]ir.Host{{Kind: ir.HostAny}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldOf(t, func(c *egress.Config) {
		c.Authority = authority
		for _, f := range change {
			f(c)
		}
	}, allow("example.com", inspect, below("api"), methods("GET", "HEAD", "TRACE", "TRACK", "get")), allow("example.com", inspect, below("api", "write")))
	w.names["example.com"] = "203.0.113.1"
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM())
	return w, roots
}

// end is the rest of a request without fields.
const end = "\r\nHost: example.com\r\n\r\n"

// requests are the verdicts about requests.
var requests = []struct {
	send string // with the target for %s
	want string // statuses, 0 for none: the bytes are no HTTP
}{
	{"GET %s/api HTTP/1.1" + end, "200"},
	{"GET %s/api/x?../../y=%%2e%%2e HTTP/1.1" + end, "200"},
	{"GET %s/api/a%%20b/%%C3%%BC HTTP/1.1" + end, "200"},
	{"POST %s/api/write/x HTTP/1.1\r\nHost: example.com\r\nContent-Length: 2\r\n\r\nab", "200"},
	{"POST %s/api HTTP/1.1\r\nHost: example.com\r\nContent-Length: 2\r\n\r\nab", "403"},
	{"DELETE %s/api HTTP/1.1" + end, "403"},
	{"GET %s/ HTTP/1.1" + end, "403"},
	{"GET %s/apis HTTP/1.1" + end, "403"},
	{"GET %s/API HTTP/1.1" + end, "403"},
	{"TRACE %s/api HTTP/1.1" + end, "405"},
	{"TRACK %s/api HTTP/1.1" + end, "405"},
	{"trace %s/api HTTP/1.1" + end, "405 0"},
	{"get %s/api HTTP/1.1" + end, "400 0"},
	{"GET %s/api/../x HTTP/1.1" + end, "400"},
	{"GET %s/api/./x HTTP/1.1" + end, "400"},
	{"GET %s/api/.. HTTP/1.1" + end, "400"},
	{"GET %s/api/%%2e%%2e/x HTTP/1.1" + end, "400"},
	{"GET %s/api/.%%2E/x HTTP/1.1" + end, "400"},
	{"GET %s/api%%2fx HTTP/1.1" + end, "400"},
	{"GET %s/api/%%5c..%%5cx HTTP/1.1" + end, "400"},
	{"GET %s/api\\..\\x HTTP/1.1" + end, "400"},
	{"GET %s//api/x HTTP/1.1" + end, "400"},
	{"GET %s/api//x HTTP/1.1" + end, "400"},
	{"GET %s/api/;/../x HTTP/1.1" + end, "400"},
	{"GET %s/api;x=/y HTTP/1.1" + end, "400"},
	{"GET %s/api/%%252e%%252e/x HTTP/1.1" + end, "400"},
	{"GET %s/api/%%00 HTTP/1.1" + end, "400"},
	{"GET %s/api/%%0d%%0aX:%%20y HTTP/1.1" + end, "400"},
	{"GET %s/%%61pi HTTP/1.1" + end, "400"},
	{"GET %s/api/%%zz HTTP/1.1" + end, "400"},
	{"GET %s/api/%%c0%%ae%%c0%%ae/x HTTP/1.1" + end, "400"},
	{"GET %s/api/%%e0%%80%%ae HTTP/1.1" + end, "400"},
	{"GET %s/api/%%c0%%af..%%c0%%afx HTTP/1.1" + end, "400"},
	{"GET %s/api/%%ff HTTP/1.1" + end, "400"},
	{"GET %s/api/%%C3/x HTTP/1.1" + end, "400"},
	{"GET %s/api/%%ed%%a0%%80 HTTP/1.1" + end, "400"},
	{"GET %s/api/%%ef%%bc%%8e%%ef%%bc%%8e/x HTTP/1.1" + end, "400"},
	{"GET %s/api/%%e2%%80%%a5/x HTTP/1.1" + end, "400"},
	{"GET %s/api/..%%ef%%bc%%8fx HTTP/1.1" + end, "400"},
	{"GET %s/api/a%%20 HTTP/1.1" + end, "400"},
	{"GET %s/api/a%%20/x HTTP/1.1" + end, "400"},
	{"GET %s/api/a%%c2%%a0 HTTP/1.1" + end, "400"},
	{"GET %s/api/a. HTTP/1.1" + end, "400"},
	{"GET %s/api/... HTTP/1.1" + end, "400"},
	{"GET %s/api/\xc3\xa0 HTTP/1.1" + end, "400"},
	{"GET %s/api?\xc3\xa0 HTTP/1.1" + end, "400"},
	{"GET %s/api?a%%20b=%%c0%%ae HTTP/1.1" + end, "200"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX_HTTP_METHOD_OVERRIDE: DELETE\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX_Original-URL: /x\r\n\r\n", "400"},
	{"GET %s/api?_method=DELETE HTTP/1.1" + end, "400"},
	{"POST %s/api/write HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\nTrailer: X-Original-Url\r\n\r\n" +
		"0\r\nX-Original-Url: /x\r\n\r\n", "400"},
	{"GET %s/api/% HTTP/1.1" + end, "400"},
	{"GET %s/api/\x01 HTTP/1.1" + end, "400"},
	{"GET %s/api/\x7f HTTP/1.1" + end, "400"},
	{"GET %s/api\t HTTP/1.1" + end, "400"},
	{"GET %s/api#/x HTTP/1.1" + end, "400"},
	{"GET %s/api x HTTP/1.1" + end, "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nHost: secret.example\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX-HTTP-Method-Override: DELETE\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX-Original-URL: /x\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX-Original-URI: /x\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX-Forwarded-Uri: /x\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX-Original-Method: DELETE\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", "431"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\n" + strings.Repeat("X: y\r\n", 20<<10) + "\r\n", "431"},
	{"GET %s/api/" + strings.Repeat("a", 80<<10) + " HTTP/1.1" + end, "431"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", "431"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX : y\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX\x00: y\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\r\nX: a\x00b\r\n\r\n", "400"},
	{"GET %s/api HTTP/1.1\r\nHost: example.com\x00\r\n\r\n", "400"},
	{"POST %s/api/write HTTP/1.1\r\nHost: example.com\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
	{"POST %s/api/write HTTP/1.1\r\nHost: example.com\r\nContent-Length: -1\r\n\r\nab", "400"},
	{"POST %s/api/write HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: gzip\r\n\r\nab", "501"},
	{"POST %s/api/write HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", "501"},
	{"GET %s/api HTTP/1.1\r\n\r\n", "400"},
	{"GET %s/api HTTP/3.0" + end, "505"},
	{"CONNECT secret.example:80 HTTP/1.1\r\nHost: %s\r\n\r\n", "400 403 405"},
	{"GET http://secret.example/api HTTP/1.1\r\nHost: example.com\r\nX: %s\r\n\r\n", "400 403 421"},
	{"GET ftp://example.com/api HTTP/1.1\r\nHost: example.com\r\nX: %s\r\n\r\n", "400 421"},
}

// TestRequests: the verdict about each request, however it comes.
func TestRequests(t *testing.T) {
	w, roots := pathWorld(t)
	for _, test := range requests {
		granted := test.want == "200"
		for _, c := range carriers(roots) {
			text := strings.NewReplacer("%%", "%", "%s", c.target).Replace(test.send)
			conn, code := c.open(w), 0
			_, _ = io.WriteString(conn, text)
			if r, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				code = r.StatusCode
			}
			conn.Close()
			if !slices.Contains(strings.Fields(test.want), strconv.Itoa(code)) {
				t.Errorf("%s: %.100q: %d", c.name, text, code)
			}
			if reached, _, _ := w.nothing(); len(reached) > 0 != granted {
				t.Errorf("%s: %.100q: reached %q", c.name, text, reached)
			}
		}
	}
}

// TestHosts: a Host beside the target is refused or counts for nothing.
func TestHosts(t *testing.T) {
	w, roots := pathWorld(t)
	for _, c := range carriers(roots) {
		r, body := request(t, c.open(w), "GET "+c.target+"/api HTTP/1.1\r\nHost: secret.example\r\n\r\n")
		reached, _, _ := w.nothing()
		switch {
		case c.target == "" && (r.StatusCode != 421 || len(reached) > 0):
			t.Errorf("%s: %s %s, reached %q", c.name, r.Status, body, reached)
		case c.target != "" && (r.StatusCode != 200 || strings.Join(reached, "") != "GET example.com /api"):
			t.Errorf("%s: %s %s, reached %q", c.name, r.Status, body, reached)
		}
	}
}

// TestPipelined: each request of a connection is judged, also one that hides behind a body.
func TestPipelined(t *testing.T) {
	w, roots := pathWorld(t)
	for _, c := range carriers(roots) {
		conn := c.open(w)
		hidden := "GET " + c.target + "/secret HTTP/1.1\r\nHost: example.com\r\n\r\n"
		_, _ = fmt.Fprintf(conn, "POST %s/api/write HTTP/1.1\r\nHost: example.com\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s"+
			"GET %s/api/last HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n", c.target, hidden, c.target)
		in := bufio.NewReader(conn)
		var codes []int
		for {
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				break
			}
			_, _ = io.Copy(io.Discard, r.Body)
			codes = append(codes, r.StatusCode)
		}
		reached, _, _ := w.nothing()
		if len(codes) < 1 || strings.Contains(strings.Join(reached, " "), "secret") {
			t.Errorf("%s: %v, reached %q", c.name, codes, reached)
		}
	}
}

// TestTrailers: fields behind a body that nothing announces reach no host, where some would take one for a path or a method.
func TestTrailers(t *testing.T) {
	w, roots := pathWorld(t)
	seen := make(chan http.Header, 1)
	w.handle = func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		seen <- r.Trailer
	}
	for _, c := range carriers(roots) {
		for _, name := range []string{"X-Original-Url", "X_HTTP_Method_Override", "Host"} {
			conn := c.open(w)
			r, _ := request(t, conn, "POST "+c.target+"/api/write HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\n"+
				"1\r\na\r\n0\r\n"+name+": /x\r\n\r\n")
			if r.StatusCode == 200 {
				if got := <-seen; len(got) > 0 {
					t.Errorf("%s: %s: the host sees %v", c.name, name, got)
				}
			}
			conn.Close()
		}
	}
}

// frames speaks HTTP/2 by hand: a request of arbitrary fields.
func frames(t *testing.T, conn net.Conn, fields ...string) int {
	t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		_ = enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	_, _ = io.WriteString(conn, http2.ClientPreface)
	f := http2.NewFramer(conn, conn)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = f.WriteSettings()
	for first := true; first || block.Len() > 0; first = false {
		part := block.Next(16 << 10)
		if first {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: part, EndStream: true, EndHeaders: block.Len() == 0})
		} else {
			_ = f.WriteContinuation(1, block.Len() == 0, part)
		}
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return -1
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			code, _ := strconv.Atoi(frame.PseudoValue("status"))
			return code
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return 0
		}
	}
}

// TestFrames: requests in HTTP/2 get the verdicts of the same requests in HTTP/1.1; 0 is a reset.
func TestFrames(t *testing.T) {
	w, roots := pathWorld(t)
	for _, test := range []struct {
		fields []string
		want   []int
	}{
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api/x"}, []int{200}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com:443", ":path", "/api/x"}, []int{200}},
		{[]string{":method", "GET", ":scheme", "https", ":path", "/api/x", "host", "example.com"}, []int{200}},
		{[]string{":method", "POST", ":scheme", "https", ":authority", "example.com", ":path", "/api/x"}, []int{403}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/x"}, []int{403}},
		{[]string{":method", "TRACE", ":scheme", "https", ":authority", "example.com", ":path", "/api/x"}, []int{405}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "secret.example", ":path", "/api/x"}, []int{421}},
		{[]string{":method", "GET", ":scheme", "https", ":path", "/api/x", "host", "secret.example"}, []int{421}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api/x", "host", "secret.example"}, []int{400, 421, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com@secret.example", ":path", "/api/x"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api/../x"}, []int{400}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api/%2e%2e/x"}, []int{400}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api\\..\\x"}, []int{400}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "//api/x"}, []int{400}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "api/x"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "https://secret.example/api"}, []int{400, 421, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api/\x00"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api HTTP/1.1\r\nHost: secret.example\r\nX: y"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api?a HTTP/1.0"}, []int{400}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api?a /secret HTTP/1.1"}, []int{400}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api?a\x85HTTP/1.0"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api?a\tb"}, []int{400, 0}},
		{[]string{":method", "GET /secret", ":scheme", "https", ":authority", "example.com", ":path", "/api"}, []int{400, 403, 0}},
		{[]string{":method", "", ":scheme", "https", ":authority", "example.com", ":path", "/api"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https ", ":authority", "example.com", ":path", "/api"}, []int{200, 400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com ", ":path", "/api"}, []int{400, 421, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com\r\nX: y", ":path", "/api"}, []int{400, 421, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api", "x_original_url", "/x"}, []int{400}},
		{[]string{":method", "GET /x HTTP/1.1\r\nX: y", ":scheme", "https", ":authority", "example.com", ":path", "/api"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api", "x", "a\r\nb: c"}, []int{400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api", "transfer-encoding", "chunked"}, []int{200, 400, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api", ":path", "/x"}, []int{0}},
		{[]string{":method", "CONNECT", ":authority", "secret.example:443"}, []int{405}},
		{[]string{":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":authority", "example.com", ":path", "/api"}, []int{400, 405, 0}},
		{[]string{":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/api", "x", strings.Repeat("a", 200<<10)}, []int{431, 0, -1}},
	} {
		for _, f := range forms {
			c := tls.Client(f.open(w, "example.com", 443), &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2"}})
			code, fits := frames(t, c, test.fields...), false
			for _, want := range test.want {
				fits = fits || code == want
			}
			if !fits {
				t.Errorf("%s: %.80q: %d", f.name, test.fields, code)
			}
			for _, r := range first(w.nothing()) {
				if !strings.HasPrefix(r, "GET example.com /api") {
					t.Errorf("%s: %.80q reached %q", f.name, test.fields, r)
				}
			}
		}
	}
}

func first(reached, _, _ []string) []string { return reached }

// TestUpgrades: a WebSocket passes where its request is granted, other protocols are not offered,
// and a server cannot change the protocol on its own.
func TestUpgrades(t *testing.T) {
	w, roots := pathWorld(t)
	w.handle = func(rw http.ResponseWriter, r *http.Request) {
		asked := r.Header.Get("Upgrade")
		if asked == "" && r.URL.Path != "/api/forced" {
			fmt.Fprint(rw, "no upgrade")
			return
		}
		conn, b, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		if asked == "" {
			asked = "forced"
		}
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\nhello ", asked)
		_, _ = io.Copy(conn, b)
	}
	for _, c := range carriers(roots) {
		for _, test := range []struct {
			path, header, want string
		}{
			{"/api/ws", "Connection: Upgrade\r\nUpgrade: websocket\r\n", "hello ping"},
			{"/secret", "Connection: Upgrade\r\nUpgrade: websocket\r\n", ""},
			{"/api/ws", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", "no upgrade"},
			{"/api/ws", "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n", "no upgrade"},
			{"/api/ws", "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n", "no upgrade"},
			{"/api/forced", "", ""},
			{"/api/forced", "Connection: Upgrade\r\nUpgrade: h2c\r\n", ""},
		} {
			conn := c.open(w)
			fmt.Fprintf(conn, "GET %s%s HTTP/1.1\r\nHost: example.com\r\n%s\r\n", c.target, test.path, test.header)
			in := bufio.NewReader(conn)
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(c.name, test, err)
			}
			var body []byte
			switch r.StatusCode {
			case http.StatusSwitchingProtocols:
				fmt.Fprint(conn, "ping")
				body = make([]byte, len("hello ping"))
				_, _ = io.ReadFull(in, body)
			case http.StatusOK:
				body, _ = io.ReadAll(r.Body)
			}
			if string(body) != test.want {
				t.Errorf("%s: %s %q: %s %q", c.name, test.path, test.header, r.Status, body)
			}
			conn.Close()
		}
	}
}

// TestLateHeader: a header that takes longer than a handshake is given up, in every form. Its size alone
// would not end it.
func TestLateHeader(t *testing.T) {
	t.Parallel()
	w, roots := pathWorld(t, func(c *egress.Config) {
		c.Limits.Handshake, c.Limits.Idle, c.Limits.Header = 2*time.Second, time.Hour, 1<<30
	})
	var all sync.WaitGroup
	for _, c := range carriers(roots) {
		conn := c.open(w)
		ended := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, conn)
			close(ended)
		}()
		all.Go(func() {
			fmt.Fprintf(conn, "GET %s/api HTTP/1.1\r\n", c.target)
			drip := time.NewTicker(20 * time.Millisecond)
			defer drip.Stop()
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				case <-drip.C:
					fmt.Fprintf(conn, "X-%d: y\r\n", i)
				}
			}
		})
	}
	all.Wait()
	if reached, _, _ := w.nothing(); len(reached) > 0 {
		t.Error("reached", reached)
	}
}
