package egress_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"context"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
)

func host(s string) ir.Host {
	h, err := resolve.HostPattern(s)
	if err != nil {
		panic(err)
	}
	return h
}

// TestInspect: paths and methods of https requests are judged, over both versions of HTTP.
func TestInspect(t *testing.T) {
	read := func(r *ir.NetRule) {
		r.Inspect, r.Scheme, r.Path, r.Methods = true, "https", []string{"api"}, []string{"GET", "HEAD"}
	}
	a, err := egress.NewAuthority([]ir.Host{host("example.com")})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldWith(t, a, allow("example.com", read))
	w.names = map[string]string{"example.com": "203.0.113.1"}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.PEM())
	for _, h2 := range []bool{false, true} {
		c := &http.Client{Transport: &http.Transport{
			DialContext:       func(context.Context, string, string) (net.Conn, error) { return w.to("example.com", 443), nil },
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: h2,
		}}
		for _, test := range []struct {
			method, url string
			want        int
		}{
			{"GET", "https://example.com/api/x", 200},
			{"POST", "https://example.com/api/x", 403},
			{"GET", "https://example.com/other", 403},
			{"GET", "https://example.com/api/../other", 400},
			{"GET", "https://example.com/api/%2e%2e/other", 400},
		} {
			req, err := http.NewRequest(test.method, test.url, strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Do(req)
			if err != nil {
				t.Errorf("http2 %v: %s %s: %v", h2, test.method, test.url, err)
				continue
			}
			b, _ := io.ReadAll(r.Body)
			r.Body.Close()
			if r.StatusCode != test.want || (r.ProtoMajor == 2) != h2 {
				t.Errorf("%s: %s %s: %s %s", r.Proto, test.method, test.url, r.Status, b)
			}
		}
		// Another name inside of the connection.
		req, _ := http.NewRequest("GET", "https://example.com/api/x", nil)
		req.Host = "other.example"
		r, err := c.Do(req)
		if err == nil && r.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("a request for another host: %s", r.Status)
		}
	}
}

// TestAuthority: its certificates hold for the hosts of the rules alone.
func TestAuthority(t *testing.T) {
	a, err := egress.NewAuthority([]ir.Host{host("*.example.com")})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldWith(t, a, allow("*", func(r *ir.NetRule) { r.Inspect = true }))
	w.names = map[string]string{"a.example.com": "203.0.113.1", "other.example": "203.0.113.2"}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.PEM())
	for name, want := range map[string]bool{"a.example.com": true, "other.example": false} {
		err := tls.Client(w.to(name, 443), &tls.Config{RootCAs: roots, ServerName: name}).Handshake()
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
