package settings

import (
	"encoding/json"
	"path/filepath"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// Sample is an event to ask the hook about.
type Sample struct {
	// Name is the agent's action in words.
	Name string
	// Event is the agent's text of the event. Refused is true if the hook has to refuse it.
	Event   []byte
	Refused bool
}

// refusedLine is a command that every policy refuses: no agent gives accessc another policy.
const refusedLine = "accessc exec --accept net.host --command -- true"

// Samples are an event that every policy refuses and one that a policy without mistakes does not.
func (a *Agent) Samples(dir string) []Sample {
	out := []Sample{{Name: "run " + refusedLine, Refused: true}, {Name: "change its list of tasks"}}
	switch a.Name {
	case "copilot":
		out[0].Event, out[1].Event = copilotSample(dir, "bash", map[string]any{"command": refusedLine}), copilotSample(dir, "update_todo", map[string]any{})
	case "windsurf":
		out[1].Name = "read a file of the workspace"
		out[0].Event = windsurfSample("pre_run_command", map[string]any{"command_line": refusedLine, "cwd": dir})
		out[1].Event = windsurfSample("pre_read_code", map[string]any{"file_path": filepath.Join(dir, "README.md")})
	default:
		names := map[string][3]string{
			"claude-code": {"PreToolUse", "Bash", "TodoWrite"}, "codex": {"PreToolUse", "Bash", "update_plan"},
			"cursor": {"preToolUse", "Shell", "TodoWrite"}, "gemini": {"BeforeTool", "run_shell_command", "write_todos"},
			"opencode": {"before", "bash", "todowrite"},
		}[a.Name]
		out[0].Event = a.sample(dir, names[0], names[1], map[string]any{"command": refusedLine})
		out[1].Event = a.sample(dir, names[0], names[2], map[string]any{})
	}
	return out
}

func (a *Agent) sample(dir, event, tool string, input any) []byte {
	if a.plugin {
		return marshal(map[string]any{"event": event, "sessionID": "doctor", "callID": "doctor", "cwd": dir, "tool": tool, "args": input})
	}
	return marshal(map[string]any{
		"session_id": "doctor", "conversation_id": "doctor", "cwd": dir, "workspace_roots": []string{dir}, "hook_event_name": event,
		"tool_name": tool, "tool_input": input, "tool_use_id": "doctor", "transcript_path": nil,
	})
}

func copilotSample(dir, tool string, args any) []byte {
	return marshal(map[string]any{"sessionId": "doctor", "timestamp": 0, "cwd": dir, "toolName": tool, "toolArgs": args})
}

func windsurfSample(event string, info any) []byte {
	return marshal(map[string]any{"agent_action_name": event, "trajectory_id": "doctor", "execution_id": "doctor", "tool_info": info})
}

func marshal(v any) []byte {
	text, _ := json.Marshal(v) // maps of texts have a form
	return text
}

// Refused reads an answer: the status and the output of the hook. An answer of another form is no
// answer.
func (a *Agent) Refused(status int, out []byte) (refused, answered bool) {
	answer, err := strictjson.Parse(string(out))
	switch {
	case status == 2:
		return true, true
	case status != 0 || len(out) > 0 && err != nil:
		return false, false
	}
	for _, way := range [][]string{{"decision"}, {"permission"}, {"permissionDecision"}, {"hookSpecificOutput", "permissionDecision"}} {
		if v := answer.Get(way...).Str; v == "deny" || v == "block" {
			return true, true
		}
	}
	return false, true
}
