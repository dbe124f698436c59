package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// one has one policy for every directory but those that begin with "/none".
type one struct{ *Policy }

// For implements Policies.
func (o one) For(dir string) (*Policy, error) {
	if strings.HasPrefix(dir, "/none") {
		return nil, errors.New("there is no policy of " + dir)
	}
	return o.Policy, nil
}

// policy reads docs, changes out, reaches example.com and runs git status.
func policy(t testing.TB) *Policy {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"docs", "out", "secret", "bin"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"docs/a", "out/a", "secret/a", "bin/git", "bin/rm"} {
		if err := testbuild.WriteFile(filepath.Join(root, file), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git := ir.In("bin/git")
	tool := &ir.Tool{
		Name: "coder", Declared: ir.Declared{FS: true, Net: true},
		FS: []ir.FSRule{
			{Written: "docs", At: ir.In("docs"), Caps: ir.Caps(ir.Read)}, {Written: "out", At: ir.In("out"), Caps: ir.All},
			{Written: "bin", At: ir.In("bin"), Caps: ir.Caps(ir.Read, ir.Execute)},
		},
		Net:      []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "example.com"}, Allow: true}},
		Commands: &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git", File: &git, Args: []ir.ArgPattern{{Words: []string{"status"}, Rest: true}}, AllEnvs: true}}},
	}
	roots := &ir.Bindings{Workspace: filepath.ToSlash(root)}
	j := &judge.Judge{View: ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}, Located: true}), Roots: roots, Dir: roots.Workspace}
	lookup := func(name string) (string, bool) {
		abs := roots.Workspace + "/bin/" + name
		_, err := os.Stat(abs)
		return abs, err == nil
	}
	return &Policy{Judge: &action.Judge{Files: j, Asker: resolve.Asker{Bindings: roots, Lookup: lookup}}}
}

// session is a proxy with the session "s", and one without a policy, "n".
func opened(t testing.TB, p *Policy) *Proxy {
	t.Helper()
	proxy := NewProxy(one{p}, nil)
	for id, dir := range map[string]string{"s": p.Files.Dir, "n": "/none"} {
		client(t, proxy, fmt.Sprintf(`{"id":%q,"method":"session/new","params":{"cwd":%q}}`, id, dir))
		agent(t, proxy, fmt.Sprintf(`{"id":%q,"result":{"sessionId":%q}}`, id, id))
	}
	return proxy
}

// client and agent send a message that passes.
func client(t testing.TB, p *Proxy, line string) {
	t.Helper()
	if forward, back := p.FromClient([]byte(line), nil); string(forward) != line {
		t.Fatalf("%s: got %s, %s", line, forward, back)
	}
}

func agent(t testing.TB, p *Proxy, line string) {
	t.Helper()
	if forward, back := p.FromAgent([]byte(line), nil); string(forward) != line {
		t.Fatalf("%s: got %s, %s", line, forward, back)
	}
}

// answered says what became of a line of the agent: "passes", the chosen option, "cancelled", or
// the error.
func answered(t interface{ Fatalf(string, ...any) }, p *Proxy, line string) string {
	forward, back := p.FromAgent([]byte(line), nil)
	if forward != nil {
		if string(forward) != line || back != nil {
			t.Fatalf("%s passed as %s, with %s", line, forward, back)
		}
		return "passes"
	}
	var answer struct {
		Result struct {
			Outcome struct{ Outcome, OptionID string }
		}
		Error struct{ Message string }
	}
	if back == nil {
		return "nothing"
	}
	if err := json.Unmarshal(back, &answer); err != nil {
		t.Fatalf("%s: got %s: %v", line, back, err)
	}
	if o := answer.Result.Outcome; o.Outcome == "selected" {
		return o.OptionID
	} else if o.Outcome != "" {
		return o.Outcome
	}
	return answer.Error.Message
}

const options = `[{"optionId":"always","kind":"allow_always"},{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]`

// request is a request for permission.
func request(session, call, options string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":%s,"options":%s}}`, session, call, options)
}

