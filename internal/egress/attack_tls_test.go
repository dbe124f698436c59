package egress_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

// greeting is the hello of a TLS client, with more extensions behind its own.
func greeting(t testing.TB, name string, more ...[]byte) []byte {
	t.Helper()
	client, server := net.Pipe()
	go func() {
		_ = tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	buf := make([]byte, 16<<10)
	n, err := server.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	client.Close()
	b := buf[:n]
	at := 5 + 4 + 2 + 32                           // record, handshake, version, random
	at += 1 + int(b[at])                           // session
	at += 2 + int(binary.BigEndian.Uint16(b[at:])) // suites
	at += 1 + int(b[at])                           // compression
	for _, m := range more {
		b = append(b, m...)
	}
	binary.BigEndian.PutUint16(b[at:], uint16(len(b)-at-2))
	binary.BigEndian.PutUint16(b[7:], uint16(len(b)-9)) // 24 bits, of which the first stay 0
	binary.BigEndian.PutUint16(b[3:], uint16(len(b)-5))
	return b
}

// extension is one of a hello.
func extension(number uint16, data string) []byte {
	b := binary.BigEndian.AppendUint16(nil, number)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(data))), data...)
}

// serverName is the extension that carries names.
func serverName(names ...string) []byte {
	list := ""
	for _, n := range names {
		list += fmt.Sprintf("\x00%c%c%s", len(n)>>8, len(n), n)
	}
	return extension(0, fmt.Sprintf("%c%c%s", len(list)>>8, len(list), list))
}

// otherType gives the entry of a name in that extension a type that no RFC assigns; a library may pass over it.
func otherType(extension []byte, name string) []byte {
	extension[bytes.Index(extension, []byte(name))-3] = 0xe7
	return extension
}

// records cuts a hello into records of a few bytes.
func records(hello []byte, size int) (out []byte) {
	for part := range slices.Chunk(hello[5:], size) {
		out = append(append(out, 22, 3, 1, byte(len(part)>>8), byte(len(part))), part...)
	}
	return out
}

// openingBytes are the first of a client.
type openingBytes struct {
	name string
	send []byte
	pass string // the kinds of rules under which it passes
}

func openings(t *testing.T, host string) []openingBytes {
	ech := extension(0xfe0d, "\x00\x00\x01\x00\x01\x07\x00\x00\x00\x04abcd")
	return []openingBytes{
		{"the name", greeting(t, host), "https any inspect opaque tcp"},
		{"in capitals", greeting(t, "OK.Example"), "https any inspect opaque tcp"},
		{"in small records", records(greeting(t, host), 7), "https any inspect opaque tcp"},
		{"another name", greeting(t, "secret.example"), "opaque tcp"},
		{"another granted name", greeting(t, "fine.example"), "opaque tcp"},
		{"a name below", greeting(t, "www.ok.example"), "opaque tcp"},
		{"no name", greeting(t, ""), "opaque tcp"},
		{"an empty name", greeting(t, "", serverName("")), "opaque tcp"},
		{"a dot behind", greeting(t, "", serverName("ok.example.")), "opaque tcp"},
		{"NUL", greeting(t, "", serverName("ok.example\x00")), "opaque tcp"},
		{"NUL and more", greeting(t, "", serverName("ok.example\x00.secret.example")), "opaque tcp"},
		{"mapped letters", greeting(t, "", serverName("\uff4fk.example")), "opaque tcp"},
		{"two names", greeting(t, "", serverName("ok.example", "secret.example")), "opaque tcp"},
		{"a name of another type behind", greeting(t, "", otherType(serverName("ok.example", "secret.example"), "secret.example")), "opaque tcp"},
		{"a name of another type in front", greeting(t, "", otherType(serverName("secret.example", "ok.example"), "secret.example")), "opaque tcp"},
		{"names in two extensions", greeting(t, host, serverName("secret.example")), "opaque tcp"},
		{"an address", greeting(t, "", serverName("203.0.113.1")), "opaque tcp"},
		{"ECH", greeting(t, host, ech), "inspect opaque tcp"},
		{"a draft of ECH", greeting(t, host, extension(0xfe0a, "\x00")), "inspect opaque tcp"},
		{"ESNI", greeting(t, host, extension(0xffce, "\x00")), "inspect opaque tcp"},
		{"ECH to a provider", greeting(t, "provider.example", ech), "opaque tcp"},
		{"early data", greeting(t, host, extension(42, "")), "https any opaque tcp"},
		{"early data for another name", append(greeting(t, "secret.example", extension(42, "")), "\x17\x03\x03\x00\x04abcd"...), "opaque tcp"},
		{"early data of a client without a name", append(greeting(t, "", extension(42, "")), "\x17\x03\x03\x00\x04abcd"...), "opaque tcp"},
		{"not a hello", []byte("\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00"), "opaque tcp"},
		{"a broken hello", []byte("\x16\x03\x01\x00\x06\x01\x00\x00\x02\x03\x03"), "opaque tcp"},
		{"a hello longer than any", []byte("\x16\x03\x01\x00\x04\x01\xff\xff\xff"), "opaque tcp"},
		{"SSL 2", []byte("\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10"), "opaque tcp"},
		{"SSH", []byte("SSH-2.0-OpenSSH_9.9\r\n"), "opaque tcp"},
		{"SMTP", []byte("ehlo client\r\n"), "opaque tcp"},
		{"zeros", make([]byte, 64), "opaque tcp"},
		{"plain HTTP", []byte("GET / HTTP/1.1\r\nHost: ok.example\r\n\r\n"), "opaque tcp"},
		{"HTTP/2 without TLS", []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "opaque tcp"},
		{"SOCKS inside", socksRequest(3, []byte("secret.example"), 443), "opaque tcp"},
	}
}

