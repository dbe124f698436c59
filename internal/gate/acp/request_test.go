package acp

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/test/irtest"
)

// TestConstraints: a command that is permitted is an invocation of the tool, together with the terminal that it is
// for. One that a person has to decide about counts when its terminal is created.
func TestConstraints(t *testing.T) {
	p := policy(t)
	p.Made = invocations.New()
	p.Files.View.Tool.Constraints = &ir.Constraints{MaxInvocations: 2}
	proxy := opened(t, p)
	const ask, open = `{"toolCallId":"1","rawInput":{"command":"git status"}}`, `{"id":1,"method":"terminal/create","params":{"sessionId":"s","command":"git","args":["status"]}}`
	const unknown = `{"toolCallId":"1","rawInput":{"command":"git status | git status"}}`
	for i, step := range []struct{ line, want string }{
		{request("s", ask, options), "yes"}, {open, "passes"},
		{request("s", unknown, options), "passes"}, {request("s", unknown, options), "passes"},
		{open, "passes"},
		{request("s", ask, options), "no"}, {request("s", unknown, options), "no"},
		{open, "accessc: refused: the tool coder was invoked 2 times in this session"},
		{request("s", `{"toolCallId":"1","kind":"read","locations":[{"path":"docs/a"}]}`, options), "yes"},
	} {
		if got := answered(t, proxy, step.line); !strings.HasPrefix(got, step.want) {
			t.Errorf("step %d: got %s, want %s", i, got, step.want)
		}
	}
}

// TestSubjects: version 2 of the protocol asks with a subject, which is judged as a tool call is.
func TestSubjects(t *testing.T) {
	proxy := opened(t, policy(t))
	agent(t, proxy, `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"9","kind":"edit","rawInput":{"path":"secret/a"}}}}`)
	for subject, want := range map[string]string{
		`,"subject":{"type":"command","command":"git status","cwd":"` + proxy.sessions["s"].policy.Files.Dir + `"}`:                                                 "yes",
		`,"subject":{"type":"command","command":"git status","cwd":"secret"}`:                                                                                       "no",
		`,"subject":{"type":"command","command":"git status && rm x"}`:                                                                                              "no",
		`,"subject":{"type":"command","command":"git status","toolCallId":"9"}`:                                                                                     "no",
		`,"subject":{"type":"command","command":"git status","toolCallId":null,"terminalId":null}`:                                                                  "yes",
		`,"subject":{"type":"command","command":"git status","command":"rm"}`:                                                                                       "no",
		`,"subject":{"type":"command"}`:                                                                                                                             "passes",
		`,"subject":{"type":"_of another day","command":"rm"}`:                                                                                                      "passes",
		`,"subject":{"type":"tool_call","toolCall":{"toolCallId":"1","kind":"edit","locations":[{"path":"out/a"}]}}`:                                                "yes",
		`,"subject":{"type":"tool_call","toolCall":{"toolCallId":"1","kind":"edit","content":[{"type":"diff","changes":[{"operation":"add","path":"out/new"}]}]}}`:  "yes",
		`,"subject":{"type":"tool_call","toolCall":{"toolCallId":"1","kind":"edit","content":[{"type":"diff","changes":[{"path":"out/a","oldPath":"secret/a"}]}]}}`: "no",
		`,"subject":{"type":"tool_call","toolCall":{"toolCallId":"1"}}`:                                                                                             "passes",
		`,"subject":{"type":"tool_call"}`:                                                                                                                           "no",
		`,"subject":null`:                                                                                                                                           "passes",
		``:                                                                                                                                                          "passes",
		`,"toolCall":{"toolCallId":"1","rawInput":{"command":"git status"}},"subject":{"type":"command","command":"rm"}`:                                            "no",
		`,"toolCall":{"toolCallId":"1","rawInput":{"command":"rm"}},"subject":{"type":"command","command":"git status"}`:                                            "no",
		`,"toolCall":{"toolCallId":"1","rawInput":{"command":"git status"}},"subject":{"type":"of another day"}`:                                                    "passes",
	} {
		line := `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","title":"Run?","description":"git status"` + subject + `,"options":` + options + `}}`
		if got := answered(t, proxy, line); got != want {
			t.Errorf("%s: got %s, want %s", subject, got, want)
		}
	}
}

