package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/irtest"
)

// policy lets the tools read and write work on docs.
func policy(t testing.TB) *Policy {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"docs", "secret"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tool := &ir.Tool{
		Name: "files", Declared: ir.Declared{FS: true}, Source: ir.Source{Kind: ir.SourceLocal, Origin: ir.Origin{Path: "servers.files"}},
		FS: []ir.FSRule{{Written: "docs", At: ir.In("docs"), Caps: ir.All}},
	}
	roots := &ir.Bindings{Workspace: filepath.ToSlash(root)}
	files := &judge.Judge{View: ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}}), Roots: roots, Dir: roots.Workspace}
	return &Policy{
		Server: "files", Judge: files, Commands: &action.Judge{Files: files},
		Tools: map[string]Tool{"read": {Entry: "read", Enabled: true}, "write": {Entry: "w", Enabled: true}},
	}
}

// called are the tools that a line would have a server call, and all strings of these calls, as
// another parser reads them.
func called(line []byte) (tools, texts []string) {
	var doc any
	if json.Unmarshal(line, &doc) != nil {
		return nil, nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, value := range v {
				texts = append(texts, key)
				walk(value)
			}
		}
	}
	messages, batch := doc.([]any)
	if !batch {
		messages = []any{doc}
	}
	for _, m := range messages {
		m, _ := m.(map[string]any)
		params, _ := m["params"].(map[string]any)
		if method, _ := m["method"].(string); strings.EqualFold(method, "tools/call") {
			name, _ := params["name"].(string)
			tools = append(tools, name)
			delete(params, "_meta")
			walk(params)
		}
	}
	return tools, texts
}

// check fails for a line that passed although a call in it may not.
func check(t interface{ Fatalf(string, ...any) }, line, forward []byte) {
	if forward == nil {
		return
	}
	if !bytes.Equal(line, forward) {
		t.Fatalf("%q passed as %q", line, forward)
	}
	tools, texts := called(line)
	for _, name := range tools {
		if name != "read" && name != "write" {
			t.Fatalf("%q passed", line)
		}
		for _, text := range texts {
			if strings.HasPrefix(text, "secret/") {
				t.Fatalf("%q passed", line)
			}
		}
	}
}

// TestNothingUnjudgedPasses: whatever the shape of a line, a call that passes is one of an
// allowed tool, on no path that is refused.
func TestNothingUnjudgedPasses(t *testing.T) {
	p := policy(t)
	irtest.Check(t, 20000, 1, func(t *rapid.T) {
		s := NewSession(p, invocations.New(), nil)
		one := func() string {
			method := rapid.SampledFrom([]string{`"tools/call"`, `"tools\/call"`, `"t\u006fols/call"`, `"Tools/Call"`, `"ping"`, `7`}).Draw(t, "method")
			name := rapid.SampledFrom([]string{`"read"`, `"re\u0061d"`, `"write"`, `"delete"`, `["read"]`}).Draw(t, "name")
			text := rapid.SampledFrom([]string{`"docs/a"`, `"secret/a"`, `"secr\u0065t/a"`, `["x",{"secret/a":1}]`, `{"path":{"path":"secret/b"}}`}).Draw(t, "text")
			key := rapid.SampledFrom([]string{"name", "Name", "n\\u0061me", "x"}).Draw(t, "key")
			call := fmt.Sprintf(`{"jsonrpc":"2.0","method":%s,"params":{"name":%s,"arguments":{"p":%s},"%s":"delete"}}`, method, name, text, key)
			if rapid.Bool().Draw(t, "id") {
				call = strings.Replace(call, "{", `{"id":1,`, 1)
			}
			return call
		}
		line := one()
		if rapid.Bool().Draw(t, "batch") {
			line = "[" + line + "," + one() + "]"
		}
		forward, back := s.FromClient([]byte(line+"\n"), nil)
		check(t, []byte(line+"\n"), forward)
		if forward == nil && back != nil && !json.Valid(back) {
			t.Fatalf("%s: got the answer %q", line, back)
		}
	})
}

