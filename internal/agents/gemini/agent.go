// Package gemini has what the project knows of Gemini CLI, as of version 0.61.0: the files of its policy engine, which
// it reads and writes, and the lists of tools in its settings.json, which it reads.
//
// What it writes opens nothing that the policy denies, except as its ledger states (see package writer). A rule is
// about a call of one of the agent's tools, by the text of its arguments. So the tools that take one path are held
// place by place, and all others are refused. A command is asked about if the policy lets its program start, and
// refused otherwise: Gemini CLI's own sandbox lets commands read every file. See decision D283.
//
// Rules are regular expressions, and Gemini CLI leaves out one that it takes for dangerous. None here has a quantifier
// behind a group, or more than 2048 characters.
package gemini

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of Gemini CLI.
var Agent = agents.Agent{
	Formats: []importer.Format{policiesFormat, settingsFormat},
	Targets: []backends.Backend{Backend{}}, Sentences: Sentences,
	Hooks: &installer,
}
