package settings

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/accessc/accessc/internal/agents/hook"
)

// Agent is an agent whose settings are known.
type Agent struct {
	*hook.Agent
	// home is the directory of settings in the user's home, project the one in a workspace. A
	// variable names another place than home, below which the directory is under.
	home, variable, under, project string
	file                           string
	// events are the events that hooks are for.
	events []event
	// grouped is true where hooks stand in groups that have a matcher.
	grouped bool
	// version is the number that the document must have, 0 for none.
	version int
	// handler is the hook itself for an event.
	handler func(e Entry, words []string, ev event) handler
	// plugin is true where the hook is a program.
	plugin bool
	// step is the user's task after an installation, empty for none.
	step string
	// box is the user's choice between the agent's own sandbox and accessc's, empty without any.
	box string
	// program is the agent's own.
	program string
}

// event is an event of an agent. The agent waits for the answer to one that guards.
type event struct {
	name   string
	guards bool
}

func guarding(names ...string) []event {
	out := make([]event, 0, len(names))
	for _, name := range names {
		out = append(out, event{name, true})
	}
	return out
}

// seconds is the time limit in the settings.
const seconds = int(hook.Limit / 1e9)

// handler is a hook in any agent's form.
type handler struct {
	Name       string   `json:"name,omitempty"`
	Type       string   `json:"type,omitempty"`
	Command    string   `json:"command,omitempty"`
	Bash       string   `json:"bash,omitempty"`
	PowerShell string   `json:"powershell,omitempty"`
	Args       []string `json:"args,omitempty"`
	Timeout    int      `json:"timeout,omitempty"`
	TimeoutSec int      `json:"timeoutSec,omitempty"`
	OnFailure  string   `json:"onFailure,omitempty"`
	FailClosed bool     `json:"failClosed,omitempty"`
	ShowOutput bool     `json:"show_output,omitempty"`
}

// everyTool is the matcher of groups.
const everyTool = "*"

var agents = []*Agent{
	{
		Agent: of("claude-code"), home: ".claude", variable: "CLAUDE_CONFIG_DIR", project: ".claude", file: "settings.json",
		events: append(guarding("PreToolUse"), event{name: "PostToolUse"}, event{name: "PostToolUseFailure"}), grouped: true, program: "claude",
		handler: func(e Entry, words []string, ev event) handler {
			h := handler{Type: "command", Command: e.Program, Args: words[1:], Timeout: seconds}
			if ev.guards {
				h.OnFailure = "block"
			}
			return h
		},
	},
	{
		Agent: of("codex"), home: ".codex", variable: "CODEX_HOME", project: ".codex", file: "hooks.json",
		events: append(guarding("PreToolUse", "PermissionRequest"), event{name: "PostToolUse"}), grouped: true, program: "codex",
		handler: func(_ Entry, words []string, _ event) handler {
			return handler{Type: "command", Command: line(words, cmd), Timeout: seconds}
		},
		box: "Codex's own sandbox has no room for another, and is on by default: " +
			"start codex --sandbox danger-full-access, so that accessc confines, or install " +
			"with --judge-only, so that Codex does",
		step: "Codex skips a hook until you trust it: start codex, enter /hooks, and trust those of accessc; again after every change of them",
	},
	{
		Agent: of("copilot"), home: ".copilot", variable: "COPILOT_HOME", project: ".github", file: filepath.Join("hooks", "accessc.json"),
		events: append(guarding("preToolUse"), event{name: "postToolUse"}), version: 1, program: "copilot",
		handler: func(_ Entry, words []string, _ event) handler {
			h := handler{Type: "command", TimeoutSec: seconds}
			if runtime.GOOS == "windows" {
				h.PowerShell = line(words, powerShell)
			} else {
				h.Bash = line(words, powerShell)
			}
			return h
		},
	},
	{
		Agent: of("cursor"), home: ".cursor", project: ".cursor", file: "hooks.json",
		events:  append(guarding("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"), event{name: "postToolUse"}),
		version: 1, program: "cursor-agent",
		handler: func(_ Entry, words []string, ev event) handler {
			return handler{Command: line(words, cmd), Timeout: seconds, FailClosed: ev.guards}
		},
	},
	{
		Agent: of("gemini"), home: ".gemini", variable: "GEMINI_CLI_HOME", under: ".gemini", project: ".gemini", file: "settings.json",
		events: append(guarding("BeforeTool"), event{name: "AfterTool"}), grouped: true, program: "gemini",
		handler: func(_ Entry, words []string, _ event) handler {
			return handler{Name: "accessc", Type: "command", Command: line(words, powerShell), Timeout: seconds * 1000}
		},
	},
	{
		Agent: of("opencode"), home: filepath.Join(".config", "opencode"), variable: "XDG_CONFIG_HOME", under: "opencode", project: ".opencode", file: filepath.Join("plugins", "accessc.js"),
		plugin: true, program: "opencode",
	},
	{
		Agent: of("windsurf"), home: filepath.Join(".codeium", "windsurf"), project: ".windsurf", file: "hooks.json",
		events: guarding("pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use"), program: "windsurf",
		handler: func(_ Entry, words []string, _ event) handler {
			if runtime.GOOS == "windows" {
				return handler{PowerShell: line(words, powerShell), ShowOutput: true}
			}
			return handler{Command: line(words, powerShell), ShowOutput: true}
		},
	},
}

// of is the agent of a name, which there is.
func of(name string) *hook.Agent {
	a, _ := hook.Find(name)
	return a
}

// For returns the settings of an agent.
func For(a *hook.Agent) *Agent {
	return agents[slices.IndexFunc(agents, func(s *Agent) bool { return s.Agent == a })]
}

// Box is the user's choice between the agent's own sandbox and that of commands which run confined, empty without any.
func (a *Agent) Box() string { return a.box }

// Step is the user's task after an installation, empty for none.
func (a *Agent) Step() string { return a.step }

// Places are where the settings of agents lie.
type Places struct {
	// Home is the user's home, Workspace the root of a workspace.
	Home, Workspace string
	// Getenv reads a variable.
	Getenv func(string) string
}

// dir is the directory of the user's settings.
func (p Places) dir(a *Agent) string {
	if a.variable != "" {
		if dir := p.Getenv(a.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, a.under)
		}
	}
	return filepath.Join(p.Home, a.home)
}

// User is the file of the user's settings.
func (p Places) User(a *Agent) string { return filepath.Join(p.dir(a), a.file) }

// Project is the file of a workspace's settings.
func (p Places) Project(a *Agent) string { return filepath.Join(p.Workspace, a.project, a.file) }

// Program is the name of the agent's own program.
func (a *Agent) Program() string { return a.program }

// since are the first versions of Claude Code (its CHANGELOG) that obey a part of the entry, and the
// fault of earlier ones.
var since = []struct {
	version [3]int
	text    string
}{
	{[3]int{2, 1, 139}, "starts the hook without its flags"},
	{[3]int{2, 1, 295}, "uses a tool although its hook has failed"},
}

// TooOld is the reason why a version of the agent does not obey the hook, empty without one.
func (a *Agent) TooOld(version string) string {
	var have [3]int
	if n, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); a.Name != "claude-code" || n < len(have) || err != nil {
		return ""
	}
	for _, s := range since {
		if slices.Compare(have[:], s.version[:]) < 0 {
			return fmt.Sprintf("Claude Code %s %s; %d.%d.%d is the first that does not", version, s.text, s.version[0], s.version[1], s.version[2])
		}
	}
	return ""
}
