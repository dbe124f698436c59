package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// halves answers a request that a rule permits in two parts, and any other with more than a client that reads nothing takes.
type halves struct {
	second chan struct{}
	sent   atomic.Int64
}

func (h *halves) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/own" {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-h.second
		_, _ = io.WriteString(w, "done")
		return
	}
	for range 1000 {
		if _, err := w.Write(make([]byte, 1<<16)); err != nil {
			return
		}
		h.sent.Add(1)
	}
}

// stuck waits until the client's and the proxy's buffers seem to take no more. Nothing is asserted of that: the
// revocation ends an answer that is still being sent as well.
func (h *halves) stuck(t *testing.T) {
	last, same := int64(0), 0
	await.Until(t, "the answer that the client does not read stands still", func() bool {
		if now := h.sent.Load(); now == 0 || now != last {
			last, same = now, 0
		} else {
			same++
		}
		return same == 10
	})
}

// TestLentStreams: over HTTP/2 a revocation ends the streams of its grant, also one that the client does not read, and no
// other of the same connection. It ended the connection after a second.
func TestLentStreams(t *testing.T) {
	t.Parallel()
	a, err := egress.NewAuthority([]ir.Host{host("a.example.com")})
	if err != nil {
		t.Fatal(err)
	}
	own := allow("a.example.com", func(r *ir.NetRule) { r.Inspect, r.Scheme, r.Path = true, "https", []string{"own"} })
	l := lend(t, []ir.NetRule{allow("a.example.com")}, func(c *egress.Config) { c.Authority = a }, own)
	server := &halves{second: make(chan struct{})}
	l.tls.Config.Handler = server
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.PEM())
	c := &http.Client{Transport: &http.Transport{
		DialContext:     func(context.Context, string, string) (net.Conn, error) { return l.to("a.example.com", 443), nil },
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
	}}
	get := func(path string) *http.Response {
		r, err := c.Get("https://a.example.com" + path)
		if err != nil || r.StatusCode != http.StatusOK || r.ProtoMajor != 2 {
			t.Fatal(path, r, err)
		}
		t.Cleanup(func() { _ = r.Body.Close() })
		return r
	}
	l.answers(l.grants(1))
	kept := get("/own")
	if _, err := io.ReadFull(kept.Body, make([]byte, len("begun"))); err != nil {
		t.Fatal(err)
	}
	gone := get("/more")
	server.stuck(t)
	if err := l.proxy.Revoke(1); err != nil {
		t.Error(err)
	}
	close(server.second)
	if rest, err := io.ReadAll(kept.Body); string(rest) != "done" || err != nil {
		t.Errorf("what a rule permits ended with the grant: %q, %v", rest, err)
	}
	if _, err := io.Copy(io.Discard, gone.Body); err == nil {
		t.Error("the answer of the revoked request arrived in full")
	}
}
