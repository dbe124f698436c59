package claudecode

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// TestInputIsAnObject: the input of a tool that is judged is one object, or a text that is one; an event with another
// input, or with two members of one name anywhere, has no answer but a refusal.
func TestInputIsAnObject(t *testing.T) {
	const object = `{"command":"ls","file_path":"a"}`
	text, _ := json.Marshal(object)
	twice, _ := json.Marshal(`{"command":"ls","command":"rm","file_path":"a","file_path":"b"}`)
	irtest.Check(t, 2000, 1, func(t *rapid.T) {
		tool := rapid.SampledFrom([]string{"Bash", "Read", "mcp__files__read", "Unknown"}).Draw(t, "tool")
		input := rapid.SampledFrom([]string{object, string(text), string(twice), `7`, `true`, `null`, `[]`, `["ls"]`, `"ls"`,
			`"[]"`, `""`, "[" + object + "]", `{"command":"ls","file_path":"a","x":{"a":1,"a":2}}`}).Draw(t, "input")
		further := rapid.SampledFrom([]string{``, `,"tool_input":{}`, `,"Tool_input":{}`, `,"x":[{"a":1,"\u0061":1}]`}).Draw(t, "further")
		event := `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + further + "}"
		_, err := hooks.Event(strings.NewReader(event))
		if fits := (input == object || input == string(text)) && further == ""; fits != (err == nil) {
			t.Fatalf("%s: %v", event, err)
		}
	})
}
