package claudecode

import (
	"github.com/accessc/accessc/internal/agents/srt"
)

// Settings is a settings.json, with the members that this package writes.
type Settings struct {
	Permissions Permissions `json:"permissions"` // Claude Code's own tools
	Sandbox     Sandbox     `json:"sandbox"`     // commands
}

// Permissions are the rules for tools. Those that deny win.
type Permissions struct {
	Mode  string   `json:"defaultMode"` // "dontAsk": a call that no rule allows is denied
	Allow []string `json:"allow"`       // TOOL(SPECIFIER)
	Deny  []string `json:"deny"`        // TOOL(SPECIFIER)
}

// Sandbox confines commands.
type Sandbox struct {
	Enabled           bool      `json:"enabled"`                  // always
	FailIfUnavailable bool      `json:"failIfUnavailable"`        // always
	AutoAllow         bool      `json:"autoAllowBashIfSandboxed"` // unless the policy lists programs
	AllowUnsandboxed  bool      `json:"allowUnsandboxedCommands"` // never
	Excluded          []string  `json:"excludedCommands"`         // none
	Network           Network   `json:"network"`                  // hosts
	Filesystem        srt.Lists `json:"filesystem"`               // files
}

// Network are the lists for hosts.
type Network struct {
	Allowed []string `json:"allowedDomains"` // NAME:PORT
	Denied  []string `json:"deniedDomains"`  // of those
}
