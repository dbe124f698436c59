package egress_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

// inspectedWorld has two inspected hosts, of which the second is granted by another rule.
func inspectedWorld(t *testing.T) (*world, *x509.CertPool) {
	t.Helper()
	authority, err := egress.NewAuthority([]ir.Host{host("one.example.com"), host("two.example.com")})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldWith(t, authority, allow("one.example.com", inspect, below("api")), allow("two.example.com", inspect))
	w.names = map[string]string{"one.example.com": "203.0.113.1", "two.example.com": "203.0.113.1"}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM())
	return w, roots
}

// TestCoalesced: a connection to one inspected host carries no request for another, although both have one address: no
// certificate is for both, and a client that asks anyway is refused.
func TestCoalesced(t *testing.T) {
	w, roots := inspectedWorld(t)
	for _, f := range forms {
		c := tls.Client(f.open(w, "one.example.com", 443), &tls.Config{RootCAs: roots, ServerName: "one.example.com", NextProtos: []string{"h2"}})
		code := frames(t, c, ":method", "GET", ":scheme", "https", ":authority", "two.example.com", ":path", "/secret")
		state := c.ConnectionState()
		if leaf := state.PeerCertificates[0]; leaf.VerifyHostname("two.example.com") == nil || leaf.VerifyHostname("one.example.com") != nil {
			t.Errorf("%s: the certificate is for %v", f.name, leaf.DNSNames)
		}
		if reached, _, _ := w.nothing(); code != http.StatusMisdirectedRequest || len(reached) > 0 {
			t.Errorf("%s: %d, reached %q", f.name, code, reached)
		}
		c.Close()
	}
}

// oneSession gives a client the same session for every host.
type oneSession struct{ tls.ClientSessionCache }

func (s oneSession) Get(string) (*tls.ClientSessionState, bool) { return s.ClientSessionCache.Get("") }
func (s oneSession) Put(_ string, state *tls.ClientSessionState) {
	s.ClientSessionCache.Put("", state)
}

// TestResumed: a session with one inspected host begins none with another, and a resumed one carries no request that is not
// judged for the host of its connection.
func TestResumed(t *testing.T) {
	w, roots := inspectedWorld(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		cache := oneSession{tls.NewLRUClientSessionCache(1)}
		for i, test := range []struct{ host, path, want string }{
			{"two.example.com", "/secret", "200"}, {"two.example.com", "/secret", "200"}, {"one.example.com", "/secret", "403"}, {"one.example.com", "/api", "200"},
			{"two.example.com", "/secret", "200"},
		} {
			c := tls.Client(w.to(test.host, 443), &tls.Config{
				// The client's own look at certificates would keep it from presenting another host's session.
				InsecureSkipVerify: true, ServerName: test.host, ClientSessionCache: cache, MinVersion: version, MaxVersion: version,
			})
			r, _ := request(t, c, "GET "+test.path+" HTTP/1.1\r\nHost: "+test.host+"\r\n\r\n")
			state := c.ConnectionState()
			if fmt.Sprint(r.StatusCode) != test.want {
				t.Errorf("%x, %d: %s%s: %s", version, i, test.host, test.path, r.Status)
			}
			if _, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
				DNSName: test.host, Roots: roots, Intermediates: pool(state.PeerCertificates[1]),
			}); err != nil {
				t.Errorf("%x, %d: %s: resumed %v: %v", version, i, test.host, state.DidResume, err)
			}
			c.Close()
		}
		for _, r := range first(w.nothing()) {
			if strings.Contains(r, "one.example.com /secret") {
				t.Errorf("%x: reached %s", version, r)
			}
		}
	}
}

// TestRenegotiated: a client cannot begin anew within an inspected connection, with another name or the same.
func TestRenegotiated(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	w, _ := inspectedWorld(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			proxy := w.to("one.example.com", 443)
			go func() { _, _ = io.Copy(proxy, client); _ = proxy.Close() }()
			go func() { _, _ = io.Copy(client, proxy); _ = client.Close() }()
		}
	}()
	const get = "GET /api/x HTTP/1.1\r\nHost: one.example.com\r\nConnection: close\r\n\r\n"
	for before, want := range map[string]bool{"": true, "R\n": false} {
		cmd := exec.CommandContext(t.Context(), program, "s_client", "-tls1_2", "-connect", l.Addr().String(), "-servername", "one.example.com", "-ign_eof")
		if before != "" {
			cmd.Args = slices.DeleteFunc(cmd.Args, func(s string) bool { return s == "-ign_eof" }) // which turns commands off
		}
		cmd.Stdin = &steps{[]string{before, get}}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		reached, _, _ := w.nothing()
		if (len(reached) > 0) != want || strings.Contains(out.String(), "RENEGOTIATING") == want || strings.Contains(out.String(), "alert number") == want || !strings.Contains(out.String(), "CONNECTED") {
			t.Errorf("after %q: reached %q\n%s", before, reached, out.String())
		}
	}
}