// shapes draws a value of JSON of any type, with members of one name in some objects.
func shapes(t *rapid.T, depth int) string {
	kinds := []string{`"a"`, `"{\"path\":\"secret/a\"}"`, `7`, `-0.5e1`, `true`, `false`, `null`, `""`}
	if depth == 0 || rapid.Bool().Draw(t, "plain") {
		return rapid.SampledFrom(kinds).Draw(t, "value")
	}
	var items []string
	list := rapid.Bool().Draw(t, "list")
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		item := shapes(t, depth-1)
		if !list {
			item = rapid.SampledFrom([]string{`"b":`, `"c":`, `"\u0062":`}).Draw(t, "name") + item
		}
		items = append(items, item)
	}
	if list {
		return "[" + strings.Join(items, ",") + "]"
	}
	return "{" + strings.Join(items, ",") + "}"
}

// twice reports whether an object in a document has two members of one name.
func twice(d *json.Decoder) bool {
	tok, _ := d.Token()
	if tok != json.Delim('{') && tok != json.Delim('[') {
		return false
	}
	found, seen := false, map[any]bool{}
	for d.More() {
		if tok == json.Delim('{') {
			name, _ := d.Token()
			found, seen[name] = found || seen[name], true
		}
		found = twice(d) || found
	}
	_, _ = d.Token()
	return found
}

// TestArgumentsAreAnObject: arguments of any other type passed without judgement where their text is no path: a server
// that parses them once more reads the places in it.
func TestArgumentsAreAnObject(t *testing.T) {
	p := policy(t)
	irtest.Check(t, 20000, 1, func(t *rapid.T) {
		member, value := rapid.SampledFrom([]string{"arguments", "_meta"}).Draw(t, "member"), shapes(t, 3)
		line := `{"id":1,"method":"tools/call","params":{"name":"read","` + member + `":` + value + "}}"
		forward, _ := NewSession(p, invocations.New(), nil).FromClient([]byte(line), nil)
		wrong := value[0] != '{' || twice(json.NewDecoder(strings.NewReader(value)))
		if forward != nil && wrong {
			t.Fatalf("%s passed", line)
		}
		if forward == nil && !wrong && !strings.Contains(value, "secret") {
			t.Fatalf("%s was refused", line)
		}
		uri := `{"id":1,"method":"resources/read","params":{"uri":` + value + "}}"
		if forward, _ := NewSession(p, invocations.New(), nil).FromClient([]byte(uri), nil); forward != nil && (value[0] != '"' || value == `""`) {
			t.Fatalf("%s passed", uri)
		}
	})
}

