package hook

import (
	"os"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// claudeForm is that of Claude Code's events (code.claude.com/docs/en/hooks, 2.1.330). A tool that
// has failed is told of by an event of its own.
var claudeForm = form{
	event: "hook_event_name", session: "session_id", dir: "cwd", id: "tool_use_id", tool: "tool_name", input: "tool_input",
	stages: map[string]Stage{"PreToolUse": Before, "PostToolUse": After, "PostToolUseFailure": After},
}

// claudeTools are the tools of Claude Code. Shell is the name in Cursor, which runs the hooks of
// Claude Code's settings as well.
var claudeTools = plain(map[string]tool{
	"Bash": shellTool("command"), "Shell": shellTool("command"),
	"PowerShell": {what: Shell, members: []string{"command"}, foreign: true},
	"Read":       reads("file_path"), "Write": edits("file_path"), "Edit": edits("file_path"), "MultiEdit": edits("file_path"),
	"NotebookRead": reads("notebook_path"), "NotebookEdit": edits("notebook_path"),
	"LS": lists("path"), "Glob": globs("pattern", "path"), "Grep": greps("path"),
	"WebFetch": fetches("url"),
}, "Agent", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "AskUserQuestion", "ToolSearch",
	"EnterPlanMode", "ExitPlanMode", "Skill", "BashOutput", "KillShell", "WebSearch", "ListMcpResourcesTool")

func readClaude(a *Agent, v strictjson.Value) (*Event, error) {
	e, _, err := claudeForm.call(a, v)
	if err != nil {
		return nil, err
	}
	e.Asks, e.Rewrites, e.Project = true, true, os.Getenv("CLAUDE_PROJECT_DIR")
	e.Chosen = e.Project == ""
	return e, nil
}

// claudeAnswer is the document of Claude Code and Codex.
type claudeAnswer struct {
	Output *claudeOutput `json:"hookSpecificOutput,omitempty"`
}

type claudeOutput struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    raw             `json:"updatedInput,omitempty"`
	Context  string          `json:"additionalContext,omitempty"`
	Request  *requestOutcome `json:"decision,omitempty"`
}

// writeClaude answers nothing where the policy has no objection: the agent's own settings decide.
func writeClaude(e *Event, a *Answer) any {
	out := &claudeOutput{Event: e.Name}
	switch {
	case e.Stage == After && a.Context == "", e.Stage == Before && a.Outcome == Pass:
		return claudeAnswer{}
	case e.Stage == After:
		out.Context = a.Context
	default:
		out.Decision, out.Reason, out.Input = a.Outcome.String(), a.Reason, a.input(e)
	}
	return claudeAnswer{out}
}
