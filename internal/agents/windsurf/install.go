package windsurf

import (
	"path/filepath"
	"runtime"

	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// installer are the settings of Windsurf that have hooks.
var installer = settings.Agent{
	Agent: &hooks, Home: filepath.Join(".codeium", "windsurf"), Project: ".windsurf", File: "hooks.json",
	Events:  settings.Guarding("pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use"),
	Program: "windsurf",
	Handler: func(_ settings.Entry, words []string, _ settings.Event) settings.Handler {
		if runtime.GOOS == "windows" {
			return settings.Handler{PowerShell: settings.CommandLine(words, settings.PowerShell), ShowOutput: true}
		}
		return settings.Handler{Command: settings.CommandLine(words, settings.PowerShell), ShowOutput: true}
	},
	ManagedDir: settings.Systems{Linux: "/etc/windsurf", Darwin: "/Library/Application Support/Windsurf",
		Windows: `C:\ProgramData\Windsurf`},
	ManagedFiles: []string{"hooks.json"}, UserFiles: []string{"hooks.json"},
	ProjectFiles: []string{".windsurf/hooks.json"},
	NotHeld: []string{
		"tools without an event: searches, the browser",
		"a hook that fails otherwise than by status 2: Windsurf goes on",
	},
	Sample: func(dir, command string) (refused, passed []byte) {
		write := func(event string, info map[string]any) []byte {
			return settings.Marshal(map[string]any{"agent_action_name": event, "trajectory_id": "doctor",
				"execution_id": "doctor", "tool_info": info})
		}
		return write("pre_run_command", map[string]any{"command_line": command, "cwd": dir}),
			write("pre_read_code", map[string]any{"file_path": filepath.Join(dir, "README.md")})
	},
	Harmless: "read a file of the workspace",
}
