package gemini

import (
	"os"
	"time"

	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/ruleset"
)

// hooks are the hooks of Gemini CLI, with the time limit of docs/hooks/reference.md of google-gemini/gemini-cli (0.61).
var hooks = hook.Agent{
	Name: "gemini", Title: "Gemini CLI", Default: 60 * time.Second, Tells: true, Tools: hookTools,
	Read: readEvent, Write: writeAnswer,
}

// hookForm is that of Gemini CLI's events (docs/hooks/reference.md, 0.61), after Claude Code's. A
// call has no id.
var hookForm = claudecode.HookForm.With(map[string]hook.Stage{"BeforeTool": hook.Before, "AfterTool": hook.After})

var hookTools = hook.Plain(map[string]hook.Tool{
	"run_shell_command": hook.ShellTool("command", "dir_path", "directory"),
	"read_file":         hook.Reads("file_path", "absolute_path", "path"),
	"read_many_files":   {What: hook.Files, Kind: ruleset.Read, Patterns: []string{"include", "paths"}},
	"write_file":        hook.Edits("file_path"), "replace": hook.Edits("file_path"),
	"list_directory": hook.Lists("dir_path", "path"), "glob": hook.Globs("pattern", "dir_path", "path"),
	"search_file_content": hook.Greps("dir_path", "path"), "grep_search": hook.Greps("dir_path", "path"),
}, "google_web_search", "write_todos", "ask_user", "enter_plan_mode", "exit_plan_mode", "activate_skill",
	"codebase_investigator",
	"cli_help", "get_internal_docs")

// readEvent reads an event. A hook of Gemini CLI cannot have it ask: it asks by itself, or not.
func readEvent(a *hook.Agent, v strictjson.Value) (*hook.Event, error) {
	e, m, err := hookForm.Call(a, v)
	if err != nil {
		return nil, err
	}
	if of := m["mcp_context"]; of.IsObject() {
		e.Call.OfServer(of.Get("server_name").Str, of.Get("tool_name").Str)
	}
	e.Rewrites, e.Project = e.Stage == hook.Before, os.Getenv("GEMINI_PROJECT_DIR")
	return e, nil
}

// hookAnswer is the document of Gemini CLI. Input is merged into that of the call.
type hookAnswer struct {
	Decision string      `json:"decision,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Output   *hookOutput `json:"hookSpecificOutput,omitempty"`
}

type hookOutput struct {
	Event   string   `json:"hookEventName"`
	Input   hook.Raw `json:"tool_input,omitempty"`
	Context string   `json:"additionalContext,omitempty"`
}

func writeAnswer(e *hook.Event, a *hook.Answer) any {
	out := hookAnswer{}
	input := a.Input(e)
	if input != nil || a.Context != "" {
		out.Output = &hookOutput{e.Name, input, a.Context}
	}
	if e.Stage == hook.Before && a.Outcome != hook.Pass {
		out.Decision, out.Reason = a.Outcome.String(), a.Refusal()
	}
	return out
}
