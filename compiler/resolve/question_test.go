package resolve_test

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// TestNetworkQuestions: a method stands before the URL, and every address is no rule's address but the address of "*".
func TestNetworkQuestions(t *testing.T) {
	name := ir.Host{Kind: ir.HostName, Name: "example.com"}
	at := func(s string) ir.Host { return ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(s)} }
	for _, c := range []struct {
		question string
		want     ir.Operation
		wrong    string
	}{
		{"connect https://example.com/a", ir.Connect{To: ir.Endpoint{Scheme: "https", Host: name, Port: 443, Path: []string{"a"}}}, ""},
		{"connect POST https://example.com", ir.Connect{To: ir.Endpoint{Scheme: "https", Host: name, Port: 443}, Method: "POST"}, ""},
		{"connect tcp://example.com:22", ir.Connect{To: ir.Endpoint{Scheme: ir.Stream, Host: name, Port: 22}}, ""},
		{"connect tcp://example.com", nil, "the scheme tcp has no default port"},
		{"connect GET tcp://example.com:22", nil, "which has none"},
		{"connect get https://example.com", nil, `found "get", expected a method such as GET`},
		{"connect https://example.com POST", nil, "expected a method such as GET"},
		{"connect GET https://example.com x", nil, "expected connect [METHOD] URL"},
		{"listen localhost:8080", ir.Listen{Host: ir.Host{Kind: ir.HostName, Name: ir.Localhost}, Port: 8080}, ""},
		{"listen LOCALHOST.:0", ir.Listen{Host: ir.Host{Kind: ir.HostName, Name: ir.Localhost}}, ""},
		{"listen 127.0.0.1:0", ir.Listen{Host: at("127.0.0.1")}, ""},
		{"listen [::1]:80", ir.Listen{Host: at("::1"), Port: 80}, ""},
		{"listen *:8080", ir.Listen{Host: at("::"), Port: 8080}, ""},
		{"listen example.com:80", nil, "expected localhost, an address of this host, or *"},
		{"listen ::1:80", nil, "without brackets"},
		{"listen [::1]", nil, "expected an address and a port"},
		{"listen localhost", nil, "expected an address and a port"},
		{"listen localhost:65536", nil, "expected 0 to 65535"},
		{"listen :80", nil, "empty host"},
	} {
		q, err := resolve.ParseQuestion(strings.Fields(c.question))
		var op ir.Operation
		if err == nil {
			op, err = resolve.Asker{}.Operation(q)
		}
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: got %v, want %q", c.question, err, c.wrong)
		case c.wrong == "" && (err != nil || !reflect.DeepEqual(op, c.want)):
			t.Errorf("%s: got %+v %v, want %+v", c.question, op, err, c.want)
		}
	}
}

// TestLongQuestions: a path that is longer than any system takes is no question. To follow one of a megabyte took
// minutes, in which accessc serve answered no other client.
func TestLongQuestions(t *testing.T) {
	for _, c := range [][]string{{"read", strings.Repeat("a/", 500_000)}, {"execute", strings.Repeat("/b", 500_000)}} {
		q, err := resolve.ParseQuestion(c)
		if err == nil {
			_, err = resolve.Asker{}.Operation(q)
		}
		if err == nil || !strings.Contains(err.Error(), "1000000 bytes") {
			t.Errorf("%s: got %v", c[0], err)
		}
	}
}
