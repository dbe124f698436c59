// Package cursor has what the project knows of Cursor, as of version 3.23 (cursor.com/docs/reference/sandbox): the
// sandbox.json, which it reads, evaluates and writes.
//
// What it writes opens nothing that the policy denies, except as its ledger states (see package writer). A sandbox.json
// closes nothing inside of a directory that it opens, so a workspace with one exception may be read alone, and all of
// it can be read. The file is about the commands that Cursor's agent runs. Not enforced by these means: reading in the
// workspace, variables, programs, arguments, and limits. Cursor does not run where this project is tested, so its
// documentation is all that the ledger rests on.
package cursor

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of Cursor.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
	Targets: []backends.Backend{Backend{}}, Sentences: Sentences,
	Hooks: &installer,
}
