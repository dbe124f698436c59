package start

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
)

// TestPlaceholders: forms of real commands, and forms that are refused.
func TestPlaceholders(t *testing.T) {
	l := &backends.Launch{Tool: "git_diff", Context: "{\n  \"root\": \"/w\"\n}\n"}
	r := &Request{Call: Call{
		Arguments: json.RawMessage(`{"nnn":"076","n":3,"list":["a","b c"]}`), Answers: json.RawMessage(`{"sure": true,"a.b":"c"}`),
	}}
	for in, want := range map[string]string{
		"plain": "plain", "{{context}}": `{"root":"/w"}`, "{{ tool.name }}": "git_diff", "{{tool.arguments.nnn}}": "076",
		"{{tool.arguments.n}}": "3", "{{tool.arguments.list}}": `["a","b c"]`, "a{{tool.arguments.nnn}}b{{tool.name}}c": "a076bgit_diffc",
		"{{tool.arguments.mmm | default('')}}": "", `{{tool.arguments.mmm|default("x")}}`: "x", "{{tool.arguments.nnn | default('x')}}": "076",
		"{{tool}}": `{"name":"git_diff","arguments":{"nnn":"076","n":3,"list":["a","b c"]},"answers":{"sure":true,"a.b":"c"}}`, "}}": "}}",
		"{{tool.answers.sure}}": "true", "{{tool.answers.a.b}}": "c", "{{tool.answers}}": `{"sure":true,"a.b":"c"}`, "{{tool.options}}": "{}",
		"{{tool.options.x | default('y')}}": "y", "{{context.root}}": "/w", "{{context.workspace_id | default('none')}}": "none",
	} {
		if got, err := r.fill(l, in); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"{{", "{{x}}", "{{tool.answers.x}}", "{{tool.options.x}}", "{{context.conversation_id}}", "{{context.access}}", "{{tool.arguments.mmm}}", "{{tool.arguments.mmm | upper}}", "{{tool.arguments.mmm | default('}}", "{{}}"} {
		if got, err := r.fill(l, in); err == nil {
			t.Errorf("%s became %q", in, got)
		}
	}
}

// TestCall: the call of a host is read as one document with known members, and comes into the Context.
func TestCall(t *testing.T) {
	full := `{"action":"format_arguments","arguments":{"path":"a"},"answers":{"sure":true},"options":{"n":1.5},` +
		`"workspace_id":"w1","conversation_id":"c1"}`
	c, err := ParseCall([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	l := &backends.Launch{Context: `{"root":"/w","action":"run","tool":"t","access":{"base":{"name":"system","version":3},"fs":[],"net":[],"env":[],"commands":null}}`}
	if err := (&Request{Call: c}).carry(l); err != nil {
		t.Fatal(err)
	}
	doc, err := contextjson.Parse([]byte(l.Context))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{doc.Action, compact(doc.Arguments), compact(doc.Answers), compact(doc.Options), doc.WorkspaceID, doc.ConversationID, doc.Root, doc.Tool}
	if want := []string{"format_arguments", `{"path":"a"}`, `{"sure":true}`, `{"n":1.5}`, "w1", "c1", "/w", "t"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for in, want := range map[string]string{
		"": "not a JSON", "[]": "the call", full + "{}": "not a JSON", `{"x":1}`: "x", `{"action":"Run"}`: "expected run or format_arguments",
		`{"action":1}`: "the call", `{"arguments":[]}`: "arguments take a JSON object", `{"answers":"a"}`: "answers take", `{"options":3}`: "options take",
		`{"arguments":{"a":{"b":1,"b":2}}}`: `"b" twice`, `{"action":"run","action":"run"}`: "action", `{"Action":"run"}`: "Action",
		`{"workspace_id":"a\nb"}`: "control", `{"conversation_id":"` + strings.Repeat("x", 257) + `"}`: "257", "{\"action\":\"\xff\"}": "UTF-8",
		`{"arguments":` + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) + "}": "in each other",
	} {
		if _, err := ParseCall([]byte(in)); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "256", "257"), want) {
			t.Errorf("%.60s: got %v, want %q", in, err, want)
		}
	}
	plain := *l
	if err := (&Request{}).carry(&plain); err != nil || plain.Context != l.Context {
		t.Error("no call changed the Context")
	}
	if err := (&Request{Call: Call{Arguments: json.RawMessage("[1]")}}).carry(&plain); err == nil {
		t.Error("arguments that are no object were accepted")
	}
}
