package fence

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"fence": `{"filesystem": {"denyRead": ["x"]}, "command": {"deny": ["rm -rf"]}, "network": {}}`},
		Bad: map[string][]string{"fence": {
			`{"filesystem": {"denyread": ["a"]}}`, `{"command": {"deny": [" "]}, "network": {}}`, `{"extends": "code"}`,
		}},
	})
}
