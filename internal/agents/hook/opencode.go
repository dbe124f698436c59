package hook

import "github.com/accessc/accessc/internal/text/strictjson"

// opencodeForm is that of the events which accessc's plugin writes for opencode. "before" comes
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
var opencodeForm = form{
	event: "event", session: "sessionID", dir: "cwd", id: "callID", tool: "tool", input: "args",
	stages: map[string]Stage{"before": Before, "after": After},
}

var opencodeTools = plain(map[string]tool{
	"bash": shellTool("command", "workdir"), "read": reads("filePath"), "write": edits("filePath"), "edit": edits("filePath"),
	"multiedit": edits("filePath"), "patch": patches("patchText"), "apply_patch": patches("patchText"),
	"list": lists("path"), "glob": globs("pattern", "path"), "grep": greps("path"), "webfetch": fetches("url"),
}, "todowrite", "todoread", "task", "skill", "question", "websearch", "plan_enter", "plan_exit", "invalid")

func readOpencode(a *Agent, v strictjson.Value) (*Event, error) {
	e, _, err := opencodeForm.call(a, v)
	if err != nil {
		return nil, err
	}
	e.Rewrites = true
	return e, nil
}

// opencodeAnswer is the document for the plugin.
type opencodeAnswer struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Args     raw    `json:"args,omitempty"`
	Context  string `json:"context,omitempty"`
}

func writeOpencode(e *Event, a *Answer) any {
	if e.Stage == After {
		return opencodeAnswer{Context: a.Context}
	}
	if a.Outcome == Deny {
		return opencodeAnswer{Decision: Deny.String(), Reason: a.Reason}
	}
	return opencodeAnswer{Decision: Allow.String(), Args: a.input(e)}
}
