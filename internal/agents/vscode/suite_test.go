package vscode

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"vscode": `{"chat.tools.terminal.autoApprove": {"git": true}}`},
		Bad: map[string][]string{"vscode": {
			`{"chat.tools.terminal.autoAprove": {}}`, `{"chat.tools.terminal.autoApprove": {"git": 7}}`,
		}},
	})
}
