package opencode

import (
	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/agents/hook"
)

// hooks are the hooks of opencode, which are those of a plugin of accessc's own.
var hooks = hook.Agent{
	Name: "opencode", Title: "opencode", Tells: true, Tools: hookTools, Read: readEvent, Write: writeAnswer,
}

// hookForm is that of the events which accessc's plugin writes for opencode. "before" comes
// from tool.execute.before, "after" from tool.execute.after; args is the input of the tool:
//
//	{"event":"before","sessionID":"s","callID":"c","cwd":"/w","tool":"bash","args":{"command":"ls"}}
//
// The answer is one JSON document:
//
//	{"decision":"allow","args":{"command":"…"}}    use the tool, with these args if there are any
//	{"decision":"deny","reason":"…"}               throw the reason
//	{"context":"…"}                                after: add the text to the output of the tool
//
// The plugin throws as well for every other answer, for an exit status that is not 0, and after its
// time limit.
var hookForm = hook.Form{
	Event: "event", Session: "sessionID", Dir: "cwd", ID: "callID", Tool: "tool", Input: "args",
	Stages: map[string]hook.Stage{"before": hook.Before, "after": hook.After},
}

var hookTools = hook.Plain(map[string]hook.Tool{
	"bash": hook.ShellTool("command", "workdir"), "read": hook.Reads("filePath"), "write": hook.Edits("filePath"),
	"edit":      hook.Edits("filePath"),
	"multiedit": hook.Edits("filePath"), "patch": hook.Patches("patchText"), "apply_patch": hook.Patches("patchText"),
	"list": hook.Lists("path"), "glob": hook.Globs("pattern", "path"), "grep": hook.Greps("path"),
	"webfetch": hook.Fetches("url"),
}, "todowrite", "todoread", "task", "skill", "question", "websearch", "plan_enter", "plan_exit", "invalid")

func readEvent(a *hook.Agent, v strictjson.Value) (*hook.Event, error) {
	e, _, err := hookForm.Call(a, v)
	if err != nil {
		return nil, err
	}
	e.Rewrites = true
	return e, nil
}

// hookAnswer is the document for the plugin.
type hookAnswer struct {
	Decision string   `json:"decision,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Args     hook.Raw `json:"args,omitempty"`
	Context  string   `json:"context,omitempty"`
}

func writeAnswer(e *hook.Event, a *hook.Answer) any {
	if e.Stage == hook.After {
		return hookAnswer{Context: a.Context}
	}
	if a.Outcome == hook.Deny {
		return hookAnswer{Decision: hook.Deny.String(), Reason: a.Reason}
	}
	return hookAnswer{Decision: hook.Allow.String(), Args: a.Input(e)}
}
