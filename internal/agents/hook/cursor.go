package hook

import (
	"cmp"
	"errors"
	"strings"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// cursorTools are the tools of Cursor (cursor.com/docs/hooks, and names seen in its transcripts).
var cursorTools = plain(map[string]tool{
	"Shell": shellTool("command", "working_directory"), "Read": reads("file_path", "path"), "Write": edits("file_path", "path"),
	"Edit": edits("file_path", "path"), "MultiEdit": edits("file_path", "path"), "StrReplace": edits("file_path", "path"),
	"EditNotebook": edits("file_path", "path", "target_notebook"), "Delete": deletes("file_path", "path"),
	"Grep": greps("path"), "Glob": globs("glob_pattern", "path", "target_directory"), "LS": lists("path", "target_directory"), "WebFetch": fetches("url"),
}, "Task", "TodoWrite", "TodoRead", "WebSearch", "AskQuestion", "SwitchMode", "ReadLints")

// cursorForm is that of Cursor's events (cursor.com/docs/hooks). The others say more by their
// names, and have the parts of a call beside each other.
var cursorForm = form{
	event: "hook_event_name", session: "conversation_id", dir: "cwd", id: "tool_use_id", tool: "tool_name", input: "tool_input",
	stages: map[string]Stage{
		"preToolUse": Before, "beforeShellExecution": Permission, "beforeMCPExecution": Permission, "beforeReadFile": Permission,
		"postToolUse": After,
	},
}

// readCursor reads an event. preToolUse takes "ask" and does not ask.
func readCursor(a *Agent, v strictjson.Value) (*Event, error) {
	e, m, err := cursorForm.read(v)
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
	e.Call, err = a.call(name, input)
	if method, is := strings.CutPrefix(name, "MCP:"); is && err == nil {
		e.Call.What, e.Call.Method = Server, method
		_, err = jsonrpc.Members(e.Call.Input)
	}
	return e, err
}

// cursorAnswer is the document of all of Cursor's events.
type cursorAnswer struct {
	Permission string `json:"permission,omitempty"`
	User       string `json:"user_message,omitempty"`
	Agent      string `json:"agent_message,omitempty"`
	Input      raw    `json:"updated_input,omitempty"`
	Context    string `json:"additional_context,omitempty"`
}

func writeCursor(e *Event, a *Answer) any {
	out := cursorAnswer{Permission: a.Outcome.String(), Context: a.Context}
	switch {
	case e.Stage == After:
		out.Permission = ""
	case a.Outcome == Pass && e.Name == "beforeMCPExecution":
		out.Permission = Ask.String()
	case a.Outcome == Pass && e.Stage == Before:
		out.Permission = "" // "allow" would be more than no objection
	case a.Outcome == Pass:
		out.Permission = Allow.String()
	case a.Outcome != Allow:
		out.User, out.Agent = a.Reason, a.Reason
	}
	out.Input = a.input(e)
	return out
}
