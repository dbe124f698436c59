package opencode

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"opencode": `{"permission": {"bash": {"*": "ask"}}}`},
		Bad:  map[string][]string{"opencode": {`{"permission": {"bash": "maybe"}}`, `{"permisson": "ask"}`, `{"mode": {}}`}},
		Hooks: &suite.Hooks{
			Events:     []string{`{"event":"before","sessionID":"s","cwd":"/w","tool":"bash","args":{"command":"x"}}`},
			PassAllows: true,
		},
	})
}
