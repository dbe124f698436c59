package hook

import (
	"errors"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

var copilotTools = plain(map[string]tool{
	"bash": shellTool("command"), "powershell": {what: Shell, members: []string{"command"}, foreign: true},
	"view": reads("path"), "create": edits("path"), "edit": edits("path"), "str_replace_editor": edits("path"),
	"apply_patch": patches("patch"), "glob": globs("pattern", "path"), "grep": greps("path"), "rg": greps("path", "paths"), "web_fetch": fetches("url"),
}, "ask_user", "update_todo", "task", "report_intent", "web_search", "read_bash", "stop_bash", "list_bash")

// readCopilot reads an event of Copilot CLI, in the form of events that the settings name in camel
// case (docs.github.com/en/copilot/reference/hooks-reference). They do not say their name: the
// reports of a used tool have its result or its error. It has no id of a call either.
func readCopilot(a *Agent, v strictjson.Value) (*Event, error) {
	m, err := jsonrpc.Members(v, "sessionId", "cwd", "toolName", "toolArgs", "toolResult", "error")
	if err != nil {
		return nil, err
	}
	e := &Event{Name: "preToolUse", Stage: Before, Session: m["sessionId"].Str, Dir: m["cwd"].Str, Asks: true, Rewrites: true}
	if m["toolResult"].Exists() || m["error"].Exists() {
		e.Name, e.Stage = "postToolUse", After
	}
	if m["toolName"].Type != strictjson.String || m["toolName"].Str == "" {
		return nil, errors.New("the event has no toolName")
	}
	e.Call, err = a.call(m["toolName"].Str, m["toolArgs"])
	return e, err
}

// copilotAnswer is the document of Copilot CLI.
type copilotAnswer struct {
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Input    raw    `json:"modifiedArgs,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

func writeCopilot(e *Event, a *Answer) any {
	out := copilotAnswer{Context: a.Context, Input: a.input(e)}
	if e.Stage == Before && a.Outcome != Pass {
		out.Decision, out.Reason = a.Outcome.String(), a.Reason
	}
	return out
}
