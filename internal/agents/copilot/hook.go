package copilot

import (
	"errors"
	"time"

	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/text/jsonrpc"
)

// hooks are the hooks of Copilot CLI, with the time limit of docs.github.com/en/copilot/reference/hooks-reference.
var hooks = hook.Agent{
	Name: "copilot", Title: "Copilot CLI", Default: 30 * time.Second, Tells: true, Tools: hookTools,
	Read: readEvent, Write: writeAnswer,
}

var hookTools = hook.Plain(map[string]hook.Tool{
	"bash": hook.ShellTool("command"), "powershell": {What: hook.Shell, Members: []string{"command"}, Foreign: true},
	"view": hook.Reads("path"), "create": hook.Edits("path"), "edit": hook.Edits("path"),
	"str_replace_editor": hook.Edits("path"),
	"apply_patch":        hook.Patches("patch"), "glob": hook.Globs("pattern", "path"), "grep": hook.Greps("path"),
	"rg": hook.Greps("path", "paths"), "web_fetch": hook.Fetches("url"),
}, "ask_user", "update_todo", "task", "report_intent", "web_search", "read_bash", "stop_bash", "list_bash")

// readEvent reads an event of Copilot CLI, in the form of events that the settings name in camel
// case (docs.github.com/en/copilot/reference/hooks-reference). They do not say their name: the
// reports of a used tool have its result or its error. It has no id of a call either.
func readEvent(a *hook.Agent, v strictjson.Value) (*hook.Event, error) {
	m, err := jsonrpc.Members(v, "sessionId", "cwd", "toolName", "toolArgs", "toolResult", "error")
	if err != nil {
		return nil, err
	}
	e := &hook.Event{Name: "preToolUse", Stage: hook.Before, Session: m["sessionId"].Str, Dir: m["cwd"].Str, Asks: true,
		Rewrites: true}
	if m["toolResult"].Exists() || m["error"].Exists() {
		e.Name, e.Stage = "postToolUse", hook.After
	}
	if m["toolName"].Type != strictjson.String || m["toolName"].Str == "" {
		return nil, errors.New("the event has no toolName")
	}
	e.Call, err = a.Call(m["toolName"].Str, m["toolArgs"])
	return e, err
}

// hookAnswer is the document of Copilot CLI.
type hookAnswer struct {
	Decision string   `json:"permissionDecision,omitempty"`
	Reason   string   `json:"permissionDecisionReason,omitempty"`
	Input    hook.Raw `json:"modifiedArgs,omitempty"`
	Context  string   `json:"additionalContext,omitempty"`
}

func writeAnswer(e *hook.Event, a *hook.Answer) any {
	out := hookAnswer{Context: a.Context, Input: a.Input(e)}
	if e.Stage == hook.Before && a.Outcome != hook.Pass {
		out.Decision, out.Reason = a.Outcome.String(), a.Reason
	}
	return out
}
