package vscode

import (
	"bytes"

	"github.com/accessc/accessc/backends"
)

// Settings are those of a settings.json that this package writes.
type Settings struct {
	Level     string   `json:"chat.permissions.default"`                           // "default": a person is asked
	Global    bool     `json:"chat.tools.global.autoApprove"`                      // never
	Terminal  bool     `json:"chat.tools.terminal.enableAutoApprove"`              // no command is approved
	NoDefault bool     `json:"chat.tools.terminal.ignoreDefaultAutoApproveRules"`  // always
	Commands  struct{} `json:"chat.tools.terminal.autoApprove"`                    // none
	Scripts   bool     `json:"chat.tools.terminal.autoApproveWorkspaceNpmScripts"` // never
	Writes    string   `json:"chat.tools.terminal.blockDetectedFileWrites"`        // "all"
	Edits     Patterns `json:"chat.tools.edits.autoApprove"`                       // the places that may be written
	URLs      struct{} `json:"chat.tools.urls.autoApprove"`                        // none
	Filter    bool     `json:"chat.agent.networkFilter"`                           // always
	Allowed   []string `json:"chat.agent.allowedNetworkDomains"`                   // none: entries have no ports
	Denied    []string `json:"chat.agent.deniedNetworkDomains"`                    // none
	Sandbox   string   `json:"chat.agent.sandbox.enabled"`                         // "on"
	Unasked   bool     `json:"chat.agent.sandbox.allowAutoApprove"`                // never
	Outside   bool     `json:"chat.agent.sandbox.allowUnsandboxedCommands"`        // never
	Network   bool     `json:"chat.agent.sandbox.network.allowNetwork"`            // never
	Local     bool     `json:"chat.agent.sandbox.network.allowLocalNetwork"`       // never
	Tools     bool     `json:"chat.agent.sandbox.fileSystem.allowDevToolAccess"`   // never: it has tokens
	Paths     Paths    `json:"chat.agent.sandbox.fileSystem.userConfiguredPaths"`  // of the sandbox
	Git       bool     `json:"chat.agent.sandbox.credentials.authenticategit"`     // never
	GitHub    bool     `json:"chat.agent.sandbox.credentials.authenticategh"`      // never
}

// Paths are those of the sandbox, absolute, beside the workspace that may be written.
type Paths struct {
	Write  []string `json:"readwritePaths"` // opened
	Read   []string `json:"readonlyPaths"`  // for reading
	Closed []string `json:"deniedPaths"`    // in others
}

// Pattern is a pattern of absolute paths, and whether edits of such files are approved.
type Pattern struct {
	Glob     string // with "**" for directories
	Approved bool   // unasked
}

// Patterns are an object whose order counts: of those that match the last one decides.
type Patterns []Pattern

// MarshalJSON implements json.Marshaler.
func (p Patterns) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, one := range p {
		b.WriteByte("{,"[min(i, 1)])
		key, err := backends.Compact(one.Glob)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteString(map[bool]string{true: ":true", false: ":false"}[one.Approved])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
