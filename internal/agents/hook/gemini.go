package hook

import (
	"os"

	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset"
)

// geminiForm is that of Gemini CLI's events (docs/hooks/reference.md, 0.61), after Claude Code's. A
// call has no id.
var geminiForm = claudeForm.with(map[string]Stage{"BeforeTool": Before, "AfterTool": After})

var geminiTools = plain(map[string]tool{
	"run_shell_command": shellTool("command", "dir_path", "directory"),
	"read_file":         reads("file_path", "absolute_path", "path"), "read_many_files": {what: Files, kind: ruleset.Read, patterns: []string{"include", "paths"}},
	"write_file": edits("file_path"), "replace": edits("file_path"),
	"list_directory": lists("dir_path", "path"), "glob": globs("pattern", "dir_path", "path"),
	"search_file_content": greps("dir_path", "path"), "grep_search": greps("dir_path", "path"),
}, "google_web_search", "write_todos", "ask_user", "enter_plan_mode", "exit_plan_mode", "activate_skill", "codebase_investigator",
	"cli_help", "get_internal_docs")

// readGemini reads an event. A hook of Gemini CLI cannot have it ask: it asks by itself, or not.
func readGemini(a *Agent, v strictjson.Value) (*Event, error) {
	e, m, err := geminiForm.call(a, v)
	if err != nil {
		return nil, err
	}
	if of := m["mcp_context"]; of.IsObject() {
		e.Call.What, e.Call.Server, e.Call.Method = Server, of.Get("server_name").Str, of.Get("tool_name").Str
		e.Call.joined = ""
	}
	e.Rewrites, e.Project = e.Stage == Before, os.Getenv("GEMINI_PROJECT_DIR")
	return e, nil
}

// geminiAnswer is the document of Gemini CLI. Input is merged into that of the call.
type geminiAnswer struct {
	Decision string        `json:"decision,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Output   *geminiOutput `json:"hookSpecificOutput,omitempty"`
}

type geminiOutput struct {
	Event   string `json:"hookEventName"`
	Input   raw    `json:"tool_input,omitempty"`
	Context string `json:"additionalContext,omitempty"`
}

func writeGemini(e *Event, a *Answer) any {
	out := geminiAnswer{}
	input := a.input(e)
	if input != nil || a.Context != "" {
		out.Output = &geminiOutput{e.Name, input, a.Context}
	}
	if e.Stage == Before && a.Outcome != Pass {
		out.Decision, out.Reason = a.Outcome.String(), a.refusal()
	}
	return out
}
