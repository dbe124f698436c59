package claudecode

import (
	"os"
	"time"

	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/agents/hook"
)

// hooks are the hooks of Claude Code, with the time limit of code.claude.com/docs/en/hooks (2.1.330).
var hooks = hook.Agent{
	Name: "claude-code", Title: "Claude Code", Default: 600 * time.Second, Tells: true, Tools: hookTools,
	Read: readEvent, Write: WriteAnswer,
}

// HookForm is that of Claude Code's events (code.claude.com/docs/en/hooks, 2.1.330). A tool that
// has failed is told of by an event of its own.
var HookForm = hook.Form{
	Event: "hook_event_name", Session: "session_id", Dir: "cwd", ID: "tool_use_id", Tool: "tool_name",
	Input: "tool_input", Agent: "agent_type", AgentID: "agent_id",
	Stages: map[string]hook.Stage{"PreToolUse": hook.Before, "PostToolUse": hook.After,
		"PostToolUseFailure": hook.After},
}

// hookTools are the tools of Claude Code. Shell is the name in Cursor, which runs the hooks of
// Claude Code's settings as well.
var hookTools = hook.Plain(map[string]hook.Tool{
	"Bash": hook.ShellTool("command"), "Shell": hook.ShellTool("command"),
	"PowerShell": {What: hook.Shell, Members: []string{"command"}, Foreign: true},
	"Read":       hook.Reads("file_path"), "Write": hook.Edits("file_path"), "Edit": hook.Edits("file_path"),
	"MultiEdit":    hook.Edits("file_path"),
	"NotebookRead": hook.Reads("notebook_path"), "NotebookEdit": hook.Edits("notebook_path"),
	"LS": hook.Lists("path"), "Glob": hook.Globs("pattern", "path"), "Grep": hook.Greps("path"),
	"WebFetch": hook.Fetches("url"),
}, "Agent", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite",
	"AskUserQuestion", "ToolSearch",
	"EnterPlanMode", "ExitPlanMode", "Skill", "BashOutput", "KillShell", "WebSearch", "ListMcpResourcesTool")

func readEvent(a *hook.Agent, v strictjson.Value) (*hook.Event, error) {
	e, _, err := HookForm.Call(a, v)
	if err != nil {
		return nil, err
	}
	e.Asks, e.Rewrites, e.Project = true, true, os.Getenv("CLAUDE_PROJECT_DIR")
	e.Chosen, e.Failed = e.Project == "", e.Name == "PostToolUseFailure"
	return e, nil
}

// HookAnswer is the document of Claude Code and Codex.
type HookAnswer struct {
	Output *HookOutput `json:"hookSpecificOutput,omitempty"`
}

// HookOutput is the part of it that is about the event.
type HookOutput struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    hook.Raw        `json:"updatedInput,omitempty"`
	Context  string          `json:"additionalContext,omitempty"`
	Request  *RequestOutcome `json:"decision,omitempty"`
}

// WriteAnswer answers nothing where the policy has no objection: the agent's own settings decide.
func WriteAnswer(e *hook.Event, a *hook.Answer) any {
	out := &HookOutput{Event: e.Name}
	switch {
	case e.Stage == hook.After && a.Context == "", e.Stage == hook.Before && a.Outcome == hook.Pass:
		return HookAnswer{}
	case e.Stage == hook.After:
		out.Context = a.Context
	default:
		out.Decision, out.Reason, out.Input = a.Outcome.String(), a.Reason, a.Input(e)
	}
	return HookAnswer{out}
}

// RequestOutcome answers a question that a person would be asked.
type RequestOutcome struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}
