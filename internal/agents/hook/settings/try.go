package settings

import (
	"cmp"
	"encoding/json"

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
	refused, passed := a.Sample(dir, refusedLine)
	return []Sample{
		{Name: "run " + refusedLine, Event: refused, Refused: true},
		{Name: cmp.Or(a.Harmless, "change its list of tasks"), Event: passed},
	}
}

// Sampled writes events about a tool that runs commands and about another tool in the form that most agents have.
func Sampled(event, shell, other string) func(dir, command string) (refused, passed []byte) {
	return func(dir, command string) (refused, passed []byte) {
		write := func(tool string, input map[string]any) []byte {
			return Marshal(map[string]any{
				"session_id": "doctor", "conversation_id": "doctor", "cwd": dir, "workspace_roots": []string{dir},
				"hook_event_name": event,
				"tool_name":       tool, "tool_input": input, "tool_use_id": "doctor", "transcript_path": nil,
			})
		}
		return write(shell, map[string]any{"command": command}), write(other, map[string]any{})
	}
}

// Marshal writes an event.
func Marshal(v any) []byte {
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
	for _, way := range [][]string{
		{"decision"}, {"permission"}, {"permissionDecision"}, {"hookSpecificOutput", "permissionDecision"},
	} {
		if v := answer.Get(way...).Str; v == "deny" || v == "block" {
			return true, true
		}
	}
	return false, true
}