// TestPermission: requests in the forms of several agents, and their answers.
func TestPermission(t *testing.T) {
	p := policy(t)
	for call, want := range map[string]string{
		// A raw input, as Claude's adapter sends it, with or without a kind.
		`{"toolCallId":"1","rawInput":{"command":"git status -s"}}`:                                  "yes",
		`{"toolCallId":"1","rawInput":{"command":"git push"}}`:                                       "no",
		`{"toolCallId":"1","rawInput":{"command":"git status","env":{"LD_PRELOAD":"./x.so"}}}`:       "passes",
		`{"toolCallId":"1","rawInput":{"command":"git status","commands":["git status"]}}`:           "passes",
		`{"toolCallId":"1","rawInput":{"command":["git","status"],"cwd":"","call_id":"a"}}`:          "yes",
		`{"toolCallId":"1","rawInput":{"command":"git status; rm -rf /"}}`:                           "no",
		`{"toolCallId":"1","rawInput":{"command":"git status \u0026\u0026 x"}}`:                      "no",
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"out/a"},"title":"Edit"}`:           "yes",
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"docs/a"}}`:                         "no",
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"out/a","backup_file":"secret/a"}}`: "no",
		// A member that may be a command: a tool of any kind may run it, and the request was permitted.
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"out/a","script":"id"}}`:                  "passes",
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"out/a","after":{"shell_command":"id"}}}`: "passes",
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"out/a","Args":["id"]}}`:                  "passes",
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"docs/a","script":"id"}}`:                 "no",
		`{"toolCallId":"1","kind":"fetch","rawInput":{"url":"https://example.com/x","script":"id"}}`:       "passes",
		`{"toolCallId":"1","kind":"edit","rawInput":{"file_path":"out/a","new_string":"script"}}`:          "yes",
		// A list of words, as Codex sends it, whatever kind it guesses.
		`{"toolCallId":"1","kind":"read","rawInput":{"command":["git","status"],"cwd":"docs"}}`:   "yes",
		`{"toolCallId":"1","kind":"read","rawInput":{"command":["git","status"],"cwd":"secret"}}`: "no",
		`{"toolCallId":"1","kind":"read","rawInput":{"command":["rm","docs/a"]}}`:                 "no",
		`{"toolCallId":"1","kind":"read","rawInput":{"command":["bash","-lc","git status"]}}`:     "passes",
		`{"toolCallId":"1","kind":"read","rawInput":{"command":["git",7]}}`:                       "passes",
		`{"toolCallId":"1","rawInput":{"command":["git","status"],"command":["rm"]}}`:             "passes",
		// Titles, differences and locations, as Gemini sends them.
		`{"toolCallId":"1","kind":"execute","title":"git status"}`:                                      "passes",
		`{"toolCallId":"1","kind":"execute","title":"git push"}`:                                        "no",
		`{"toolCallId":"1","kind":"edit","content":[{"type":"diff","path":"out/new"}],"locations":[]}`:  "yes",
		`{"toolCallId":"1","kind":"edit","content":[{"type":"diff","path":"/etc/x"}]}`:                  "no",
		`{"toolCallId":"1","kind":"read","locations":[{"path":"docs/a"},{"path":"secret/a"}]}`:          "no",
		`{"toolCallId":"1","kind":"read","locations":[{"path":"docs/a"}]}`:                              "yes",
		`{"toolCallId":"1","kind":"read"}`:                                                              "passes",
		`{"toolCallId":"1","kind":"delete","locations":[{"path":"docs/a"}]}`:                            "no",
		`{"toolCallId":"1","kind":"fetch","rawInput":{"url":"https://example.com/x"}}`:                  "yes",
		`{"toolCallId":"1","kind":"fetch","rawInput":{"url":"https://example.org/x"}}`:                  "no",
		`{"toolCallId":"1","kind":"fetch","rawInput":{"prompt":"https://example.com/x"}}`:               "passes",
		`{"toolCallId":"1","kind":"think"}`:                                                             "passes",
		`{"toolCallId":"1","kind":"of another day"}`:                                                    "passes",
		`{"toolCallId":"1","kind":"read","Kind":"edit","locations":[{"path":"docs/a"}]}`:                "no",
		`{"toolCallId":"1","kind":"execute","rawInput":{"command":"accessc exec --accept net.host x"}}`: "no",
		`{"toolCallId":"1","kind":"execute","rawInput":{"command":"cd x; /opt/accessc -Cx exec t"}}`:    "no",
		`7`: "no",
	} {
		if got := answered(t, opened(t, p), request("s", call, options)); got != want {
			t.Errorf("%s: got %s, want %s", call, got, want)
		}
	}
}

// TestOptions: the answer is for once, by the kind of an option, and none where there is none.
func TestOptions(t *testing.T) {
	p := policy(t)
	const allowed, refused = `{"toolCallId":"1","rawInput":{"command":"git status"}}`, `{"toolCallId":"1","rawInput":{"command":"rm"}}`
	for _, c := range []struct{ call, options, want string }{
		{allowed, `[{"optionId":"a","kind":"allow_always"},{"optionId":"b","kind":"reject_once"}]`, "cancelled"},
		{refused, `[{"optionId":"a","kind":"allow_once"},{"optionId":"b","kind":"reject_always"}]`, "cancelled"},
		{refused, `[{"optionId":"a","kind":"allow_once"},{"optionId":"a","kind":"reject_once"}]`, "cancelled"},
		{refused, `[]`, "cancelled"},
		{refused, `7`, "cancelled"},
		{allowed, `[{"optionId":"a","kind":"allow_once"},{"optionId":"b","kind":"allow_once"}]`, "a"},
	} {
		if got := answered(t, opened(t, p), request("s", c.call, c.options)); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.call, c.options, got, c.want)
		}
	}
}

// TestSessions: a message of no session of the client's, or of one without a policy, is refused;
// so is everything between the cancelling of a prompt and the next one.
func TestSessions(t *testing.T) {
	p := policy(t)
	const call = `{"toolCallId":"1","rawInput":{"command":"git status"}}`
	proxy := opened(t, p)
	for session, want := range map[string]string{"s": "yes", "n": "no", "x": "no"} {
		if got := answered(t, proxy, request(session, call, options)); got != want {
			t.Errorf("%s: got %s, want %s", session, got, want)
		}
	}
	client(t, proxy, `{"method":"session/cancel","params":{"sessionId":"s"}}`)
	if got := answered(t, proxy, request("s", call, options)); got != "cancelled" {
		t.Errorf("after a cancel: got %s", got)
	}
	client(t, proxy, `{"id":9,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
	if got := answered(t, proxy, request("s", call, options)); got != "yes" {
		t.Errorf("after a prompt: got %s", got)
	}
	agent(t, proxy, `{"id":10,"result":{"sessionId":"made up"}}`)
	if got := answered(t, proxy, request("made up", call, options)); got != "no" {
		t.Errorf("a session that nobody asked for: got %s", got)
	}
	client(t, proxy, `{"id":11,"method":"session/new","params":{"cwd":"/elsewhere"}}`)
	agent(t, proxy, `{"id":11,"result":{"sessionId":"s"}}`)
	if got := answered(t, proxy, request("s", call, options)); got != "no" {
		t.Errorf("a second session of one id: got %s", got)
	}
	client(t, proxy, `{"id":12,"method":"session/load","params":{"sessionId":"l","cwd":"/elsewhere"}}`)
	if got := answered(t, proxy, request("l", call, options)); got != "yes" {
		t.Errorf("a loaded session: got %s", got)
	}
	client(t, proxy, `{"id":13,"method":"session/close","params":{"sessionId":"l"}}`)
	if got := answered(t, proxy, request("l", call, options)); got != "no" {
		t.Errorf("a closed session: got %s", got)
	}
}

