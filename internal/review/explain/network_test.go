package explain

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// networkTool has a rule with each field of net rules, one per line of a file.
func networkTool() *ir.Tool {
	name := func(s string) ir.Host { return ir.Host{Kind: ir.HostName, Name: s} }
	t := ir.NewTool("t")
	t.Net = []ir.NetRule{
		{Host: name("api.test"), Scheme: "https", Path: []string{"v1"}, Methods: []string{"GET", "HEAD"}, Inspect: true, Allow: true,
			Credential: &ir.Credential{Env: "TOKEN", As: "header", Name: "Authorization"}},
		{Host: name("db.test"), Scheme: ir.Stream, Port: 5432, Allow: true},
		{Host: name("pinned.test"), Scheme: "https", Opaque: true, Allow: true},
		{Host: name(ir.Localhost), Listen: true, Allow: true},
		{Host: ir.Host{Kind: ir.HostAny}, Listen: true, Port: 3000},
		{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.IPv6Loopback()}, Scheme: "http", Port: 9000, Allow: true},
	}
	for i := range t.Net {
		t.Net[i].Origin = ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "a.toml", Line: i + 1}}
	}
	return t
}

// TestNetworkRules: a policy shows each field of net rules, in each form.
func TestNetworkRules(t *testing.T) {
	g := newGroup(policy(networkTool()))
	for form, want := range map[string][]string{
		g.Text(Style{}): {
			"allow GET,HEAD https://api.test/v1                             a.toml:1        inspected, sends variable TOKEN as header Authorization\n",
			"allow tcp://db.test:5432 ", "allow https://pinned.test                                      a.toml:3        not looked at\n",
			"allow listen localhost  ", "deny  listen *:3000  ",
		},
		g.Markdown(Style{}): {"inspected, sends variable TOKEN as header Authorization", "allow listen localhost"},
		render(t, networkTool()): {
			"inspected, sends variable TOKEN as header Authorization", "not looked at", "deny  listen *:3000",
		},
	} {
		for _, w := range want {
			if !strings.Contains(form, w) {
				t.Errorf("%q is missing:\n%s", w, form)
			}
		}
	}
}

// TestNetworkAnswers has the answers about methods, streams, listening, and a connection to a
// listener of the tool's own.
func TestNetworkAnswers(t *testing.T) {
	v := ir.NewView(networkTool(), ir.Linux, ir.Facts{})
	for question, want := range map[string]string{
		"connect GET https://api.test/v1/x":  "yes  the rule on GET,HEAD https://api.test/v1 allows it (a.toml:1)\n",
		"connect POST https://api.test/v1/x": "no   no rule matches POST https://api.test/v1/x\n     GET,HEAD https://api.test/v1 (a.toml:1): another method\n",
		"connect https://api.test/v1/x":      "no   no rule matches https://api.test/v1/x\n     GET,HEAD https://api.test/v1 (a.toml:1): about GET, HEAD alone\n",
		"connect tcp://db.test:5432":         "yes  the rule on tcp://db.test:5432 allows it (a.toml:2)\n",
		"connect tcp://api.test:443":         "no   no rule matches tcp://api.test:443\n     GET,HEAD https://api.test/v1 (a.toml:1): another scheme\n",
		"connect tcp://127.0.0.1:8080": "no   no rule matches tcp://127.0.0.1:8080\n" +
			"     where a process of the tool itself listens: yes, the rule on listen localhost allows it (a.toml:4)\n",
		"connect http://localhost:9000": "no   no rule matches http://localhost:9000\n" +
			"     where localhost leads to ::1: yes, the rule on http://[::1]:9000 allows it (a.toml:6)\n" +
			"     where a process of the tool itself listens: yes, the rule on listen localhost allows it (a.toml:4)\n",
		"listen localhost:8080": "yes  the rule on listen localhost allows it (a.toml:4)\n" +
			"     listen *:3000 (a.toml:5): another port\n",
		"listen localhost:80": "no   no rule matches localhost:80\n" +
			"     listen *:3000 (a.toml:5): another port\n     listen localhost (a.toml:4): without a port it is about those above 1023\n",
		"listen *:3000": "no   the rule on listen *:3000 denies it (a.toml:5)\n" +
			"     at 127.0.0.1 instead, where the supervisor makes it: yes, the rule on listen localhost allows it (a.toml:4)\n",
	} {
		q, err := resolve.ParseQuestion(strings.Fields(question))
		if err != nil {
			t.Fatal(err)
		}
		a := Answer{View: v, Question: q}
		if a.Operation, err = (resolve.Asker{}).Operation(q); err != nil {
			t.Fatal(err)
		}
		a.Verdict = v.Decide(a.Operation)
		a.Considered = v.Trace(a.Operation, a.Verdict)
		if got := a.Text(Style{}, false); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", question, got, want)
		}
		if doc := a.JSON(Style{}); doc.Method != q.Method || doc.Target != q.Operands[0] {
			t.Errorf("%s: %+v", question, doc)
		}
	}
	if v.Decide(ir.Connect{To: ir.Endpoint{Scheme: ir.Stream, Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("10.0.0.1")}, Port: 8080}, Own: true}).Allowed() {
		t.Error("a listener at another address is the tool's own")
	}
}
