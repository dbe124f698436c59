package cursor

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"cursor": `{"type": "workspace_readwrite"}`},
		Bad: map[string][]string{"cursor": {
			`{"type": "workspace"}`, `{"netwrkPolicy": {}}`, `{"networkPolicy": {"allowed": []}}`,
		}},
		Types: func() any { return &Settings{} },
		Hooks: &suite.Hooks{
			Events: []string{
				`{"conversation_id":"s","cwd":"/w","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"x"}}`,
				`{"conversation_id":"s","cwd":"/w","hook_event_name":"beforeShellExecution","command":"x"}`,
			},
			Asks: []string{"beforeShellExecution"},
		},
	})
}
