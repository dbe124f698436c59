package hook

import (
	"strings"
	"testing"
)

// TestRewritten: all of a call but the command stays as it was, byte by byte.
func TestRewritten(t *testing.T) {
	a, _ := Find("claude-code")
	input := `{ "timeout" : 1.50, "command":"x","d\u00e9":{"a":[1, 2]},"run_in_background":true}`
	e, err := a.Event(strings.NewReader(`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + input + `}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"timeout":1.50,"command":"\"a\"\n","d\u00e9":{"a":[1, 2]},"run_in_background":true}`
	if got := string(e.Call.rewritten("\"a\"\n")); got != want {
		t.Errorf("got %s", got)
	}
}