// FuzzFromClient: no bytes have a call pass that may not.
func FuzzFromClient(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"tools/call","params":{"name":"delete"}}`, `{"method":"tools/call","params":{"name":"read","arguments":{"path":"secret/a"}}}`,
		// A member that the protocol does not know was not judged.
		`{"method":"tools/call","params":{"name":"read","argumnts":{"path":"secret/a"}}}`,
		`[{"id":1,"method":"tools/call","params":{"name":"read"}},{"id":2,"method":"x"}]`, "{\"params\":\r{}}",
	} {
		f.Add([]byte(seed))
	}
	p := policy(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		forward, _ := NewSession(p, invocations.New(), nil).FromClient(line, nil)
		check(t, line, forward)
	})
}

// FuzzFromServer: a passed line of the server is its own, or a listing without tools.
func FuzzFromServer(f *testing.F) {
	f.Add([]byte(`{"id":1,"result":{"tools":[{"name":"read"},{"name":"delete"}]}}`))
	f.Add([]byte(`[{"id":1,"result":{"tools":[{"name":"x"}]}},{"id":2,"result":{"tools":[{"name":"y"}]}}]`))
	p := policy(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		forward, _ := NewSession(p, invocations.New(), nil).FromServer(line, nil)
		if len(bytes.TrimSpace(forward)) > 0 && !json.Valid(forward) {
			t.Fatalf("%q became %q", line, forward)
		}
	})
}

// TestFromServer: listings are shortened wherever they stand, other bytes stay, and what is no
// message does not pass.
func TestFromServer(t *testing.T) {
	p := policy(t)
	for _, c := range []struct{ in, forward, back string }{
		{`{"id":1,"result":{"tools":[{"name":"read","x": 1},{"name":"rm"}],"n" : 1}}`, `{"id":1,"result":{"tools":[{"name":"read","x": 1}],"n" : 1}}`, ""},
		{`[{"id":1,"result":{"tools":[{"name":"rm"}]}}, {"id":2,"result":{"tools":[{"name":"rm"},{"name":"write"}]}}]`,
			`[{"id":1,"result":{"tools":[]}}, {"id":2,"result":{"tools":[{"name":"write"}]}}]`, ""},
		{`{"id":1,"result":{"tools":[{"name":"rm"}],"tools":[]}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"accessc: found \"tools\" twice in one object"}}` + "\n", ""},
		{`{"id":1,"result":{"tools":[{"name":"read","name":"rm"},7]}}`, `{"id":1,"result":{"tools":[]}}`, ""},
		{`{"id":1,"result":{"content":[{"tools":[{"name":"rm"}]}]}}`, `{"id":1,"result":{"content":[{"tools":[{"name":"rm"}]}]}}`, ""},
		// Some clients take a message with a method for an answer: it had the hidden tools.
		{`{"method":"x","id":1,"result":{"tools":[{"name":"rm"}]}}`, `{"method":"x","id":1,"result":{"tools":[]}}`, ""},
		{`{"method":"sampling/createMessage","id":2}`, `{"method":"sampling/createMessage","id":2}`, ""},
		{`a log line`, "", ""},
		{`{"method":"roots/list","id":2,"id":2}`, "", `{"jsonrpc":"2.0","id":2,"error":{"code":-32700,"message":"accessc: found \"id\" twice in one object"}}` + "\n"},
	} {
		forward, back := NewSession(p, invocations.New(), nil).FromServer([]byte(c.in), nil)
		if string(forward) != c.forward || string(back) != c.back {
			t.Errorf("%s: got %s and %s", c.in, forward, back)
		}
	}
}

// TestLongLines: a line that is too long is answered where it needs an answer, by what can be
// known of it.
func TestLongLines(t *testing.T) {
	s := NewSession(policy(t), invocations.New(), nil)
	long := func(text string) *jsonrpc.Outline { return jsonrpc.Sketch([]byte(text)) }
	if forward, back := s.FromClient(nil, long(`{"id":1,"method":"a"}`)); forward != nil || !strings.Contains(string(back), `"id":1,"error"`) {
		t.Errorf("got %s, %s", forward, back)
	}
	if forward, back := s.FromServer(nil, long(`{"id":2,"result":{}}`)); back != nil || !strings.Contains(string(forward), `"id":2,"error"`) {
		t.Errorf("got %s, %s", forward, back)
	}
	if forward, back := s.FromServer(nil, long(`{"id":3,"method":"a"}`)); forward != nil || !strings.Contains(string(back), `"id":3,"error"`) {
		t.Errorf("got %s, %s", forward, back)
	}
	if forward, back := s.FromServer(nil, long(`{"method":"a"}`)); forward != nil || back != nil {
		t.Errorf("got %s, %s", forward, back)
	}
}

// TestRefusedCallsDoNotCount: a line that the server did not get is no call, in a batch either; and a call has completed once the
// server has answered it without an error.
func TestRefusedCallsDoNotCount(t *testing.T) {
	p := policy(t)
	p.Tools["write"] = Tool{Entry: "w", Enabled: true, Constraints: &ir.Constraints{OnlyAfter: []string{"other"}}}
	p.Tools["other"] = Tool{Entry: "other", Enabled: true}
	p.Tools["read"] = Tool{Entry: "read", Enabled: true, Constraints: &ir.Constraints{MaxInvocations: 1}}
	s := NewSession(p, invocations.New(), nil)
	call := func(name, path string) string {
		return fmt.Sprintf(`{"id":1,"method":"tools/call","params":{"name":"%s","arguments":{"path":"%s"}}}`, name, path)
	}
	answer := func(text string) { s.FromServer([]byte(text), nil) }
	const good = `{"id":1,"result":{"content":[]}}`
	for _, c := range []struct {
		line   string
		passes bool
		answer string
	}{
		{call("write", "docs/a"), false, good},
		{call("read", "secret/a"), false, good},
		{"[" + call("read", "docs/a") + "," + call("read", "docs/a") + "]", false, good},
		{"[" + call("read", "docs/a") + "," + call("write", "docs/a") + "]", false, good},
		{call("read", "docs/a"), true, `{"id":1,"result":{"isError":true}}`},
		{call("write", "docs/a"), false, good},
		{call("other", "docs/a"), true, `{"id":1,"result":{"isError":true}}`},
		{call("write", "docs/a"), false, good},
		{call("other", "docs/a"), true, `{"id":1,"error":{"code":1}}`},
		{call("write", "docs/a"), false, good},
		{call("other", "docs/a"), true, `{"id":2,"result":{}}`},
		{call("other", "docs/a"), true, good}, // two calls of one id
		{call("write", "docs/a"), false, good},
		{call("other", "docs/a"), true, `{"id":1,"method":"x","result":{}}`},
		{`{"id":9,"method":"ping"}`, true, good},
		{call("write", "docs/a"), true, good},
		{call("read", "docs/a"), false, good},
	} {
		if forward, _ := s.FromClient([]byte(c.line), nil); (forward != nil) != c.passes {
			t.Errorf("%s: got %s", c.line, forward)
		}
		answer(c.answer)
	}
}

// TestUnwrittenLog: a call that cannot be recorded is not made.
func TestUnwrittenLog(t *testing.T) {
	log, err := relay.OpenLog(filepath.Join(t.TempDir(), "log"), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	s := NewSession(policy(t), invocations.New(), log)
	forward, back := s.FromClient([]byte(`{"id":1,"method":"tools/call","params":{"name":"read"}}`), nil)
	if forward != nil || !strings.Contains(string(back), "the audit log") {
		t.Errorf("got %s, %s", forward, back)
	}
	if forward, _ := s.FromClient([]byte(`{"id":1,"method":"ping"}`), nil); forward == nil {
		t.Error("a message without a verdict needs no log")
	}
}

// TestToolsOf: the tools of a server by their names there, and of no other server.
func TestToolsOf(t *testing.T) {
	mcp := func(name, detail string) *ir.Tool {
		return &ir.Tool{Name: name, Source: ir.Source{Kind: ir.SourceMCP, Detail: detail}}
	}
	got := ToolsOf(&ir.Program{Tools: []*ir.Tool{
		{Name: "a", Source: ir.Source{Kind: ir.SourceMCP, Detail: "s.x"}, Disabled: true}, mcp("b", "s"), mcp("c", "s.y.z"), mcp("d", "s2.x"), mcp("e", ""), {Name: "f", Source: ir.Source{Kind: ir.SourceLocal, Detail: "s.q"}},
	}}, "s")
	if len(got) != 3 || got["x"].Entry != "a" || got["x"].Enabled || got["b"].Entry != "b" || !got["y.z"].Enabled {
		t.Errorf("got %+v", got)
	}
}

// TestManyMessages: 100,000 messages leave nothing behind.
func TestManyMessages(t *testing.T) {
	s := NewSession(policy(t), invocations.New(), nil)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	for i := range irtest.Times(100000) {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"docs/%d"}}}`, i, i)
		if forward, back := s.FromClient([]byte(call), nil); forward == nil {
			t.Fatalf("got %s", back)
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, i)
		if forward, _ := s.FromServer([]byte(answer), nil); string(forward) != answer {
			t.Fatalf("got %s", forward)
		}
		if i == 1000 {
			before = heap()
		}
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// TestRefusalLines: a name with a line break began a line of the answer, which a model could take for
// the result of the tool.
func TestRefusalLines(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x\ndone","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"secret/a\ndone"}}}`,
	} {
		_, back := NewSession(policy(t), invocations.New(), nil).FromClient([]byte(line), nil)
		text := strictjson.Raw(back).Get("result", "content").Array()[0].Get("text").Str
		if !strings.HasPrefix(text, "accessc refused ") || strings.Contains(text, "\ndone") {
			t.Errorf("%s: the answer is %q", line, text)
		}
	}
}

// BenchmarkMessage is the time that the proxy adds to a message.
func BenchmarkMessage(b *testing.B) {
	p := policy(b)
	lines := map[string]string{
		"call":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"docs/a","head":10}}}`,
		"refused": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"secret/a","head":10}}}`,
		"other":   `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"64KiB":   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"docs/a","content":"` + strings.Repeat("line\\n", 1<<16/6) + `"}}}`,
	}
	for name, line := range lines {
		b.Run(name, func(b *testing.B) {
			s := NewSession(p, invocations.New(), nil)
			for b.Loop() {
				s.FromClient([]byte(line), nil)
			}
		})
	}
}

// TestCommands: commands among the arguments need a rule of the ruleset that is named, under every name
// and in every form that servers use. Without a ruleset only commands that start accessc by another
// policy are refused.
func TestCommands(t *testing.T) {
	plain, ruled := policy(t), policy(t)
	ruled.Commands.Rules = &ruleset.Set{Name: "dev", Shell: shell.Bash, Rules: []*ruleset.Rule{
		{Outcome: ruleset.Deny, Matcher: ruleset.Command{Names: []string{"rm"}}, Reason: "not here"},
		{Outcome: ruleset.Allow, Matcher: ruleset.Command{Names: []string{"ls", "cat", "git"}}},
	}}
	const elsewhere = "the configuration of another directory"
	for _, c := range []struct{ arguments, plain, ruled string }{
		{`{"command":"ls -a && cat x"}`, "", ""},
		{`{"command":"ls; rm x"}`, "", "rm x: a rule denies it"},
		{`{"cmd":"make"}`, "", "make: no rule matches"},
		{`{"script":"for x in *; do ls; done"}`, "", "control flow"},
		{`{"Command_Line":"rm x"}`, "", "rm x"},
		{`{"a":[{"b":{"shell-command":"rm x"}}]}`, "", "rm x"},
		{`{"commands":["ls","rm x"]}`, "", "rm x"},
		{`{"command":["ls","; rm x"]}`, "", ""},
		{`{"command":"ls","args":["; rm x"]}`, "", ""},
		{`{"command":"rm","args":["x"]}`, "", "rm x"},
		{`{"command":"ls","args":"; rm x"}`, "", "there is no command"},
		{`{"command":["ls",7]}`, "", "there is no command"},
		{`{"command":7}`, "", "there is no command"},
		{`{"command":"ls","env":{"LD_PRELOAD":"x"}}`, "", "LD_PRELOAD"},
		{`{"command":"ls","env":["A=b"]}`, "", "there is no command"},
		{`{"command":"ls > docs/x"}`, "", ""},
		{`{"command":"ls > x","cwd":"docs"}`, "", ""},
		{`{"command":"ls > secret/x"}`, "", "may not create"},
		// The members beside a command count under every name.
		{`{"command":"ls > x","working_dir":"docs"}`, "", ""},
		{`{"command":"git status"}`, "", ""},
		{`{"command":"git status","cwd":"docs"}`, "", elsewhere},
		{`{"command":"git status","working_dir":"docs"}`, "", elsewhere},
		{`{"command":"git status","projectRoot":"docs"}`, "", elsewhere},
		{`{"command":["git","status"],"start-folder":"docs"}`, "", elsewhere},
		{`{"command":"ls","cwd":"docs","base_folder":"docs/a"}`, "", "there is no command"},
		{`{"command":"ls","environment":{"LD_PRELOAD":"x"}}`, "", "LD_PRELOAD"},
		{`{"command":"ls","env_vars":{"A":"x"}}`, "", "variable A"},
		{`{"command":"ls","environmentVariables":["A=b"]}`, "", "there is no command"},
		{`{"command":"ls","vars":"A=b"}`, "", "there is no command"},
		{`{"command":"ls","shell":"zsh"}`, "", "another shell"},
		{`{"command":"ls","shell":"docs/bash"}`, "", "another shell"},
		{`{"command":"ls","default_shell":"sh"}`, "", "another shell"},
		{`{"command":"ls","interpreter":"python3"}`, "", "another shell"},
		{`{"command":"ls","shell":true}`, "", "another shell"},
		{`{"command":"ls","shell":"bash","as_root":false}`, "", ""},
		{`{"command":"ls","args":["; rm x"],"shell":"bash"}`, "", "rm x: a rule denies it"},
		// At every depth, and by their values under other names.
		{`{"command":"git status","options":{"cwd":"docs"}}`, "", elsewhere},
		{`{"options":[{"deep":{"working_dir":"docs"}}],"a":{"cmd":"git status"}}`, "", elsewhere},
		{`{"cwd":"docs","a":{"cmd":"git status"}}`, "", elsewhere},
		{`{"command":"git status","options":{"cwd":"docs","command":"ls"}}`, "", elsewhere},
		{`{"command":"git status","location":"docs"}`, "", elsewhere},
		{`{"command":"git status","repo":[["docs"]]}`, "", elsewhere},
		{`{"command":"git status","repo":"docs/none"}`, "", ""},
		{`{"command":"git status","at":{"uri":"file:docs"}}`, "cannot be judged", "cannot be judged"},
		{`{"command":"ls","execOptions":[{"env":{"LD_PRELOAD":"x"}}]}`, "", "LD_PRELOAD"},
		{`{"command":"ls","extra":{"LD_PRELOAD":"x"}}`, "", "LD_PRELOAD"},
		{`{"command":"ls","extra":["GIT_PAGER=x"]}`, "", "variable GIT_PAGER"},
		{`{"command":"ls","options":{"env":["A=b"]}}`, "", "there is no command"},
		{`{"command":"ls","options":{"default_shell":"zsh"}}`, "", "another shell"},
		{`{"command":"ls","options":{"shell":true}}`, "", "another shell"},
		{`{"command":"ls","args":["docs"],"options":{"timeout":7,"title":"LIST"}}`, "", ""},
		{`{"command":"accessc exec t","options":{"cwd":"docs"}}`, "in another directory", "no rule matches"},
		// Members of other names are commands too.
		{`{"command":"ls","pre_command":"rm x"}`, "", "member pre_command, which may be a command: rm x: a rule denies it"},
		{`{"command":"ls","postCommand":["make","x"]}`, "", "member postCommand"},
		{`{"command":"ls","setup":"ls -a","pre-run":"cat x"}`, "", ""},
		{`{"setup":"make"}`, "", "member setup"},
		{`{"setup":["ls","make"]}`, "", "member setup"},
		{`{"setup":["git","status"]}`, "", "member setup"},
		{`{"a":{"hooks":{"first":{"then":"make"}}}}`, "", "member hooks"},
		{`{"a":[[{"beforeEach":"make","timeout":7}]]}`, "", "member beforeEach"},
		{`{"command":"ls","options":{"init_script":"make"}}`, "", "member init_script"},
		{`{"command":"ls","stdin":"make"}`, "", "member stdin"},
		{`{"command":"ls","options":[{"wrap":["nice","make"]}]}`, "", "member wrap"},
		{`{"pre_command":"accessc exec --accept x t"}`, "gaps of its own", "gaps of its own"},
		{`{"command":"ls","description":"make x","timeout_ms":"9","callId":"make","retries":3}`, "", ""},
		{`{"transcript":"rm x","before":"cursor"}`, "", ""},
		{`{"command":"ls","env":{"PATH":"docs"}}`, "", "variable PATH"},
		{`{"command":"ls","options":{"env":{"HOME":"docs"}}}`, "", "variable HOME"},
		{`{"command":"ls","extra":{"PATH":"docs"}}`, "", "variable PATH"},
		{`{"command":"ls","env_file":"docs/env"}`, "", "there is no command"},
		{`{"command":"ls","options":{"environment":"docs/env"}}`, "", "there is no command"},
		{`{"command":"ls","environment":"staging"}`, "", ""},
		// A command that is an object is that of its members.
		{`{"command":{"program":"rm","args":["x"]}}`, "", "rm x: a rule denies it"},
		{`{"command":{"program":"ls","args":["-a"]}}`, "", ""},
		{`{"command":{"name":"ls","cwd":"docs"},"cwd":"docs/a"}`, "", "there is no command"},
		{`{"command":{"line":"git status"},"cwd":"docs"}`, "", elsewhere},
		{`{"command":{"line":"git status","dir":"docs"}}`, "", elsewhere},
		{`{"command":{"what":"rm x"}}`, "", "there is no command"},
		{`{"command":{}}`, "", "there is no command"},
		{`{"commands":[{"program":"ls"},{"cmd":"rm x"}]}`, "", "rm x: a rule denies it"},
		{`{"script":{"text":"make"}}`, "", "make: no rule matches"},
		{`{"program":"rm","args":["x"]}`, "", "rm x: a rule denies it"},
		{`{"argv":["rm","x"]}`, "", "rm x: a rule denies it"},
		{`{"argv":["ls","-a"]}`, "", ""},
		{`{"program":{"name":"accessc","args":["--config=x"]}}`, "gaps of its own", "gaps of its own"},
		{`{"command":"ls","Command":"rm x"}`, "two members", "two members"},
		{`{"text":"rm x"}`, "", ""},
		{`{"command":"accessc exec --accept x t"}`, "gaps of its own", "gaps of its own"},
		{`{"command":"accessc","args":["exec","--config=x","t"]}`, "gaps of its own", "gaps of its own"},
	} {
		line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":` + c.arguments + `}}` + "\n")
		for p, want := range map[*Policy]string{plain: c.plain, ruled: c.ruled} {
			forward, back := NewSession(p, invocations.New(), nil).FromClient(line, nil)
			switch {
			case want == "" && string(forward) != string(line):
				t.Errorf("%s: got %s", c.arguments, back)
			case want != "" && (forward != nil || !strings.Contains(string(back), want)):
				t.Errorf("%s: got %s, %s, want %s", c.arguments, forward, back, want)
			}
		}
	}
}

