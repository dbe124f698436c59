package copilot

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Hooks: &suite.Hooks{
			Events: []string{`{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":{"command":"x"}}`},
			Asks:   []string{"preToolUse"},
		},
	})
}
