// Package devcontainer has what the project knows of development containers, as of their specification of 2026-03-17:
// the devcontainer.json, of which it reads and evaluates the mounts, the variables and the network.
package devcontainer

import (
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of development containers.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
}
