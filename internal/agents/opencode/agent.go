// Package opencode has what the project knows of opencode, as of version 1.18.33: the permissions in its opencode.json,
// which it reads and evaluates. Of the rules that match the last one decides, and the rules of an agent follow those of
// all.
package opencode

import (
	"github.com/accessc/accessc/internal/agents"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Agent is what the project knows of opencode.
var Agent = agents.Agent{
	Formats: []importer.Format{format},
	Hooks:   &installer,
}
