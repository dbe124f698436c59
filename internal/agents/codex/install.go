package codex

import (
	"fmt"
	"strings"

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
	Boxed:     settings.Toggle{Key: "sandbox_mode", Bad: settings.Is("read-only", "workspace-write")},
	Step:      "Codex skips a hook until you trust it: start codex, enter /hooks, and trust those of accessc; again after every change of them",
	Untrusted: untrusted, TrustKey: "hooks.state",
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

// untrusted looks a hook up in the state that Codex keeps by file, event and place there.
func untrusted(state map[string]any, path, event string, group, at int) string {
	of, _ := state[fmt.Sprintf("%s:%s:%d:%d", path, snake(event), group, at)].(map[string]any)
	switch hash, _ := of["trusted_hash"].(string); {
	case of["enabled"] == false:
		return fmt.Sprintf("Codex has the hook of %s switched off: /hooks switches it on", event)
	case hash == "":
		return fmt.Sprintf("Codex does not trust the hook of %s yet, and skips it: start codex, enter /hooks", event)
	}
	return ""
}

// snake is a name of an event as Codex writes it in its configuration.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}
