package hook

import (
	"fmt"
	"strings"
	"testing"
)

// TestTargets: every configured server counts whose name, in the agent's spelling, fits the call, with its tool as the
// configuration has it.
func TestTargets(t *testing.T) {
	servers := map[string][]string{
		"a": nil, "a__b": {"delete"}, "my.server": {"run-all", "read"}, "Über Files": nil, "box": {"drop", "build"}, "x_": nil, "other": {"drop"},
	}
	claude := `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"%s","tool_input":{}}`
	for _, c := range []struct{ agent, event, tool, want string }{
		{"claude-code", claude, "mcp__a__b__delete", "[{a b__delete} {a__b delete}]"},
		{"claude-code", claude, "mcp__a__read", "[{a read}]"},
		{"claude-code", claude, "mcp__my_server__run_all", "[{my.server run-all}]"},
		{"claude-code", claude, "mcp__My-Server__read", "[{my.server read}]"},
		{"claude-code", claude, "mcp__my__server__read", "[{my.server read}]"},
		{"claude-code", claude, "mcp___ber_Files__x", "[{Über Files x}]"},
		{"claude-code", claude, "mcp__plugin_tools_box__drop", "[{box drop}]"},
		{"claude-code", claude, "mcp__plugin_a__b_my_server__read", "[{a b_my_server__read} {my.server read}]"},
		{"claude-code", claude, "mcp__claude_ai_box__build", "[{box build}]"},
		{"claude-code", claude, "mcp__x___y", "[{x_ _y} {x_ y}]"},
		{"claude-code", claude, "mcp__unknown__drop", "[{unknown drop}]"},
		{"claude-code", claude, "mcp__toolbox__drop", "[{toolbox drop}]"},
		{"codex", claude, "mcp__a__b__delete", "[{a b__delete} {a__b delete}]"},
		{"copilot", `{"sessionId":"s","cwd":"/w","toolName":"%s","toolArgs":{}}`, "box-drop", "[{box drop}]"},
		{"copilot", `{"sessionId":"s","cwd":"/w","toolName":"%s","toolArgs":{}}`, "my.server-run-all", "[{my.server run-all}]"},
		{"opencode", `{"event":"before","sessionID":"s","cwd":"/w","tool":"%s","args":{}}`, "box_drop", "[{box drop}]"},
		{"opencode", `{"event":"before","sessionID":"s","cwd":"/w","tool":"%s","args":{}}`, "boxes_drop", "[{ }]"},
		{"gemini", `{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"%s","tool_input":{}}`, "mcp_box_drop", "[{box drop}]"},
		{"gemini", `{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"x","tool_input":{},"mcp_context":{"server_name":"my-server","tool_name":"%s"}}`, "read", "[{my.server read}]"},
		{"gemini", `{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"mcp__a__x","tool_input":{},"mcp_context":{"server_name":"box","tool_name":"%s"}}`, "drop", "[{box drop}]"},
		{"cursor", `{"conversation_id":"s","cwd":"/w","hook_event_name":"preToolUse","tool_name":"MCP:%s","tool_input":{}}`, "drop", "[{box drop} {other drop}]"},
		{"cursor", `{"conversation_id":"s","cwd":"/w","hook_event_name":"beforeMCPExecution","tool_name":"%s","tool_input":"{}"}`, "run_all", "[{my.server run-all}]"},
		{"cursor", `{"conversation_id":"s","cwd":"/w","hook_event_name":"beforeMCPExecution","tool_name":"%s","tool_input":"{}"}`, "else", "[{ else}]"},
		{"windsurf", `{"agent_action_name":"pre_mcp_tool_use","trajectory_id":"s","tool_info":{"mcp_server_name":"my server","mcp_tool_name":"%s","mcp_tool_arguments":{}}}`, "read", "[{my.server read}]"},
	} {
		a, _ := Find(c.agent)
		e, err := a.Event(strings.NewReader(fmt.Sprintf(c.event, c.tool)))
		if err != nil {
			t.Fatalf("%s: %s: %v", c.agent, c.tool, err)
		}
		if got := fmt.Sprint(e.Call.Targets(servers)); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", c.agent, c.tool, got, c.want)
		}
	}
}
