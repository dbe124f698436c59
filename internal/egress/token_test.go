package egress_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/test/await"
)

// stranger makes a connection that is not announced.
func (w *world) stranger() net.Conn {
	w.Helper()
	at, _ := w.proxy.Listener(false)
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		w.Fatal(err)
	}
	_ = c.SetDeadline(await.Deadline(w.TB))
	return c
}

// TestToken: where nothing announces connections, the tool's clients know a token, in every form.
func TestToken(t *testing.T) {
	w := newWorldOf(t, func(c *egress.Config) { c.Token = "right" }, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	leaked := false
	w.handle = func(rw http.ResponseWriter, r *http.Request) {
		leaked = leaked || len(r.Header["Proxy-Authorization"]) > 0
		fmt.Fprint(rw, "ok")
	}
	basic := func(text string) string {
		return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(text)) + "\r\n"
	}
	for header, code := range map[string]int{
		basic("x:right"): 200, basic(":right"): 200, "": 407, basic("x:wrong"): 407, basic("right"): 407, basic("right:"): 407, basic("x:"): 407, basic("x:right2"): 407,
		"Authorization: Basic eDpyaWdodA==\r\n": 407, "Proxy-Authorization: Bearer right\r\n": 407, "Proxy-Authorization: Basic %\r\n": 407,
	} {
		r, body := request(t, w.stranger(), "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n"+header+"\r\n")
		if r.StatusCode != code || code == 407 && r.Header.Get("Proxy-Authenticate") == "" {
			t.Errorf("%q: %s %s", header, r.Status, body)
		}
		c := w.stranger()
		if r, _ = request(t, c, "CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\n"+header+"\r\n"); r.StatusCode != code {
			t.Errorf("CONNECT, %q: %s", header, r.Status)
		}
		if code == 200 { // the token is not asked for again
			if r, _ := request(t, c, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"); r.StatusCode != 200 {
				t.Error("in the tunnel:", r.Status)
			}
		}
	}
	// A connection that said it once says it with each request.
	c := w.stranger()
	if r, _ := request(t, c, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n"+basic("x:right")+"\r\n"); r.StatusCode != 200 {
		t.Error(r.Status)
	}
	if r, _ := request(t, c, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"); r.StatusCode != 407 {
		t.Error(r.Status)
	}
	if leaked {
		t.Error("the token reached a host")
	}
}

// TestTokenSocks: SOCKS5 has the token as its password.
func TestTokenSocks(t *testing.T) {
	w := newWorldOf(t, func(c *egress.Config) { c.Token = "right" }, allow("example.com"))
	w.names["example.com"] = "203.0.113.1"
	ask := string(socksRequest(3, []byte("example.com"), 80)[3:])
	for _, test := range []struct{ send, want string }{
		{"\x05\x01\x02\x01\x01x\x05right" + ask, "\x05\x02\x01\x00\x05\x00"},
		{"\x05\x02\x00\x02\x01\x00\x05right" + ask, "\x05\x02\x01\x00\x05\x00"},
		{"\x05\x01\x02\x01\x01x\x05wrong" + ask, "\x05\x02\x01\x01"},
		{"\x05\x01\x02\x01\x01x\x00" + ask, "\x05\x02\x01\x01"},
		{"\x05\x01\x02\x05\x01x\x05right" + ask, "\x05\x02"},
		{"\x05\x01\x00" + ask, "\x05\xff"},
	} {
		c := w.stranger()
		_, _ = io.WriteString(c, test.send)
		_ = c.(*net.TCPConn).CloseWrite()
		b, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(b), test.want) || len(test.want) < 6 && len(b) > len(test.want) {
			t.Errorf("%q: %q, want %q", test.send, b, test.want)
		}
	}
	// Connections that were announced need none.
	if code := socksAnswer(w.connect(egress.Origin{}), socksRequest(3, []byte("example.com"), 80)); code != 0 {
		t.Error(code)
	}
}
