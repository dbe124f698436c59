package claudecode

import (
	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// installer are the settings of Claude Code that have hooks (code.claude.com/docs/en/settings). The versions are those
// of its CHANGELOG.
var installer = settings.Agent{
	Agent: &hooks, Home: ".claude", Variable: "CLAUDE_CONFIG_DIR", Project: ".claude", File: "settings.json",
	Events: append(settings.Guarding("PreToolUse"), settings.Event{Name: "PostToolUse"},
		settings.Event{Name: "PostToolUseFailure"}),
	Grouped: true, Program: "claude",
	Handler: func(e settings.Entry, words []string, ev settings.Event) settings.Handler {
		h := settings.Handler{Type: "command", Command: e.Program, Args: words[1:], Timeout: settings.Seconds}
		if ev.Guards {
			h.OnFailure = "block"
		}
		return h
	},
	ManagedDir: settings.Systems{Linux: "/etc/claude-code", Darwin: "/Library/Application Support/ClaudeCode",
		Windows: `C:\Program Files\ClaudeCode`},
	ManagedFiles: []string{"managed-settings.json", "managed-settings.d/*.json"}, UserFiles: []string{"settings.json"},
	ProjectFiles: []string{".claude/settings.json", ".claude/settings.local.json"},
	Toggles: []settings.Toggle{
		{Key: "disableAllHooks", Bad: settings.Is(true), Text: settings.SwitchedOff},
		{Key: "allowManagedHooksOnly", Bad: settings.Is(true), Text: settings.OnlyManaged},
		{
			Key: "strictPluginOnlyCustomization", Bad: settings.Either(settings.Is(true), settings.Has("hooks")),
			Text: settings.OnlyManaged,
		},
		{Key: "permissions.defaultMode", Bad: settings.Is("bypassPermissions"), Text: settings.Unasked},
		{Key: "permissions.allow", Bad: settings.ListsText("*"), Text: settings.Unasked},
	},
	Switches: []string{"CLAUDE_CODE_SIMPLE"},
	CommandKeys: []string{
		"apiKeyHelper", "statusLine", "subagentStatusLine", "fileSuggestion", "awsAuthRefresh", "awsCredentialExport",
		"gcpAuthRefresh",
		"otelHeadersHelper",
	},
	PluginKeys: []string{"enabledPlugins", "extraKnownMarketplaces"}, VariablesKey: "env",
	Heads: []string{".claude/agents/*.md", ".claude/agents/*/*.md", ".claude/skills/*/SKILL.md",
		".claude/commands/*.md"},
	NotHeld: []string{
		"files that a prompt names with @, which are read without a tool", "commands that you type behind !",
		"searches that the model's host makes, and its other tools there",
		"constraints of an MCP server that the agent calls by a name of its own: a plugin's, an account's, a shortened one",
		"claude --bare and --dangerously-skip-permissions, which no file shows",
	},
	Since: []settings.Since{
		{Version: [3]int{2, 1, 139}, Fault: "starts the hook without its flags"},
		{Version: [3]int{2, 1, 295}, Fault: "uses a tool although its hook has failed"},
	},
	Sample: settings.Sampled("PreToolUse", "Bash", "TodoWrite"),
}