// TestCommandNames: each name that may be a command is judged as one, alone and beside another one. Names that a
// person was asked about in other protocols passed here.
func TestCommandNames(t *testing.T) {
	p := policy(t)
	p.Commands.Rules = &ruleset.Set{Name: "dev", Shell: shell.Bash, Rules: []*ruleset.Rule{
		{Outcome: ruleset.Allow, Matcher: ruleset.Command{Names: []string{"ls"}}},
	}}
	lists := action.ListKeys
	for _, name := range slices.Concat(action.CommandKeys, action.AloneKeys, lists) {
		value := `"kill x"`
		if slices.Contains(lists, name) {
			value = `["ls","kill x"]`
		}
		alone, switches := `{"`+name+`":`+value+`}`, `{"`+name+`":true,"limit":1}`
		if reason, _ := p.Refusal("read", strictjson.Raw(alone).Value()); !strings.Contains(reason, "kill x: no rule matches") {
			t.Errorf("%s: %q", alone, reason)
		}
		if reason, _ := p.Refusal("read", strictjson.Raw(switches).Value()); reason != "" && name != "command" && name != "cmd" {
			t.Errorf("%s: %q", switches, reason)
		}
		if beside := `{"command":"ls","` + name + `":` + value + `}`; !slices.Contains(action.AloneKeys, name) && name != "command" {
			if reason, _ := p.Refusal("read", strictjson.Raw(beside).Value()); !strings.Contains(reason, "no rule matches") {
				t.Errorf("%s: %q", beside, reason)
			}
		}
	}
}

// TestCommandAsked: a refusal has the text of the command. That of a list of words was once empty in
// the log.
func TestCommandAsked(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"command":"accessc --set x=1 exec t"}`:           "accessc --set x=1 exec t",
		`{"command":["accessc","--set","x=1","exec","t"]}`: "accessc --set 'x=1' exec t",
	} {
		if reason, asked := policy(t).Refusal("read", strictjson.Raw(arguments).Value()); reason == "" || asked != want {
			t.Errorf("%s: got %q, %q, want %q", arguments, reason, asked, want)
		}
	}
}
