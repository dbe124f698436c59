//go:build linux

package egress_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// TestClients runs every client without accessc: each reaches its host, so that a refusal in
// the other tests is accessc's.
func TestClients(t *testing.T) {
	w := need(t)
	p := newPlace(t, w, ordinary, "")
	p.programs()
	for i := range clients {
		c := &clients[i]
		t.Run(c.name, func(t *testing.T) {
			if c.slow() && !everything() {
				t.Skip("at full count")
			}
			if m := c.lacks(); m != "" {
				t.Skipf("%s is not installed", m)
			}
			t.Parallel()
			host := c.label + ".example.test"
			ctx := await.Context(t)
			out, err := p.command(ctx, "cells/"+strings.ReplaceAll(t.Name(), "/", "-"), "sh", "-c", c.run, "sh", host, p.ws).CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestWorld: a connection to any address arrives and is seen, and names have the addresses that
// the zone gives them.
func TestWorld(t *testing.T) {
	w := need(t)
	for _, to := range []string{"198.51.100.7:25", "[2001:db8:2::1]:25", "169.254.169.254:25", "127.0.0.1:25"} {
		n, sent := len(w.arrivals(0)), packet{proto: 6, to: netip.MustParseAddrPort(to)}
		before := w.window(t).wire[sent]
		c, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 3)
		if _, err := c.Read(b); err != nil || string(b) != "220" {
			t.Errorf("%s: %q %v", to, b, err)
		}
		c.Close()
		if a := w.arrivals(n); len(a) != 1 || a[0].to != netip.MustParseAddrPort(to) {
			t.Errorf("%s: arrived %v", to, a)
		}
		await.Until(t, "the packet to "+to+" is seen", func() bool { return w.window(t).wire[sent] > before })
		if n := w.window(t).wire[sent] - before; n != 1 {
			t.Errorf("%s: seen %d times", to, n)
		}
	}
	for name, want := range map[string]bool{"a.example.test": true, "loop6.example.test": true, "missing.example.test": false, "broken.example.test": false} {
		if found, err := net.LookupHost(name); (err == nil) != want {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}
