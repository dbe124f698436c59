package claudecode

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"claude-code": `{"permissions": {"allow": ["Bash(ls:*)"]}}`},
		Bad: map[string][]string{"claude-code": {
			`{"permissions": {"alow": []}}`, `{"permissions": {"allow": ["Bash(x"]}}`, `{"sandbox": {"filesystem": {"denyread": []}}}`,
		}},
		Types: func() any { return &Settings{} },
		Hooks: &suite.Hooks{
			Events: []string{
				`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x","n":1}}`,
			},
			Asks: []string{"PreToolUse"},
		},
	})
}
