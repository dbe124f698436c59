package hook

import (
	"strings"
	"testing"
)

// TestFailed: the report of a tool that has ended with an error says so in the words of its agent; such a call stands for none that
// another tool needs.
func TestFailed(t *testing.T) {
	claude := func(name, more string) string {
		return `{"session_id":"s","cwd":"/w","hook_event_name":"` + name + `","tool_name":"Bash","tool_input":{"command":"x"}` + more + `}`
	}
	copilot := func(more string) string {
		return `{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":{"command":"x"},` + more + `}`
	}
	for _, c := range []struct {
		agent, event string
		failed       bool
	}{
		{"claude-code", claude("PostToolUse", ""), false},
		{"claude-code", claude("PostToolUse", `,"tool_response":{"stdout":"error","interrupted":false}`), false},
		{"claude-code", claude("PostToolUse", `,"tool_response":{"stdout":"","interrupted":true}`), true},
		{"claude-code", claude("PostToolUse", `,"tool_response":{"isError":true}`), true},
		{"claude-code", claude("PostToolUse", `,"tool_response":{"isError":false,"error":null}`), false},
		{"claude-code", claude("PostToolUseFailure", `,"error":"status 1"`), true},
		{"claude-code", claude("PreToolUse", `,"error":"status 1"`), false},
		{"codex", claude("PostToolUse", `,"tool_response":"{\"metadata\":{\"exit_code\":2}}"`), true},
		{"codex", claude("PostToolUse", `,"tool_response":"{\"metadata\":{\"exit_code\":0}}"`), false},
		{"gemini", claude("AfterTool", `,"tool_response":{"error":"no"}`), true},
		{"copilot", copilot(`"toolResult":{"resultType":"success"}`), false},
		{"copilot", copilot(`"toolResult":{"resultType":"failure"}`), true},
		{"copilot", copilot(`"error":{"message":"x"}`), true},
		{"cursor", strings.Replace(claude("postToolUse", `,"tool_output":"{\"isError\":true}"`), "session_id", "conversation_id", 1), true},
		{"cursor", strings.Replace(claude("postToolUse", `,"tool_output":"{\"exitCode\":0}"`), "session_id", "conversation_id", 1), false},
	} {
		a, ok := Find(c.agent)
		if !ok {
			t.Fatalf("there is no %s", c.agent)
		}
		e, err := a.Event(strings.NewReader(c.event))
		if err != nil || e.Failed != c.failed {
			t.Errorf("%s: %s: %v, %+v", c.agent, c.event, err, e)
		}
	}
}
