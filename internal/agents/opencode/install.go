package opencode

import (
	"path/filepath"

	"github.com/accessc/accessc/internal/agents/hook/settings"
)

// installer are the plugin of accessc for opencode, and the settings of opencode.
var installer = settings.Agent{
	Agent: &hooks, Home: filepath.Join(".config", "opencode"), Variable: "XDG_CONFIG_HOME", Under: "opencode",
	Project: ".opencode", File: filepath.Join("plugins", "accessc.js"), Plugin: plugin, Program: "opencode",
	ManagedDir: settings.Systems{Linux: "/etc/opencode", Darwin: "/Library/Application Support/opencode",
		Windows: `C:\ProgramData\opencode`},
	ManagedFiles: []string{"opencode.json", "opencode.jsonc"},
	UserFiles:    []string{"opencode.json", "opencode.jsonc", "plugins/accessc.js"},
	ProjectFiles: []string{
		"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc",
		".opencode/plugin/*.[jt]s", ".opencode/plugins/*.[jt]s", ".opencode/tool/*.[jt]s", ".opencode/tools/*.[jt]s",
	},
	Toggles: []settings.Toggle{
		{Key: "permission", Bad: settings.Is("allow"), Text: settings.Unasked},
		{Key: "permission.*", Bad: settings.Is("allow"), Text: settings.Unasked},
	},
	Switches: []string{"OPENCODE_PURE"},
	NotHeld: []string{
		"commands that you type behind !", "other plugins, which run in the same process",
		"opencode --pure, which loads no plugin, and a plugin that it cannot load",
	},
	Sample: func(dir, command string) (refused, passed []byte) {
		write := func(tool string, args map[string]any) []byte {
			return settings.Marshal(map[string]any{"event": "before", "sessionID": "doctor", "callID": "doctor",
				"cwd": dir, "tool": tool, "args": args})
		}
		return write("bash", map[string]any{"command": command}), write("todowrite", map[string]any{})
	},
}
