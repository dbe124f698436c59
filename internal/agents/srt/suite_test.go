package srt

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"srt": `{"filesystem": {"allowWrite": ["."]}, "network": {"allowedDomains": []}}`},
		Bad: map[string][]string{"srt": {
			`{"filesystem": {}}`, `{"filesystem": {"denyread": []}, "network": {}}`, `{"filesystem": {}, "network": {}, "files": {}}`,
		}},
		Types: func() any { return &Settings{} },
	})
}
