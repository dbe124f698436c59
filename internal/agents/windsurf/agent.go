// Package windsurf has what the project knows of Windsurf: its hooks, which it answers and installs
// (docs.windsurf.com/windsurf/cascade/hooks). A hook can refuse there and nothing else.
package windsurf

import "github.com/accessc/accessc/internal/agents"

// Agent is what the project knows of Windsurf.
var Agent = agents.Agent{Hooks: &installer}
