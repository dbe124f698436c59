// Package vscode has what the project knows of VS Code and its agents, as of October 2026
// (code.visualstudio.com/docs/agents/run: approvals, agent-sandboxing; src/vs/platform/agentHost of its repository):
// its settings.json, of which it reads and evaluates the commands that are approved unasked, and which it writes.
//
// What it writes opens nothing unasked that the policy denies, except as its ledger states (see package writer). VS
// Code refuses nothing: it asks a person, and reads the whole workspace without. So edits are approved place by place,
// nothing else is, and the sandbox for commands is on in case that a person permits a command. See decision D283. VS
// Code does not run where this project is tested, so its documentation and its published source are all that the ledger
// rests on.
package vscode

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of VS Code.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
	Targets: []backends.Backend{Backend{}}, Sentences: Sentences,
}
