package cursor

import (
	"cmp"
	"errors"
	"strings"

	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/text/jsonrpc"
)

// hooks are the hooks of Cursor. cursor.com/docs/hooks names no time limit.
var hooks = hook.Agent{Name: "cursor", Title: "Cursor", Tells: true, Tools: hookTools, Read: readEvent,
	Write: writeAnswer}

// hookTools are the tools of Cursor (cursor.com/docs/hooks, and names seen in its transcripts).
var hookTools = hook.Plain(map[string]hook.Tool{
	"Shell": hook.ShellTool("command", "working_directory"), "Read": hook.Reads("file_path", "path"),
	"Write": hook.Edits("file_path", "path"),
	"Edit":  hook.Edits("file_path", "path"), "MultiEdit": hook.Edits("file_path", "path"),
	"StrReplace":   hook.Edits("file_path", "path"),
	"EditNotebook": hook.Edits("file_path", "path", "target_notebook"), "Delete": hook.Deletes("file_path", "path"),
	"Grep": hook.Greps("path"), "Glob": hook.Globs("glob_pattern", "path", "target_directory"),
	"LS": hook.Lists("path", "target_directory"), "WebFetch": hook.Fetches("url"),
}, "Task", "TodoWrite", "TodoRead", "WebSearch", "AskQuestion", "SwitchMode", "ReadLints")

// hookForm is that of Cursor's events (cursor.com/docs/hooks). The others say more by their
// names, and have the parts of a call beside each other.
var hookForm = hook.Form{
	Event: "hook_event_name", Session: "conversation_id", Dir: "cwd", ID: "tool_use_id", Tool: "tool_name",
	Input: "tool_input",
	Stages: map[string]hook.Stage{
		"preToolUse": hook.Before, "beforeShellExecution": hook.Permission, "beforeMCPExecution": hook.Permission,
		"beforeReadFile": hook.Permission,
		"postToolUse":    hook.After,
	},
}

// readEvent reads an event. preToolUse takes "ask" and does not ask.
func readEvent(a *hook.Agent, v strictjson.Value) (*hook.Event, error) {
	e, m, err := hookForm.Read(v)
	if err != nil {
		return nil, err
	}
	for _, root := range m["workspace_roots"].Array() {
		// Of several, the one that the call is made in.
		if e.Project == "" || e.Dir == root.Str || strings.HasPrefix(e.Dir, root.Str+"/") {
			e.Project = root.Str
		}
	}
	e.Dir = cmp.Or(e.Dir, e.Project)
	name, input := m["tool_name"].Str, m["tool_input"]
	switch e.Name {
	case "beforeShellExecution":
		name, input = "Shell", v
	case "beforeReadFile":
		name, input = "Read", v
	case "beforeMCPExecution":
		name = "MCP:" + name
	}
	e.Asks, e.Rewrites = e.Name == "beforeShellExecution" || e.Name == "beforeMCPExecution", e.Name == "preToolUse"
	e.AskedLater = e.Name == "preToolUse" && name == "Shell"
	if name == "" {
		return nil, errors.New("the event has no tool_name")
	}
	e.Call, err = a.Call(name, input)
	if method, is := strings.CutPrefix(name, "MCP:"); is && err == nil {
		e.Call.What, e.Call.Method = hook.Server, method
		_, err = jsonrpc.Members(e.Call.Input)
	}
	return e, err
}

// hookAnswer is the document of all of Cursor's events.
type hookAnswer struct {
	Permission string   `json:"permission,omitempty"`
	User       string   `json:"user_message,omitempty"`
	Agent      string   `json:"agent_message,omitempty"`
	Input      hook.Raw `json:"updated_input,omitempty"`
	Context    string   `json:"additional_context,omitempty"`
}

func writeAnswer(e *hook.Event, a *hook.Answer) any {
	out := hookAnswer{Permission: a.Outcome.String(), Context: a.Context}
	switch {
	case e.Stage == hook.After:
		out.Permission = ""
	case a.Outcome == hook.Pass && e.Name == "beforeMCPExecution":
		out.Permission = hook.Ask.String()
	case a.Outcome == hook.Pass && e.Stage == hook.Before:
		out.Permission = "" // "allow" would be more than no objection
	case a.Outcome == hook.Pass:
		out.Permission = hook.Allow.String()
	case a.Outcome != hook.Allow:
		out.User, out.Agent = a.Reason, a.Reason
	}
	out.Input = a.Input(e)
	return out
}
