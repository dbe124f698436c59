// Package fence has what the project knows of fence, as of version 0.1.66: its fence.json with the files that it
// extends, which it reads and evaluates. Everything that denies wins.
package fence

import (
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of fence.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
}
