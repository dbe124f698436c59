// Package nono has what the project knows of nono, as of version 0.66.0: its profiles, which it reads and evaluates.
// The groups of a profile are known by name; a group that may deny and is not known stops an import.
package nono

import (
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of nono.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
}
