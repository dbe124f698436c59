//go:build linux

package egress_test

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// loadGrants grant a host by its name, and another by its address, which needs no proxy.
var loadGrants = []grant{
	{host: "echo.example.test", scheme: ir.Stream, port: portEcho},
	{host: "echo.example.test", scheme: ir.Stream, port: portSource},
	{host: "203.0.113.177", port: portEcho},
	{host: "203.0.113.177", port: portSource},
}

// source sends until the connection ends.
func (w *world) source(c net.Conn) {
	b := make([]byte, 1<<18)
	for {
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// newLoad lays out a place with the program load.
func newLoad(t testing.TB, w *world, u user) *place {
	if has("cc") != "" {
		t.Skip("no C compiler")
	}
	toml, _ := policy(t, loadGrants)
	p := newPlace(t, w, u, toml)
	p.cc("load")
	p.holds(t)
	return p
}

// load runs the program and returns its output, without accessc if direct is set.
func (p *place) load(t testing.TB, direct bool, args ...string) string {
	ctx := await.Context(t)
	args = append([]string{p.ws + "/load"}, args...)
	cmd := p.command(ctx, "", args...)
	if !direct {
		cmd = p.exec(ctx, "", "load.jsonl", args...)
	}
	var errs strings.Builder
	cmd.Stderr = &errs // exec says there which gaps it was told to accept
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, errs.String())
	}
	return string(out)
}

// TestLoad: many connections pass the proxy, hundreds at once, and many bytes pass one of them.
func TestLoad(t *testing.T) {
	w := need(t)
	for _, u := range users() {
		t.Run(string(u), func(t *testing.T) {
			p := newLoad(t, w, u)
			before, count := len(w.arrivals(0)), irtest.Times(10_000)
			p.load(t, false, "hold", "echo.example.test", strconv.Itoa(portEcho), strconv.Itoa(count), strconv.Itoa(min(count, 500)))
			if n := len(w.arrivals(before)); n != count {
				t.Errorf("%d connections arrived, expected %d", n, count)
			}
			bytes := irtest.Times(1 << 30)
			ns := numbers(t, p.load(t, false, "receive", "echo.example.test", strconv.Itoa(portSource), strconv.Itoa(bytes)))
			t.Logf("%d bytes at %.0f MB/s", bytes, float64(bytes)/float64(ns[0])*1e3)
			await.Until(t, "no connection is open", func() bool { return w.serving.Load() == 0 })
		})
	}
}

// numbers reads a number from every line.
func numbers(t testing.TB, out string) (all []int) {
	for line := range strings.Lines(out) {
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// median is the middle one of some numbers.
func median(all []int) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2])
}

// BenchmarkProxy compares connections by the proxy with those to an address that a rule lists,
// and both with connections without accessc, in turns.
func BenchmarkProxy(b *testing.B) {
	p := newLoad(b, need(b), ordinary)
	ways := []struct {
		name   string
		direct bool
		host   string
	}{{"none", true, "203.0.113.177"}, {"address", false, "203.0.113.177"}, {"name", false, "echo.example.test"}}
	latency, rate := map[string][]int{}, map[string][]int{}
	const connections, bytes = 500, 1 << 28
	for b.Loop() {
		for _, way := range ways {
			out := p.load(b, way.direct, "each", way.host, strconv.Itoa(portEcho), strconv.Itoa(connections))
			latency[way.name] = append(latency[way.name], numbers(b, out)...)
			out = p.load(b, way.direct, "receive", way.host, strconv.Itoa(portSource), strconv.Itoa(bytes))
			rate[way.name] = append(rate[way.name], bytes/(numbers(b, out)[0]/1000))
		}
	}
	b.ReportMetric(0, "ns/op") // of all ways together, and so without a meaning
	for _, way := range ways {
		b.ReportMetric(median(latency[way.name])/1e3, way.name+"-µs")
		b.ReportMetric(median(rate[way.name]), way.name+"-MB/s")
	}
	b.ReportMetric((median(latency["name"])-median(latency["none"]))/1e3, "added-µs")
	b.ReportMetric(median(rate["name"])/median(rate["none"]), "rate-ratio")
}