// TestGreetings: which first bytes at port 443 pass, under each kind of rule and in every form.
func TestGreetings(t *testing.T) {
	const host = "ok.example"
	cases := openings(t, host)
	authority, err := egress.NewAuthority([]ir.Host{{Kind: ir.HostAny}})
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]func(*ir.NetRule){"https": scheme("https"), "any": func(*ir.NetRule) {}, "inspect": inspect, "opaque": opaque, "tcp": scheme("tcp")}
	for kind, rule := range rules {
		w := newWorldOf(t, func(c *egress.Config) {
			c.Authority = authority
			c.Limits.Handshake = time.Hour // so nothing is refused for its time
		}, allow(host, rule, port(444)), allow("fine.example", port(444)))
		w.names[host] = "203.0.113.1"
		w.listen(444, func(c net.Conn) {
			if n, _ := c.Read(make([]byte, 1)); n == 1 {
				_, _ = c.Write([]byte{22})
				_, _ = io.Copy(io.Discard, c)
			}
		})
		for _, test := range cases {
			for _, f := range forms {
				c := f.open(w, host, 444)
				if c == nil {
					t.Fatal(kind, f.name)
				}
				_, _ = c.Write(test.send)
				if test.name == "not a hello" || strings.Contains(test.name, "broken") || strings.Contains(test.name, "longer") {
					_ = c.(*net.TCPConn).CloseWrite()
				}
				answer := make([]byte, 1)
				n, _ := io.ReadFull(c, answer)
				c.Close()
				passed := n == 1 && answer[0] == 22
				if want := slices.Contains(strings.Fields(test.pass), kind); passed != want {
					t.Errorf("%s, %s, %s: passed %v, answer %q", kind, f.name, test.name, passed, answer[:n])
				}
			}
		}
	}
}

func parsed(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// TestFronting: with inspect a request must be for the host of its connection; without, the name
// in TLS is all that is seen.
func TestFronting(t *testing.T) {
	authority, err := egress.NewAuthority([]ir.Host{{Kind: ir.HostAny}})
	if err != nil {
		t.Fatal(err)
	}
	for _, inspected := range []bool{false, true} {
		w := newWorldWith(t, authority, allow("example.com", func(r *ir.NetRule) { r.Inspect = inspected }), allow("fine.example"))
		w.names = map[string]string{"example.com": "203.0.113.1", "fine.example": "203.0.113.2"}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority.PEM())
		for _, f := range forms {
			for _, version := range []string{"h2", "http/1.1"} {
				for host, want := range map[string]int{"example.com": 200, "secret.example": 421, "fine.example": 421, "example.com:444": 421, "example.com.": 200} {
					c := tls.Client(f.open(w, "example.com", 443), &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{version}, InsecureSkipVerify: !inspected})
					if err := c.Handshake(); err != nil {
						t.Fatal(f.name, err)
					}
					transport := &http.Transport{ForceAttemptHTTP2: true, DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}
					r, err := transport.RoundTrip(&http.Request{Method: "GET", URL: parsed("https://example.com/x"), Host: host, Header: http.Header{}})
					if err != nil {
						t.Fatal(f.name, err)
					}
					r.Body.Close()
					c.Close()
					if !inspected {
						want = 200
					}
					if r.StatusCode != want || (r.ProtoMajor == 2) != (version == "h2") {
						t.Errorf("inspected %v, %s, %s: Host %s: %s %s", inspected, f.name, version, host, r.Proto, r.Status)
					}
				}
			}
		}
	}
}
