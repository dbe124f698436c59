package gemini

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{
			"gemini":          "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n",
			"gemini-settings": `{"tools": {"allowed": ["run_shell_command(git)"]}}`,
		},
		Bad: map[string][]string{
			"gemini": {
				"[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"maybe\"\npriority = 1\n",
				"[[rule]]\ntool = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n", "[[safety_checker]]\n",
			},
			"gemini-settings": {`{"tools": {"alowed": []}}`, `{"tols": {}}`},
		},
		Hooks: &suite.Hooks{
			Events: []string{
				`{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"x"}}`,
			},
		},
	})
}
