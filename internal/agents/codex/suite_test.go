package codex

import (
	"testing"

	"github.com/accessc/accessc/internal/agents/suite"
)

// TestSuite holds the package to the suite of foreign programs.
func TestSuite(t *testing.T) {
	suite.Run(t, &Agent, suite.Given{
		Good: map[string]string{"codex": "sandbox_mode = \"read-only\"\n", "codex-rules": `prefix_rule(pattern=["ls"])`},
		Bad: map[string][]string{
			"codex": {
				"sandbox_mode = \"none\"\n", "sandbox_mode = \"read-only\"\nsandbox = 1\n",
				"default_permissions = \"p\"\n[permissions.p]\nfiles = 1\n",
			},
			"codex-rules": {`load("x")`, `prefix_rule(pattern=["a"] + ["b"])`, `prefix_rule(pattern=["a"], decide="allow")`},
		},
		Hooks: &suite.Hooks{
			Events: []string{
				`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x","n":1}}`,
				`{"session_id":"s","cwd":"/w","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x","n":1}}`,
			},
			Silent: []string{"PermissionRequest"}, BareAllow: true,
		},
	})
}
