package gemini

import (
	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// installer are the settings of Gemini CLI that have hooks.
var installer = settings.Agent{
	Agent: &hooks, Home: ".gemini", Variable: "GEMINI_CLI_HOME", Under: ".gemini", Project: ".gemini",
	File:   "settings.json",
	Events: append(settings.Guarding("BeforeTool"), settings.Event{Name: "AfterTool"}), Grouped: true,
	Program: "gemini",
	Handler: func(_ settings.Entry, words []string, _ settings.Event) settings.Handler {
		return settings.Handler{Name: "accessc", Type: "command",
			Command: settings.CommandLine(words, settings.PowerShell), Timeout: settings.Seconds * 1000}
	},
	ManagedDir: settings.Systems{Linux: "/etc/gemini-cli", Darwin: "/Library/Application Support/GeminiCli",
		Windows: `C:\ProgramData\gemini-cli`},
	ManagedFiles: []string{"settings.json", "system-defaults.json"}, UserFiles: []string{"settings.json"},
	ProjectFiles: []string{".gemini/settings.json", ".gemini/extensions/*/hooks/hooks.json"},
	Toggles: []settings.Toggle{
		{Key: "hooksConfig.enabled", Bad: settings.Is(false), Text: settings.SwitchedOff},
		{Key: "hooksConfig.disabled", Bad: settings.Has("accessc"), Text: "switches the hook off"},
		{Key: "tools.enableHooks", Bad: settings.Is(false), Text: settings.SwitchedOff},
		{Key: "hooks.enabled", Bad: settings.Is(false), Text: settings.SwitchedOff},
		{Key: "hooks.disabled", Bad: settings.Has("accessc"), Text: "switches the hook off"},
		{Key: "defaultApprovalMode", Bad: settings.Is("yolo"), Text: settings.Unasked},
		{Key: "general.defaultApprovalMode", Bad: settings.Is("yolo"), Text: settings.Unasked},
	},
	CommandKeys:   []string{"tools.discoveryCommand", "tools.callCommand"},
	VariableFiles: []string{".gemini/.env", ".env"},
	NotHeld: []string{
		"files that a prompt names with @", "commands that you type behind !",
		"a hook that fails or is late: Gemini CLI goes on",
		"a hook of the workspace in a folder that is not trusted", "searches that the model's host makes",
		"gemini --yolo, which no file shows",
	},
	Sample: settings.Sampled("BeforeTool", "run_shell_command", "write_todos"),
}
