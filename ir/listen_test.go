package ir_test

import (
	"fmt"
	"testing"

	"github.com/accessc/accessc/ir"
)

// netRules is a tool with only net rules.
func netRules(rules ...ir.NetRule) *ir.Tool {
	tool := ir.NewTool("t")
	tool.FS, tool.Net = nil, rules
	return tool
}

// TestTiesOfListening has the order of rules about listening decide only for the same host and port.
func TestTiesOfListening(t *testing.T) {
	rule := func(listen bool, port uint16) ir.NetRule {
		return ir.NetRule{Host: host("localhost"), Listen: listen, Port: port, Allow: true}
	}
	for _, a := range []ir.NetRule{rule(true, 0), rule(true, 80), rule(true, 8080), rule(false, 0), rule(false, 80)} {
		for _, b := range []ir.NetRule{rule(true, 0), rule(true, 80), rule(true, 8080)} {
			want := false
			for _, port := range []uint16{0, 80, 81, 8080, 8081} {
				op := ir.Listen{Host: host("localhost"), Port: port}
				want = want || decidesBy(op, a, b) && decidesBy(op, b, a)
			}
			if got := a.Ties(&b); got != want || b.Ties(&a) != want {
				t.Errorf("%s and %s: got %v, want %v", a.Subject(), b.Subject(), got, want)
			}
		}
	}
}

// decidesBy reports whether last decides a target when it stands behind first, and
// first matches as well.
func decidesBy(to ir.Operation, first, last ir.NetRule) bool {
	both, alone := &ir.Tool{Net: []ir.NetRule{first, last}}, &ir.Tool{Net: []ir.NetRule{first}}
	if ir.NewView(alone, ir.Linux, ir.Facts{}).Decide(to).Rule == nil {
		return false
	}
	return ir.NewView(both, ir.Linux, ir.Facts{}).Decide(to).Rule == ir.Rule(&both.Net[1])
}

// TestTraceNet has the reasons why rules on the same host lose.
func TestTraceNet(t *testing.T) {
	tool := netRules(
		ir.NetRule{Host: host("localhost"), Listen: true, Allow: true},
		ir.NetRule{Host: host("localhost"), Listen: true, Port: 80, Allow: true},
		ir.NetRule{Host: host("10.0.0.1"), Listen: true, Allow: true},
		ir.NetRule{Host: host("*"), Listen: true},
		ir.NetRule{Host: host("a.com"), Methods: []string{"GET", "HEAD"}, Inspect: true, Allow: true},
		ir.NetRule{Host: host("a.com"), Port: 22, Allow: true},
		ir.NetRule{Host: host("a.com"), Path: []string{"p"}, Allow: true},
	)
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	web := ir.Endpoint{Scheme: "https", Host: host("a.com"), Port: 443}
	for _, c := range []struct {
		op   ir.Operation
		want string
	}{
		{ir.Listen{Host: host("127.0.0.1"), Port: 8080}, "[net[0] wins][net[3] a more specific or later rule matches][net[1] another port]"},
		{ir.Listen{Host: host("localhost"), Port: 81}, "[net[3] without a port it is about those above 1023][net[1] another port][net[0] without a port it is about those above 1023]"},
		{ir.Listen{Host: host("10.0.0.1")}, "[net[2] wins][net[3] a more specific or later rule matches]"},
		{ir.Connect{To: web, Method: "GET"}, "[net[4] wins][net[6] another path][net[5] another port]"},
		{ir.Connect{To: web, Method: "PUT"}, "[net[6] another path][net[5] another port][net[4] another method]"},
		{ir.Connect{To: web}, "[net[6] another path][net[5] another port][net[4] about GET, HEAD alone]"},
		{ir.Connect{To: ir.Endpoint{Scheme: ir.Stream, Host: host("a.com"), Port: 22}}, `[net[6] only a rule with scheme = "tcp" allows a stream]` +
			`[net[5] only a rule with scheme = "tcp" allows a stream][net[4] only a rule with scheme = "tcp" allows a stream]`},
		{ir.Connect{To: ir.Endpoint{Scheme: ir.Stream, Host: host("127.0.0.1"), Port: 8080}, Own: true}, "[net[0] wins][net[3] a more specific or later rule matches][net[1] another port]"},
	} {
		got := ""
		for _, x := range v.Trace(c.op, v.Decide(c.op)) {
			if x.Wins {
				x.Note = "wins"
			}
			got += fmt.Sprintf("[%s %s]", x.ID, x.Note)
		}
		if got != c.want {
			t.Errorf("%+v: got\n%s, want\n%s", c.op, got, c.want)
		}
	}
}
