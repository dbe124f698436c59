package nono

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"nono": `{"workdir": {"access": "read"}}`},
		Bad: map[string][]string{"nono": {
			`{"workdir": {"access": "all"}}`, `{"command_policies": {"a": 1}}`, `{"groups": {"include": ["deny_all"]}}`,
		}},
	})
}
