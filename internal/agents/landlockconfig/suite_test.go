package landlockconfig

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{
			"landlockconfig": `{"abi": 6, "pathBeneath": [{"allowedAccess": ["abi.read_execute"], "parent": ["a"]}]}`,
		},
		Bad: map[string][]string{"landlockconfig": {
			`{"ruleset": [{"handledAccessFs": ["excute"]}]}`, `{"ruleset": [{"quiet": ["execute"]}]}`, `{"paths": []}`,
		}},
		Types: func() any { return &Config{} },
	})
}
