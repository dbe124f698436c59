package settings_test

import (
	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/hook/settings"
	"github.com/accessc/accessc/internal/agents/registry"
)

// The tests of this package are about every agent.
func init() { settings.SetAgents(registry.Hooks(), claudecode.Agent.Hooks) }
