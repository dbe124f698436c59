package start

import (
	"encoding/json"
	"testing"

	"github.com/accessc/accessc/backends"
)

// TestPlaceholders: forms of real commands, and forms that are refused.
func TestPlaceholders(t *testing.T) {
	l := &backends.Launch{Tool: "git_diff", Context: "{\n  \"root\": \"/w\"\n}\n"}
	r := &Request{Arguments: json.RawMessage(`{"nnn":"076","n":3,"list":["a","b c"]}`)}
	for in, want := range map[string]string{
		"plain": "plain", "{{context}}": `{"root":"/w"}`, "{{ tool.name }}": "git_diff", "{{tool.arguments.nnn}}": "076",
		"{{tool.arguments.n}}": "3", "{{tool.arguments.list}}": `["a","b c"]`, "a{{tool.arguments.nnn}}b{{tool.name}}c": "a076bgit_diffc",
		"{{tool.arguments.mmm | default('')}}": "", `{{tool.arguments.mmm|default("x")}}`: "x", "{{tool.arguments.nnn | default('x')}}": "076",
		"{{tool}}": `{"name":"git_diff","arguments":{"nnn":"076","n":3,"list":["a","b c"]}}`, "}}": "}}",
	} {
		if got, err := r.fill(l, in); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"{{", "{{x}}", "{{tool.arguments.mmm}}", "{{tool.arguments.mmm | upper}}", "{{tool.arguments.mmm | default('}}", "{{}}"} {
		if got, err := r.fill(l, in); err == nil {
			t.Errorf("%s became %q", in, got)
		}
	}
	r.Arguments = json.RawMessage(`[1]`)
	if _, err := r.fill(l, "{{tool.arguments.nnn}}"); err == nil {
		t.Error("arguments that are no object were accepted")
	}
}