// TestUpdates: earlier words about a call count where the request says nothing.
func TestUpdates(t *testing.T) {
	proxy := opened(t, policy(t))
	update := func(text string) {
		agent(t, proxy, `{"method":"session/update","params":{"sessionId":"s","update":`+text+`}}`)
	}
	update(`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","locations":[{"path":"out/a"}]}`)
	if got := answered(t, proxy, request("s", `{"toolCallId":"1"}`, options)); got != "yes" {
		t.Errorf("got %s", got)
	}
	update(`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"path":"secret/a"}}`)
	if got := answered(t, proxy, request("s", `{"toolCallId":"1"}`, options)); got != "no" {
		t.Errorf("got %s", got)
	}
	update(`{"sessionUpdate":"tool_call","toolCallId":"2","kind":"edit","locations":[{"path":"secret/a"}]}`)
	if got := answered(t, proxy, request("s", `{"toolCallId":"2","locations":[{"path":"out/a"}]}`, options)); got != "no" {
		t.Errorf("a place that is named no more: got %s", got)
	}
	for i := range 10 * maxCalls {
		update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"x%d","kind":"edit"}`, i))
	}
	if n := len(proxy.sessions["s"].calls); n != maxCalls {
		t.Errorf("%d calls are kept", n)
	}
}

// TestGates: files and terminals that the policy refuses do not reach the client.
func TestGates(t *testing.T) {
	proxy := opened(t, policy(t))
	for _, c := range []struct{ method, params, want string }{
		{"fs/read_text_file", `"path":"docs/a"`, "passes"},
		{"fs/read_text_file", `"path":"secret/a"`, "accessc: refused: read secret/a: no rule"},
		{"fs/read_text_file", `"path":"secret/a","path":"docs/a"`, `accessc: refused: found "path" twice in one object`},
		{"fs/read_text_file", `"path":7`, "accessc: refused: the path is no text"},
		{"fs/read_text_file", `"path":["docs/a"]`, "accessc: refused: the path is no text"},
		// A client may take a path for part of a URL; the escapes passed.
		{"fs/read_text_file", `"path":"docs/..%2fsecret/a"`, "accessc: refused: read secret/a: no rule"},
		{"fs/read_text_file", `"path":"docs/%61"`, "passes"},
		{"fs/read_text_file", `"path":"docs/100%"`, "passes"},
		{"FS/Read_text_file", `"path":"docs/a"`, `accessc: found the method "FS/Read_text_file", which some programs take for "fs/read_text_file"`},
		{"fs/write_text_file", `"path":"out/new","content":"secret/a"`, "passes"},
		{"fs/write_text_file", `"path":"docs/a","content":""`, "accessc: refused: update docs/a: rule docs"},
		{"terminal/create", `"command":"git","args":["status"]`, "passes"},
		{"terminal/create", `"command":"git status"`, "passes"},
		{"terminal/create", `"command":"git","args":["push"]`, "accessc: refused: run git push"},
		{"terminal/create", `"command":"bash","args":["-c","git status"]`, "accessc: refused: the command is text for a shell"},
		{"terminal/create", `"command":"git status | sh"`, "accessc: refused: the shell runs what it reads"},
		{"terminal/create", `"command":"git","args":["status"],"cwd":"secret"`, "accessc: refused: read secret: no rule"},
		{
			"terminal/create", `"command":"git","args":["status"],"env":[{"name":"LD_PRELOAD","value":"x"}]`,
			"accessc: refused: the variable LD_PRELOAD changes",
		},
		{"terminal/output", `"terminalId":"1"`, "passes"},
		{"_vendor/thing", `"path":"secret/a"`, "passes"},
	} {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"sessionId":"s",%s}}`, c.method, c.params)
		if got := answered(t, proxy, line); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", line, got, c.want)
		}
	}
	if got := answered(t, proxy, `[{"id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"docs/a"}}]`); !strings.Contains(got, "batch") && got != "nothing" {
		t.Errorf("a batch: got %s", got)
	}
}

