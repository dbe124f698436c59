// Package copilot has what the project knows of Copilot CLI: its hooks, which it answers and installs, in the form of
// events that the settings name in camel case (docs.github.com/en/copilot/reference/hooks-reference).
package copilot

import "github.com/accessc/accessc/internal/agents"

// Agent is what the project knows of Copilot CLI.
var Agent = agents.Agent{Hooks: &installer}
