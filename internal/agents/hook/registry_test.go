package hook_test

import (
	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/agents/registry"
)

// The tests of this package are about every agent.
func init() {
	for _, a := range registry.Hooks() {
		hook.Agents = append(hook.Agents, a.Agent)
	}
}
