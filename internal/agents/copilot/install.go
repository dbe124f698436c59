package copilot

import (
	"path/filepath"
	"runtime"

	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// installer are the settings of Copilot CLI that have hooks.
var installer = settings.Agent{
	Agent: &hooks, Home: ".copilot", Variable: "COPILOT_HOME", Project: ".github",
	File:   filepath.Join("hooks", "accessc.json"),
	Events: append(settings.Guarding("preToolUse"), settings.Event{Name: "postToolUse"}), Version: 1,
	Program: "copilot",
	Handler: func(_ settings.Entry, words []string, _ settings.Event) settings.Handler {
		h := settings.Handler{Type: "command", TimeoutSec: settings.Seconds}
		if runtime.GOOS == "windows" {
			h.PowerShell = settings.CommandLine(words, settings.PowerShell)
		} else {
			h.Bash = settings.CommandLine(words, settings.PowerShell)
		}
		return h
	},
	ManagedDir: settings.Systems{Linux: "/etc/github-copilot/policy.d", Darwin: "/etc/github-copilot/policy.d",
		Windows: `C:\ProgramData\GitHub\Copilot\policy.d`},
	ManagedFiles: []string{"*.json"}, UserFiles: []string{"settings.json", "config.json", "hooks/*.json"},
	ProjectFiles: []string{
		".github/copilot/settings.json", ".github/copilot/settings.local.json", ".github/hooks/*.json",
		".claude/settings.json", ".claude/settings.local.json",
	},
	Toggles:  []settings.Toggle{{Key: "disableAllHooks", Bad: settings.Is(true), Text: settings.SwitchedOff}},
	Switches: []string{"COPILOT_ALLOW_ALL"},
	Borrows:  &settings.Borrowed{Agent: claudecode.Agent.Hooks},
	NotHeld: []string{
		"files that a prompt names with @", "commands that you type behind !",
		"a hook that is late: Copilot goes on; accessc refuses after half of the limit",
		"Copilot in the cloud, which has no accessc: a hook of the workspace refuses all there",
	},
	Sample: func(dir, command string) (refused, passed []byte) {
		write := func(tool string, args map[string]any) []byte {
			return settings.Marshal(map[string]any{"sessionId": "doctor", "timestamp": 0, "cwd": dir, "toolName": tool,
				"toolArgs": args})
		}
		return write("bash", map[string]any{"command": command}), write("update_todo", map[string]any{})
	},
}
