package denial

import (
	"net/netip"
	"strings"
	"testing"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

func name(s string) ir.Host { return ir.Host{Kind: ir.HostName, Name: s} }

func literal(s string) ir.Host { return ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(s)} }

// online is a view of a tool with net rules alone, one per line of accessc.toml.
func online(rules ...ir.NetRule) *ir.View {
	tool := ir.NewTool("x")
	for i := range rules {
		rules[i].Origin = ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: i + 1, Col: 1}}
	}
	tool.Net = rules
	return ir.NewView(tool, ir.Linux, ir.Facts{Base: []ir.FSRule{}})
}

// TestSentence has the sentence for each cause of a refusal, and the rule that it proposes.
func TestSentence(t *testing.T) {
	const none, to = " is denied: no net rule of x grants it", " } to conversation.tools.x.access.net"
	web := ir.Endpoint{Scheme: "https", Host: name("a.com"), Port: 443}
	at := func(path ...string) ir.Endpoint { e := web; e.Path = path; return e }
	port := func(scheme string, p uint16) ir.Endpoint {
		return ir.Endpoint{Scheme: scheme, Host: name("a.com"), Port: p}
	}
	reading := ir.NetRule{Host: name("a.com"), Methods: []string{"GET"}, Inspect: true, Allow: true}
	for _, c := range []struct {
		op    ir.Operation
		rules []ir.NetRule
		want  string
	}{
		{ir.Connect{To: at("v1"), Method: "GET"}, nil,
			`connect GET https://a.com/v1` + none + `; to allow it, add { host = "a.com", scheme = "https", allow = true` + to},
		{ir.Connect{To: port("http", 8080), Method: "GET"}, nil,
			`connect GET http://a.com:8080` + none + `; to allow it, add { host = "a.com", scheme = "http", port = 8080, allow = true` + to},
		{ir.Connect{To: port(ir.Stream, 22)}, nil,
			`connect tcp://a.com:22` + none + `; to allow it, add { host = "a.com", scheme = "tcp", port = 22, allow = true` + to},
		{ir.Connect{To: port(ir.Stream, 22)}, []ir.NetRule{{Host: name("a.com"), Port: 22, Allow: true}},
			`connect tcp://a.com:22` + none + `; to allow it, add { host = "a.com", scheme = "tcp", port = 22, allow = true` + to},
		{ir.Connect{To: ir.Endpoint{Host: name("a.com")}}, nil,
			`connect a.com` + none + `; to allow it, add { host = "a.com", allow = true` + to},
		{ir.Connect{To: ir.Endpoint{Host: literal("10.0.0.5"), Port: 5432}}, nil,
			`connect 10.0.0.5:5432` + none + `; to allow it, add { host = "10.0.0.5", port = 5432, allow = true` + to},
		{ir.Connect{To: at("v1", ""), Method: "POST"}, []ir.NetRule{reading},
			`connect POST https://a.com/v1/` + none + `; to allow it, add { host = "a.com", scheme = "https", path_prefix = "/v1", methods = ["POST"], inspect = true, allow = true` + to},
		{ir.Connect{To: at("v1"), Method: "get"}, []ir.NetRule{reading}, `connect get https://a.com/v1` + none},
		{ir.Connect{To: at("v1"), Method: "GET"}, []ir.NetRule{{Host: name("a.com"), Scheme: "https"}},
			`connect GET https://a.com/v1 is denied by the rule https://a.com (accessc.toml:1)`},
		{ir.Listen{Host: name("localhost"), Port: 80}, []ir.NetRule{{Host: name("localhost"), Listen: true, Allow: true}},
			`listen localhost:80` + none + `; to allow it, add { host = "localhost", port = 80, listen = true, allow = true` + to},
		{ir.Listen{Host: literal("::")}, nil,
			`listen [::]:0` + none + `; to allow it, add { host = "*", listen = true, allow = true` + to},
	} {
		v := online(c.rules...)
		verdict := v.Decide(c.op)
		if verdict.Allowed() {
			t.Fatalf("%+v is allowed", c.op)
		}
		if got := Sentence(v, c.op, verdict); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestSentenceIsSafe: a sentence is one short line of visible characters, whatever a client, a
// repository or a resolver chose, and its proposal is TOML.
func TestSentenceIsSafe(t *testing.T) {
	irtest.Check(t, 3000, 1, func(rt *rapid.T) {
		v := online(ir.NetRule{Host: name("a.com"), Path: []string{"v1"}, Allow: rapid.Bool().Draw(rt, "allow")})
		v.Tool.Name = rapid.String().Draw(rt, "tool")
		op := ir.Connect{To: ir.Endpoint{Scheme: "https", Host: name("a.com"), Port: 443}, Method: rapid.String().Draw(rt, "method")}
		op.To.Path = append([]string{"v1"}, rapid.SliceOf(rapid.StringN(0, 300, -1)).Draw(rt, "path")...)
		verdict := v.Decide(op)
		if verdict.Allowed() {
			op.To.Path = op.To.Path[1:]
			if verdict = v.Decide(op); verdict.Allowed() {
				return
			}
		}
		s := Sentence(v, op, verdict)
		if strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) && !strings.ContainsRune(op.Method+v.Tool.Name+strings.Join(op.To.Path, ""), unicode.ReplacementChar) {
			rt.Fatalf("%q", s)
		}
		if len(s) > 20*maxTarget+maxProposal {
			rt.Fatalf("%d bytes", len(s))
		}
		if _, rule, ok := strings.Cut(s, "; to allow it, add "); ok && !strings.Contains(v.Tool.Name, "} to ") {
			var got map[string]any
			rule = rule[:strings.LastIndex(rule, "} to ")+1]
			if err := toml.Unmarshal([]byte("rule = "+rule), &got); err != nil {
				rt.Fatalf("%v in %s", err, rule)
			}
		}
	})
}

// TestLineOfNetwork has the sentence, the target and the grant of a report's line.
func TestLineOfNetwork(t *testing.T) {
	v := online()
	op := ir.Connect{To: ir.Endpoint{Scheme: "https", Host: name("a.com"), Port: 443, Path: []string{"v1"}}, Method: "GET"}
	d := &Denial{By: ByPolicy, Operation: op, Verdict: v.Decide(op), View: v, Syscall: "connect", Errno: "EACCES"}
	const want = `"by":"policy","reason":"default-deny","rule":null,` +
		`"grant":"[[conversation.tools.x.access.net]]\nhost = \"a.com\"\nscheme = \"https\"\nallow = true\n",` +
		`"sentence":"connect GET https://a.com/v1 is denied: no net rule of x grants it; to allow it, add { host = \"a.com\", scheme = \"https\", allow = true } to conversation.tools.x.access.net"}`
	if got := string(d.Line()); !strings.HasSuffix(got, want+"\n") || !strings.Contains(got, `"target":"GET https://a.com/v1"`) {
		t.Errorf("got %s", got)
	}
}

// TestNamelessHost: a request that names no host is refused as any other, and the hosts of the line are those that were
// named. It began with an empty one.
func TestNamelessHost(t *testing.T) {
	for _, c := range []struct {
		hosts []ir.Host
		want  string
	}{
		{[]ir.Host{{}}, "was refused once; see there"},
		{[]ir.Host{{}, name("a.com")}, "was refused 2 times (host a.com); see there"},
		{[]ir.Host{name("a.com"), {}, name("b.com")}, "was refused 3 times (hosts a.com, b.com); see there"},
	} {
		l := NewLog(nil)
		for i, h := range c.hosts {
			d := refusedAt("/srv/x", ir.Read)
			d.Operation, d.Why = ir.Connect{To: ir.Endpoint{Host: h}, Method: "GET"}, "reason "+string(rune('a'+i))
			l.Add(d)
		}
		var said strings.Builder
		l.Note(&said, "see there")
		if !strings.HasSuffix(strings.TrimSpace(said.String()), c.want) {
			t.Errorf("said %q, want %q", said.String(), c.want)
		}
	}
}
