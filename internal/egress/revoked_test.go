package egress

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/ir"
)

// lender is a proxy without sockets, whose user can grant a.example and b.example.
func lender() *Proxy {
	tool := ir.NewTool("t")
	for _, name := range []string{"a.example", "b.example"} {
		tool.MayNet = append(tool.MayNet, ir.NetRule{Host: ir.Host{Kind: ir.HostName, Name: name}, Allow: true})
	}
	live := ir.NewLive(tool, ir.Linux, ir.Facts{})
	r := &run{config: &Config{Policy: live.Own(), Live: live}}
	j := newJudge(r)
	p := &Proxy{run: r, judge: j, requests: newRequests(r, j, newDialer(r, j), nil)}
	j.lent.transport = &http.Transport{}
	return p
}

func at(name string) ir.Endpoint {
	return ir.Endpoint{Scheme: "https", Host: ir.Host{Kind: ir.HostName, Name: name}, Port: 443}
}

// TestRevokedBesideAnother: a revocation ends what rested on its grant, and nothing else, also while another grant
// is in force.
func TestRevokedBesideAnother(t *testing.T) {
	p := lender()
	cut := map[string]bool{}
	for id, name := range map[int]string{1: "a.example", 2: "b.example"} {
		p.Grant(id, at(name), false)
		var end func()
		v, ended := p.judge.rest(nil, matter{
			op: ir.Connect{To: at(name)}, judge: func(p Policy) ir.Verdict {
				return p.Request(at(name),
					http.MethodGet)
			},
			cut: func() { cut[name] = true; end() },
		})
		if end = ended; !v.Allowed() {
			t.Fatalf("%s is not granted", name)
		}
	}
	if err := p.Revoke(1); err != nil || !cut["a.example"] || cut["b.example"] {
		t.Errorf("%v: %v were ended", err, cut)
	}
	if err := p.Revoke(2); err != nil || !cut["b.example"] {
		t.Errorf("%v: %v were ended", err, cut)
	}
}

// TestRevokedIdle: no connection that a grant has opened waits for a later request once a grant is revoked.
func TestRevokedIdle(t *testing.T) {
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	p := lender()
	p.Grant(1, at("a.example"), false)
	get := func() {
		t.Helper()
		r, err := (&http.Client{Transport: p.judge.lent.transport}).Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	get()
	get()
	if n := opened.Load(); n != 1 {
		t.Fatalf("%d connections for two requests", n)
	}
	if err := p.Revoke(1); err != nil {
		t.Fatal(err)
	}
	if get(); opened.Load() != 2 {
		t.Error("a connection of a revoked grant was used again")
	}
	p.judge.lent.transport.CloseIdleConnections()
}

// TestFirstGrant: a use is told of the first grant that suffices, whatever the order of the grants in memory.
func TestFirstGrant(t *testing.T) {
	p := lender()
	for id := 9; id >= 2; id-- {
		p.Grant(id, at([]string{"a.example", "b.example"}[id%2]), false)
	}
	for name, want := range map[string]int{"a.example": 2, "b.example": 3} {
		for range 20 {
			got := p.judge.lent.by(func(p Policy) ir.Verdict { return p.Request(at(name), http.MethodGet) })
			if got != want {
				t.Fatalf("%s is by the grant %d, want %d", name, got, want)
			}
		}
	}
}
