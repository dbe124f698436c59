package codex

import (
	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// installer are the settings of Codex that have hooks. Its configuration comes before its hooks: it says which of them
// the user trusts.
var installer = settings.Agent{
	Agent: &hooks, Home: ".codex", Variable: "CODEX_HOME", Project: ".codex", File: "hooks.json",
	Events:  append(settings.Guarding("PreToolUse", "PermissionRequest"), settings.Event{Name: "PostToolUse"}),
	Grouped: true, Program: "codex",
	Handler: func(_ settings.Entry, words []string, _ settings.Event) settings.Handler {
		return settings.Handler{Type: "command", Command: settings.CommandLine(words, settings.CommandShell),
			Timeout: settings.Seconds}
	},
	Box: "Codex's own sandbox has no room for another, and is on by default: " +
		"start codex --sandbox danger-full-access, so that accessc confines, or install " +
		"with --judge-only, so that Codex does",
	Boxed:        settings.Toggle{Key: "sandbox_mode", Bad: settings.Is("read-only", "workspace-write")},
	Step:         "Codex skips a hook until you trust it: start codex, enter /hooks, and trust those of accessc; again after every change of them",
	Trusts:       true,
	ManagedDir:   settings.Systems{Linux: "/etc/codex", Darwin: "/etc/codex", Windows: `C:\ProgramData\OpenAI\Codex`},
	ManagedFiles: []string{"requirements.toml", "managed_config.toml"},
	UserFiles:    []string{"config.toml", "hooks.json"},
	ProjectFiles: []string{".codex/config.toml", ".codex/hooks.json"},
	Toggles: []settings.Toggle{
		{Key: "features.hooks", Bad: settings.Is(false), Text: settings.SwitchedOff},
		{Key: "features.codex_hooks", Bad: settings.Is(false), Text: settings.SwitchedOff},
		{Key: "allow_managed_hooks_only", Bad: settings.Is(true), Text: settings.OnlyManaged},
		{Key: "approval_policy", Bad: settings.Is("never"), Text: settings.Unasked},
	},
	NotHeld: []string{
		"input to a command that runs already (write_stdin)",
		"web searches, images and other tools of the model's host",
		"a refusal of apply_patch, in versions that do not enforce it (openai/codex#27833)",
		"a hook that fails, is late or is not trusted: Codex goes on",
	},
	Sample: settings.Sampled("PreToolUse", "Bash", "update_plan"),
}
