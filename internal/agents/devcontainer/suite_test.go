package devcontainer

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"devcontainer": `{"image": "x"}`}, In: ".devcontainer",
		Bad: map[string][]string{"devcontainer": {`{"mount": []}`, `{"runArgs": ["--read-only"]}`}},
	})
}
