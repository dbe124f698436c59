package cursor

import (
	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// installer are the settings of Cursor that have hooks.
var installer = settings.Agent{
	Agent: &hooks, Home: ".cursor", Project: ".cursor", File: "hooks.json",
	Events: append(settings.Guarding("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"),
		settings.Event{Name: "postToolUse"}),
	Version: 1, Program: "cursor-agent",
	Handler: func(_ settings.Entry, words []string, ev settings.Event) settings.Handler {
		return settings.Handler{Command: settings.CommandLine(words, settings.CommandShell), Timeout: settings.Seconds,
			FailClosed: ev.Guards}
	},
	ManagedDir: settings.Systems{Linux: "/etc/cursor", Darwin: "/Library/Application Support/Cursor",
		Windows: `C:\ProgramData\Cursor`},
	ManagedFiles: []string{"hooks.json"}, UserFiles: []string{"hooks.json"},
	ProjectFiles: []string{".cursor/hooks.json", ".claude/settings.json", ".claude/settings.local.json"},
	Borrows:      &settings.Borrowed{Agent: claudecode.Agent.Hooks, User: true},
	NotHeld: []string{
		"constraints of an MCP server that lists no tools: the events name no server, so a tool counts for every server that lists one of its name",
		"completions (Tab)", "commands in your own terminals",
		"Cursor in the cloud, which has no accessc: a hook of the workspace refuses all there",
	},
	Sample: settings.Sampled("preToolUse", "Shell", "TodoWrite"),
}
