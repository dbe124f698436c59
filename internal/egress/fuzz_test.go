package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

// serverNames reads the names of a hello in another way than the proxy, nil if there are none.
func serverNames(b []byte) (names []string) {
	var message []byte
	for len(b) >= 5 && b[0] == 22 {
		n := int(binary.BigEndian.Uint16(b[3:]))
		b = b[5:]
		message = append(message, b[:min(n, len(b))]...)
		b = b[min(n, len(b)):]
	}
	part := func(size int) []byte { // a vector behind its length
		n := 0
		for range size {
			if len(message) == 0 {
				return nil
			}
			n, message = n<<8|int(message[0]), message[1:]
		}
		n = min(n, len(message))
		out := message[:n]
		message = message[n:]
		return out
	}
	if len(message) < 4 {
		return nil
	}
	message = message[1:]
	message = part(3)
	message = message[min(34, len(message)):]
	_, _, _ = part(1), part(2), part(1)
	for message = part(2); len(message) >= 4; {
		kind := binary.BigEndian.Uint16(message)
		message = message[2:]
		data := part(2)
		if kind == 0 && len(data) >= 5 {
			names = append(names, string(data[5:]))
		}
	}
	return names
}

// FuzzHello: a hello that passes names the host once, and reaches the server as it came.
func FuzzHello(f *testing.F) {
	f.Add(greeting(f, "ok.example"))
	f.Add(greeting(f, ""))
	f.Add(greeting(f, "", serverName("ok.example", "secret.example")))
	f.Add(greeting(f, "ok.example", serverName("secret.example")))
	f.Add(greeting(f, "", otherType(serverName("ok.example", "secret.example"), "secret.example")))
	f.Add(greeting(f, "ok.example", extension(0xfe0d, "x")))
	f.Add(records(greeting(f, "ok.example"), 9))
	ok := ir.Host{Kind: ir.HostName, Name: "ok.example"}
	f.Fuzz(func(t *testing.T, b []byte) {
		why, sent, err := egress.Hello(b, ok)
		if err != nil {
			return
		}
		if !bytes.Equal(sent, b) {
			t.Errorf("%x became %x", b, sent)
		}
		if names := serverNames(b); why == "" && (len(names) != 1 || !strings.EqualFold(names[0], "ok.example")) {
			t.Errorf("%x is for %q", b, names)
		}
	})
}

// FuzzSocks: a host that a request of SOCKS5 leads to is in its canonical form, and bytes behind
// the request are not read.
func FuzzSocks(f *testing.F) {
	for _, host := range []string{"ok.example", "ok\x00.example", "B\u00fccher.example", "127.1", ""} {
		f.Add(socksRequest(3, []byte(host), 443)[3:])
	}
	f.Add(socksRequest(1, []byte{127, 0, 0, 1}, 80)[3:])
	f.Add(socksRequest(4, netip.MustParseAddr("::ffff:127.0.0.1").AsSlice(), 80)[3:])
	f.Fuzz(func(t *testing.T, b []byte) {
		h, port, granted, left := egress.Socks(b)
		if !granted {
			return
		}
		size := map[byte]int{1: 4, 4: 16}[b[3]]
		if b[3] == 3 {
			size = 1 + int(b[4])
		}
		if again, err := resolve.Host(h.String()); err != nil || again != h || len(b)-left != 4+size+2 ||
			port != binary.BigEndian.Uint16(b[4+size:]) {
			t.Errorf("%x leads to %v, %d; %d bytes are left", b, h, port, left)
		}
	})
}

// FuzzRequest: all readings of the path of a request that passes are the one that was judged, and
// its host is that of the connection.
func FuzzRequest(f *testing.F) {
	for _, target := range []string{"/api/x", "http://ok.example/api/x?y", "/api/%2e%2e/x", "/api//x", "/api/%C3%BC", "//ok.example/x", "*", "ok.example:80", "/api/.%2e/x", "/a%2fb", "/\\x"} {
		f.Add("GET "+target+" HTTP/1.1\r\nHost: ok.example\r\n\r\n", true)
		f.Add("POST "+target+" HTTP/1.1\r\nHost: ok.example\r\n\r\n", false)
	}
	w := newWorld(f, allow("ok.example", below("api")))
	ok := ir.Host{Kind: ir.HostName, Name: "ok.example"}
	f.Fuzz(func(t *testing.T, text string, tunnel bool) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return
		}
		var o egress.Origin
		if tunnel {
			o = egress.Origin{Host: ok, Port: 80}
		}
		to, why := w.proxy.Target(o, r)
		if why != "" || to.Host != ok || to.Port != 80 {
			if why == "" && tunnel {
				t.Errorf("%q in a tunnel leads to %v", text, to)
			}
			return
		}
		decoded, err := url.PathUnescape(r.URL.EscapedPath())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := url.PathUnescape(decoded)
		if err == nil && again != decoded {
			t.Errorf("%q is read as %q by a server that decodes twice", text, again)
		}
		var segments []string
		if clean := path.Clean("/" + decoded); clean != "/" {
			segments = strings.Split(clean[1:], "/")
		}
		judged, err := url.PathUnescape(strings.Join(to.Path, "/"))
		if err != nil || strings.TrimSuffix(judged, "/") != strings.Join(segments, "/") {
			t.Errorf("%q was judged as %q, and is %q", text, to.Path, segments)
		}
	})
}

// FuzzAnswer: the stub answers the question that it was asked, and only for granted names.
func FuzzAnswer(f *testing.F) {
	ask := func(name string, t dnsmessage.Type) {
		q := dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: t, Class: 1}}}
		b, err := q.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	ask("ok.example.", dnsmessage.TypeA)
	ask("OK.example.", dnsmessage.TypeAAAA)
	ask("secret.example.", dnsmessage.TypeA)
	ask("ok.example.", 65)
	ask("xn--a.", dnsmessage.TypeA)
	w := newWorld(f, allow("ok.example"))
	w.names["ok.example"] = "203.0.113.1"
	f.Fuzz(func(t *testing.T, b []byte) {
		answer := w.proxy.Answer(context.Background(), b)
		_, looks, _ := w.nothing()
		if slices.ContainsFunc(looks, func(l string) bool { return l != "ok.example" }) {
			t.Errorf("%x looked up %q", b, looks)
		}
		if answer == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(answer); err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		if !m.Response || m.ID != binary.BigEndian.Uint16(b) {
			t.Errorf("%x: %v", b, m)
		}
		for _, a := range m.Answers {
			if h, err := resolve.Host(a.Header.Name.String()); err != nil || h.Name != "ok.example" || m.RCode != dnsmessage.RCodeSuccess {
				t.Errorf("%x: %v", b, m)
			}
		}
	})
}
