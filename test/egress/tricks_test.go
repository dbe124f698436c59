//go:build linux

package egress_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// tricksRules grant one host whole, one by a path, and names that lead to this host and its
// neighbours.
const tricksRules = `
[[tools.t.access.net]]
host = "a.example.test"
allow = true
[[tools.t.access.net]]
host = "b.example.test"
scheme = "http"
path_prefix = "/ok"
allow = true
[[tools.t.access.net]]
host = "loop.example.test"
allow = true
[[tools.t.access.net]]
host = "metadata.example.test"
allow = true
[[tools.t.access.net]]
host = "alias.example.test"
allow = true
[[tools.t.access.net]]
host = "b.denied.test"
`

// tricks are commands that ask for more than the rules grant, by a target that they grant or
// that looks like one. Those that grant it say hello.
var tricks = []struct {
	name, run string
	granted   bool
}{
	{"host", `curl -sS http://a.example.test/x`, true},
	{"spelling of the host", `curl -sS http://A.EXAMPLE.test./x`, true},
	{"path", `curl -sS http://b.example.test/ok/x`, true},
	{"other path", `curl -sS http://b.example.test/other`, false},
	{"path that begins alike", `curl -sS http://b.example.test/okay`, false},
	{"dots", `curl -sS --path-as-is http://b.example.test/ok/../other`, false},
	{"encoded dots", `curl -sS --path-as-is http://b.example.test/ok/%2e%2e/other`, false},
	{"encoded slash", `curl -sS --path-as-is http://b.example.test/ok%2f..%2fother`, false},
	{"encoded slash behind the prefix", `curl -sS --path-as-is http://b.example.test/ok/..%2fother`, false},
	{"backslash", `curl -sS --path-as-is 'http://b.example.test/ok/..\other'`, false},
	{"parameter", `curl -sS --path-as-is 'http://b.example.test/ok/..;/other'`, false},
	{"other scheme", `curl -sS https://b.example.test/ok`, false},
	{"other port", `curl -sS http://a.example.test:8080/x`, false},
	{"other name in TLS", `curl -sS --connect-to b.denied.test:443:a.example.test:443 https://b.denied.test/x`, false},
	{"no name in TLS", `curl -sS --connect-to [2001:db8:9::9]:443:a.example.test:443 https://[2001:db8:9::9]/x`, false},
	{"other name in HTTP", `curl -sS -H 'Host: b.denied.test' http://a.example.test/x`, false},
	{"other name in HTTP/2", `curl -sS --http2-prior-knowledge -H 'Host: b.denied.test' http://a.example.test/x`, false},
	{"other name in the request line", `curl -sS --request-target http://b.denied.test/x http://a.example.test/x`, false},
	{"other name behind a granted one", `curl -sS http://a.example.test.denied.test/x`, false},
	{"method that shows credentials", `curl -sS -X TRACE http://a.example.test/x`, false},
	{"neither HTTP nor TLS", `bash -c 'exec 3<>/dev/tcp/a.example.test/80; echo "word hello from" >&3; timeout 5 cat <&3'`, false},
	{"address of the host", `curl -sS http://203.0.113.10/x`, false},
	{"address of the host in IPv6", `curl -sS http://[::ffff:203.0.113.10]/x`, false},
	{"name of this host", `curl -sS http://loop.example.test/x`, false},
	{"name of a metadata service", `curl -sS http://metadata.example.test/x`, false},
	{"alias of a denied name", `curl -sS http://alias.example.test/x`, false},
	{"alias of a denied name in TLS", `curl -sS https://alias.example.test/x`, false},
	{"second request on a connection", `curl -sS http://b.example.test/ok -o /dev/null http://b.example.test/other`, false},
}

// TestTricks: no spelling of a granted target reaches another, and each refusal is reported.
func TestTricks(t *testing.T) {
	w := need(t)
	if m := has("curl bash"); m != "" {
		t.Skipf("%s is not installed", m)
	}
	p := newPlace(t, w, ordinary, tricksRules)
	p.holds(t)
	before := len(w.arrivals(0))
	t.Run("all", func(t *testing.T) {
		for _, c := range tricks {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				p.trick(t, c.run, c.granted)
			})
		}
	})
	for _, a := range w.arrivals(before) {
		named := strings.HasSuffix(a.host, "denied.test") || strings.HasSuffix(a.sni, "denied.test")
		elsewhere := a.to.Addr().IsLoopback() || a.to.Addr().IsLinkLocalUnicast() || a.to.Port() == portOther
		if named || elsewhere || a.method == "TRACE" || strings.Contains(a.path, "other") || strings.Contains(a.path, "okay") || strings.HasPrefix(a.host, "alias") {
			t.Errorf("reached %+v", a)
		}
	}
}

// trick runs one command.
func (p *place) trick(t *testing.T, run string, granted bool) {
	ctx := await.Context(t)
	name := filepath.Base(t.Name())
	out, _ := p.exec(ctx, "", name+".jsonl", "sh", "-c", "{ "+run+"\n} >own-"+name+" 2>&1").CombinedOutput()
	own, _ := os.ReadFile(filepath.Join(p.ws, "own-"+name))
	if reached := strings.Contains(string(own), "hello from"); reached != granted {
		t.Errorf("reached %v, expected %v:\n%s\n%s", reached, granted, own, out)
	}
	named := false
	for _, d := range denials(t, filepath.Join(p.dir, name+".jsonl")) {
		named = named || d.Operation == "connect"
	}
	if named == granted {
		t.Errorf("a refusal was reported: %v\n%s\n%s", named, own, out)
	}
}
