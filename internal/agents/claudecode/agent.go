// Package claudecode has what the project knows of Claude Code, as of version 2.1.330: the settings.json of a project
// or a user, which it reads, evaluates and writes.
//
// What it writes opens nothing that the policy denies, except as its ledger states (see package writer). Two parts of
// the settings say the same: the sandbox, which confines commands, and the permissions, which are about the tools that
// Claude Code itself reads and writes files with. An access that no rule permits is refused without a question. Not
// enforced by these means: variables that no rule names, which programs commands start, and limits.
package claudecode

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of Claude Code.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
	Targets: []backends.Backend{Backend{}}, Sentences: Sentences,
	Hooks: &installer,
}
