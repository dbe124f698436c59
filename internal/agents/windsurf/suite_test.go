package windsurf

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Hooks: &suite.Hooks{
			Events: []string{`{"agent_action_name":"pre_run_command","trajectory_id":"s","tool_info":{"command_line":"x"}}`},
		},
	})
}
