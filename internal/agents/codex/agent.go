// Package codex has what the project knows of Codex, as of version 0.169.0: its config.toml, of which it reads the
// permission profile or the sandbox mode that is in force and writes a profile, and its rules for commands, which it
// reads.
//
// What it writes opens nothing that the policy denies, except as its ledger states (see package writer). Of the entries
// around a path the deepest decides, so places nest as in the policy. A profile opens nothing that it does not name.
// Not enforced by these means: which programs start and with which arguments, and limits. Variables are withheld by
// Codex itself, from the commands that its agent starts.
package codex

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of Codex.
var Agent = agents.Agent{
	Formats: []importer.Format{configFormat, rulesFormat},
	Targets: []backends.Backend{Backend{}}, Sentences: Sentences,
	Hooks: &installer,
}
