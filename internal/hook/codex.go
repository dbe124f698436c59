package hook

import (
	"github.com/tidwall/gjson"
)

// codexForm is that of Codex' events (codex-rs/hooks/src/schema.rs, 0.169), after Claude Code's.
var codexForm = form{
	event: "hook_event_name", session: "session_id", dir: "cwd", id: "tool_use_id", tool: "tool_name", input: "tool_input",
	stages: map[string]Stage{"PreToolUse": Before, "PermissionRequest": Permission, "PostToolUse": After},
}

// codexTools are the tools of Codex: whatever runs a shell is Bash.
var codexTools = plain(map[string]tool{
	"Bash": shellTool("command"), "apply_patch": patches("command"), "view_image": reads("path"),
}, "update_plan", "request_user_input", "spawn_agent", "send_input", "wait", "wait_agent", "close_agent", "resume_agent")

// readCodex reads an event. A hook that answers "ask", or "allow" without another input, has failed
// for Codex, and the tool is used (codex-rs/hooks/src/engine/output_parser.rs): so this agent is
// never asked to ask.
func readCodex(a *Agent, v gjson.Result) (*Event, error) {
	e, _, err := codexForm.call(a, v)
	if err != nil {
		return nil, err
	}
	// What is not answered is left to the person who is about to be asked.
	e.Rewrites, e.Asks = e.Stage == Before, e.Stage == Permission
	return e, nil
}

// requestOutcome answers a question that a person would be asked.
type requestOutcome struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

func writeCodex(e *Event, a *Answer) any {
	switch {
	case e.Stage == Before && a.Outcome == Deny, e.Stage == After:
		return writeClaude(e, a)
	case e.Stage == Before && a.Command != "":
		return claudeAnswer{&claudeOutput{Event: e.Name, Decision: Allow.String(), Input: a.input(e)}}
	case e.Stage == Permission && (a.Outcome == Deny || a.Outcome == Allow && a.Held):
		return claudeAnswer{&claudeOutput{Event: e.Name, Request: &requestOutcome{a.Outcome.String(), a.refusal()}}}
	default:
		return claudeAnswer{}
	}
}