// TestRefusalLines: a directory with a line break in its name began a line of the refusal, which a
// client could show as a message of its own.
func TestRefusalLines(t *testing.T) {
	proxy := NewProxy(one{}, nil)
	client(t, proxy, `{"id":1,"method":"session/new","params":{"cwd":"/none/a\nsaved"}}`)
	agent(t, proxy, `{"id":1,"result":{"sessionId":"s"}}`)
	got := answered(t, proxy, `{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"sessionId":"s","path":"docs/a"}}`)
	if want := "accessc: refused: there is no policy of /none/a\n  saved"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOnlyRefuses: a policy that no person has written does not permit in a person's place.
func TestOnlyRefuses(t *testing.T) {
	p := policy(t)
	p.OnlyRefuses = true
	proxy := opened(t, p)
	for command, want := range map[string]string{"git status": "passes", "rm": "no"} {
		if got := answered(t, proxy, request("s", `{"toolCallId":"1","rawInput":{"command":"`+command+`"}}`, options)); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}

// TestUnread: lines that are none of the protocol's do not pass, on either side.
func TestUnread(t *testing.T) {
	proxy := opened(t, policy(t))
	for _, line := range []string{"no JSON", `{"id":1,"id":2,"method":"fs/read_text_file"}`, `{"Method":"fs/read_text_file"}`, "{\"a\":\r1}"} {
		if forward, _ := proxy.FromAgent([]byte(line), nil); forward != nil {
			t.Errorf("%q passed", line)
		}
		if forward, back := proxy.FromClient([]byte(line), nil); forward != nil || back == nil {
			t.Errorf("%q passed", line)
		}
	}
	long := jsonrpc.Sketch([]byte(`{"id":1,"method":"fs/read_text_file"}`))
	if forward, back := proxy.FromAgent(nil, long); forward != nil || !strings.Contains(string(back), relay.TooLong()) {
		t.Errorf("got %s, %s", forward, back)
	}
	if forward, back := proxy.FromClient(nil, long); forward != nil || !strings.Contains(string(back), relay.TooLong()) {
		t.Errorf("got %s, %s", forward, back)
	}
}

// TestLogged: every verdict and every change of the mode is written down, and nothing is permitted that is not.
func TestLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := relay.OpenLog(path, "agent")
	if err != nil {
		t.Fatal(err)
	}
	proxy := opened(t, policy(t))
	proxy.log = log
	const call = `{"toolCallId":"1","rawInput":{"command":"git status"}}`
	answered(t, proxy, request("s", call, options))
	client(t, proxy, `{"id":3,"method":"session/set_mode","params":{"sessionId":"s","modeId":"yolo"}}`)
	agent(t, proxy, `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"plan"}}}`)
	client(t, proxy, `{"id":"m","method":"session/new","params":{"cwd":"/x"}}`)
	agent(t, proxy, `{"id":"m","result":{"sessionId":"m","modes":{"currentModeId":"agent-full-access"}}}`)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if got := answered(t, proxy, request("s", call, options)); got != "no" {
		t.Errorf("without a log: got %s", got)
	}
	data, _ := os.ReadFile(path)
	for _, want := range []string{
		`"id":7,"method":"session/request_permission","session":"s","verdict":"allow"`, `"from":"client","session":"s","mode":"yolo"`, `"from":"server","session":"s","mode":"plan"`,
		`"from":"server","session":"m","mode":"agent-full-access"`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
}

// TestNothingRefusedIsPermitted: however a call on a refused path is described, the answer
// permits nothing.
func TestNothingRefusedIsPermitted(t *testing.T) {
	p := policy(t)
	irtest.Check(t, 10000, 1, func(t *rapid.T) {
		proxy := NewProxy(one{p}, nil)
		proxy.open("s", p.Files.Dir)
		path := rapid.SampledFrom([]string{"secret/a", "docs/../secret/a", p.Files.Dir + "/secret/a", "/etc/shadow", "~/x", ".."}).Draw(t, "path")
		other := rapid.SampledFrom([]string{`"x":1`, `"kind":"read"`, `"locations":[{"path":"docs/a"}]`, `"title":"git status"`}).Draw(t, "other")
		where := rapid.SampledFrom([]string{`"locations":[{"path":%q}]`, `"rawInput":{"path":%q}`, `"rawInput":{"files":[%q]}`, `"content":[{"path":%q}]`, `"rawInput":{"command":["git","status"],"cwd":%q}`}).Draw(t, "where")
		kind := rapid.SampledFrom([]string{"read", "edit", "delete", "move", "fetch", "execute", "other"}).Draw(t, "kind")
		call := fmt.Sprintf(`{"toolCallId":"1","kind":%q,`+where+`,%s}`, kind, path, other)
		if got := answered(t, proxy, request("s", call, options)); got == "yes" || got == "always" {
			t.Fatalf("%s: got %s", call, got)
		}
	})
}

// FuzzFromAgent: no bytes of an agent have the proxy fail or change a line.
func FuzzFromAgent(f *testing.F) {
	f.Add([]byte(request("s", `{"toolCallId":"1","rawInput":{"command":"git status"}}`, options)))
	f.Add([]byte(`{"id":1,"method":"terminal/create","params":{"sessionId":"s","command":"x","args":["y"],"env":[{"name":"z"}]}}`))
	f.Add([]byte(`{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","content":[{}]}}}`))
	p := policy(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		proxy := NewProxy(one{p}, nil)
		proxy.open("s", p.Files.Dir)
		forward, back := proxy.FromAgent(line, nil)
		if forward != nil && string(forward) != string(line) || len(back) > 0 && !json.Valid(back) {
			t.Fatalf("%q: got %q, %q", line, forward, back)
		}
	})
}

// BenchmarkPermission is the time that an answer takes.
func BenchmarkPermission(b *testing.B) {
	proxy := opened(b, policy(b))
	for name, call := range map[string]string{
		"command": `{"toolCallId":"1","rawInput":{"command":"git status"}}`, "edit": `{"toolCallId":"1","kind":"edit","locations":[{"path":"out/a"}]}`,
	} {
		line := []byte(request("s", call, options))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				proxy.FromAgent(line, nil)
			}
		})
	}
}
