package agents

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/hook/settings"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of one foreign program. Each package below this one that is named after a program
// gives one value, package registry lists them, and everything else has them from there. A part that is empty is one
// that the program has no counterpart of, or that nobody has written.
type Agent struct {
	// Formats are the settings that policies are imported from.
	Formats []importer.Format
	// Targets are the settings that policies are compiled into, and Sentences puts the causes of their ledgers into
	// words.
	Targets   []backends.Backend
	Sentences func() backends.Sentences
	// Hooks are the program's hooks: how they are answered, and the settings that name them.
	Hooks *settings.Agent
}