// steps are read one by one.
type steps struct{ list []string }

func (s *steps) Read(b []byte) (int, error) {
	for len(s.list) > 0 && s.list[0] == "" {
		s.list = s.list[1:]
	}
	if len(s.list) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.list[0])
	s.list = s.list[1:]
	return n, nil
}

// TestSkewedHost: a host whose certificate is not valid yet, or no more, gets no request and no credential, however the
// host's clock and this one's differ.
func TestSkewedHost(t *testing.T) {
	const day = 24 * time.Hour
	for name, valid := range map[string][2]time.Duration{"now": {-day, day}, "not yet": {day, 2 * day}, "no more": {-2 * day, -day}} {
		var got []string
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = append(got, r.URL.Path)
		}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		cert := dated(t, "one.example.com", valid)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		server.StartTLS()
		authority, err := egress.NewAuthority([]ir.Host{host("one.example.com")})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorldOf(t, func(c *egress.Config) {
			c.Authority, c.Roots = authority, pool(cert.Leaf)
			c.Dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
			}
		}, allow("one.example.com", inspect))
		w.names = map[string]string{"one.example.com": "203.0.113.1"}
		c := tls.Client(w.to("one.example.com", 443), &tls.Config{InsecureSkipVerify: true, ServerName: "one.example.com"})
		r, _ := request(t, c, "GET /x HTTP/1.1\r\nHost: one.example.com\r\nConnection: close\r\n\r\n")
		c.Close()
		w.proxy.Close()
		server.Close()
		if want := map[bool]int{true: 200, false: 502}[name == "now"]; r.StatusCode != want || (len(got) > 0) != (name == "now") {
			t.Errorf("%s: %s, reached %q", name, r.Status, got)
		}
	}
}

// dated is a certificate that is valid for a time from now.
func dated(t *testing.T, name string, valid [2]time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: now.Add(valid[0]), NotAfter: now.Add(valid[1]),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// TestLinkNames: names of the local link get no other treatment: their addresses lead inside, and the questions of multicast
// DNS are refused before any name is looked up.
func TestLinkNames(t *testing.T) {
	w := newWorld(t, allow("*"))
	w.names = map[string]string{"printer.local": "192.168.1.7", "router": "fe80::1", "nas.home.arpa": "10.0.0.7", "tv.local": "224.0.0.251"}
	for name := range w.names {
		for _, f := range forms {
			if c := f.open(w, name, 80); c != nil {
				if got := exchange(c, "GET / HTTP/1.1\r\nHost: "+name+"\r\nConnection: close\r\n\r\n"); strings.HasPrefix(got, "HTTP/1.1 2") {
					t.Errorf("%s: %s: %s", f.name, name, got)
				}
				c.Close()
			}
		}
	}
	if _, _, dials := w.nothing(); len(dials) > 0 {
		t.Error("dialled", dials)
	}
	const unicast = 1 << 15 // the bit that asks for an answer to the asker alone (RFC 6762, 5.4)
	for _, q := range []dnsmessage.Question{
		{Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET | unicast}, {Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET},
		{Type: dnsmessage.TypeSRV, Class: dnsmessage.ClassINET}, {Type: dnsmessage.TypeALL, Class: dnsmessage.ClassINET},
	} {
		for _, name := range []string{"_services._dns-sd._udp.local.", "printer.local."} {
			q.Name = dnsmessage.MustNewName(name)
			b, err := (&dnsmessage.Message{Questions: []dnsmessage.Question{q}}).Pack()
			if err != nil {
				t.Fatal(err)
			}
			var out dnsmessage.Message
			if err := out.Unpack(w.proxy.Answer(context.Background(), b)); err != nil || out.RCode != dnsmessage.RCodeRefused {
				t.Errorf("%v: %v, %v", q, out.RCode, err)
			}
		}
	}
	if _, looks, _ := w.nothing(); len(looks) > 0 {
		t.Error("looked up", looks)
	}
}
