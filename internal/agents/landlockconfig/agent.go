package landlockconfig

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of landlockconfig.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
	Targets: []backends.Backend{Backend{}}, Sentences: Sentences,
}