// TestCommandNames: an input with a member that may be a command, under any name of the table, is left to a person.
func TestCommandNames(t *testing.T) {
	proxy := opened(t, policy(t))
	names := slices.Concat(action.CommandKeys, action.AloneKeys, action.ListKeys, action.WordKeys, []string{"env", "environment", "vars", "interpreter"})
	for _, name := range append(names, "other") {
		want := "passes"
		if name == "other" {
			want = "yes"
		} else if name == "command" {
			want = "no"
		}
		call := `{"toolCallId":"1","kind":"read","locations":[{"path":"docs/a"}],"rawInput":{"` + name + `":"rm x"}}`
		if got := answered(t, proxy, request("s", call, options)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestShapes: a request whose members have other types than the protocol's is not permitted: a client reads them in a way
// of its own. An argument that was no text stood for its JSON, and an input that was a text for none.
func TestShapes(t *testing.T) {
	p := policy(t)
	irtest.Check(t, 2000, 1, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{`7`, `true`, `{}`, `{"0":"status"}`, `[["status"]]`, `[{"a":"status"}]`, `[7]`,
			`[null]`, `"{\"path\":\"secret/a\"}"`, `"status"`, `["status"]`, `[{"path":"secret/a"}]`, `null`}).Draw(t, "value")
		member := rapid.SampledFrom([]string{"command", "args", "cwd", "env"}).Draw(t, "member")
		members := map[string]string{"command": `"git"`, "args": `["status"]`}
		members[member] = value
		line := `{"id":1,"method":"terminal/create","params":{"sessionId":"s"`
		for _, name := range slices.Sorted(maps.Keys(members)) {
			line += `,"` + name + `":` + members[name]
		}
		fits := value == "null" && member != "command" || value == `["status"]` && member == "args"
		proxy := NewProxy(one{p}, nil)
		proxy.open("s", p.Files.Dir)
		if got := answered(t, proxy, line+"}}"); got == "passes" && !fits {
			t.Fatalf("%s passed", line)
		}
		call := `{"toolCallId":"1","kind":"read","locations":[{"path":"docs/a"}],"rawInput":` + value + "}"
		if got := answered(t, proxy, request("s", call, options)); got == "yes" && value != "null" && value[0] != '{' {
			t.Fatalf("%s was permitted", call)
		}
	})
}

// TestSearches: a ruleset permits searches of places that the policy does not close.
func TestSearches(t *testing.T) {
	p := policy(t)
	p.Rules = &ruleset.Set{Rules: []*ruleset.Rule{{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Search}}}}
	tool := *p.Files.View.Tool
	tool.FS = append(tool.FS, ir.FSRule{Written: "docs/in", At: ir.In("docs/in")})
	p.Files.View = ir.NewView(&tool, ir.Linux, ir.Facts{Bindings: p.Files.Roots, Base: []ir.FSRule{}, Located: true})
	for call, want := range map[string]string{
		`{"toolCallId":"1","kind":"search","locations":[{"path":"out"}]}`:                      "yes",
		`{"toolCallId":"1","kind":"search","locations":[{"path":"docs"}]}`:                     "passes",
		`{"toolCallId":"1","kind":"search","locations":[{"path":"out"},{"path":"docs"}]}`:      "passes",
		`{"toolCallId":"1","kind":"search"}`:                                                   "passes",
		`{"toolCallId":"1","kind":"search","locations":[{"path":"secret"}]}`:                   "no",
		`{"toolCallId":"1","kind":"search","rawInput":{"path":"out","pattern":"../secret/a"}}`: "no",
	} {
		if got := answered(t, opened(t, p), request("s", call, options)); got != want {
			t.Errorf("%s: got %s, want %s", call, got, want)
		}
	}
}

// TestFetches: a request of the network is permitted by all of its members: one of them named another host or a file,
// while the address of the policy's host was permitted.
func TestFetches(t *testing.T) {
	p := policy(t)
	for members, want := range map[string]string{
		`"url":"https://example.com/x"`: "yes",
		`"url":"https://example.com/x","prompt":"What does the page say about 1, 2 and 3?"`:           "yes",
		`"url":"https://example.com/x","timeout":30,"raw":true,"format":"markdown","method":null`:     "yes",
		`"url":"https://example.com/x","prompt":"Compare it with https://example.com/y."`:             "passes",
		`"url":"https://example.com/x","prompt":"Compare it with (https://example.org/y)."`:           "no",
		`"url":"https://example.com/x","prompt":"read example.org instead"`:                           "passes",
		`"url":"https://example.com/x","prompt":"@secret/a"`:                                          "passes",
		`"url":"https://example.com/x","timeout":"30"`:                                                "passes",
		`"url":"https://example.com/x","port":22`:                                                     "passes",
		`"url":"https://example.com/x","URL":"https://example.org/x"`:                                 "no",
		`"url":"https://example.com/x","url":"https://example.org/x"`:                                 "passes",
		`"url":"https://example.com/x","urls":["https://example.com/y"]`:                              "passes",
		`"url":"https://example.com/x","urls":["https://example.com/y","https://example.org/"]`:       "no",
		`"url":"https://example.com/x","req":{"url":"https://example.org/x"}`:                         "no",
		`"url":"https://example.com/x","uri":"example.org"`:                                           "passes",
		`"url":"https://example.com/x","endpoint":"https://example.org"`:                              "no",
		`"url":"https://example.com/x","proxy":"socks5://example.org:1080"`:                           "no",
		`"url":"https://example.com/x","of another day":"http:/example.org"`:                          "passes",
		`"url":"https://example.com/x","output":"out/a"`:                                              "passes",
		`"url":"https://example.com/x","output":"/etc/x"`:                                             "no",
		`"url":"https://example.com/x","headers":{"Host":"example"}`:                                  "passes",
		`"url":["https://example.com/x"]`:                                                             "passes",
		`"url":"https://example.com/x"},"locations":[{"path":"out/a"}],"_":{"x":1`:                    "passes",
		`"url":"https://example.com/x"},"locations":[{"path":"secret/a"}],"_":{"x":1`:                 "no",
		`"url":"https://example.com/x"},"title":"Fetch https://example.com/x","_":{"x":1`:             "yes",
		`"url":"https://example.com/x"},"title":"Fetch https://example.com.example.org/x","_":{"x":1`: "no",
		`"url":"https://example.com/x"},"title":"Fetch \"HTTPS://example.org\", once","_":{"x":1`:     "no",
	} {
		call := `{"toolCallId":"1","kind":"fetch","rawInput":{` + members + `}}`
		if got := answered(t, opened(t, p), request("s", call, options)); got != want {
			t.Errorf("%s: got %s, want %s", members, got, want)
		}
	}
}
