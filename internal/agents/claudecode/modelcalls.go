package claudecode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Calls implements Caller. Claude Code joins both names to mcp__SERVER__TOOL, which rules name with stars or without; a
// rule that is the beginning mcp__SERVER is about all tools (code.claude.com/docs/en/permissions#mcp).
func (c *Model) Calls(server, tool string) bool {
	if c.Mode == "plan" || c.StopsCall(server, tool) {
		return false
	}
	return c.Mode == "bypassPermissions" || slices.ContainsFunc(c.Allow, func(r ToolRule) bool {
		return (r.Spec == "" || r.Spec == "*") && r.names(server, tool)
	})
}

// StopsCall implements Caller.
func (c *Model) StopsCall(server, tool string) bool {
	return slices.ContainsFunc(slices.Concat(c.Deny, c.Ask), func(r ToolRule) bool { return r.names(server, tool) })
}

// names reports whether a rule is about a tool of a server.
func (r ToolRule) names(server, tool string) bool {
	if !strings.HasPrefix(r.Tool, "mcp__") {
		return false
	}
	parts, begin := strings.Split(r.Tool, "*"), "mcp__"+server
	return foreign.Wildcard(parts, begin+"__"+tool) || foreign.Wildcard(parts, begin) ||
		foreign.Wildcard(parts, begin+"__")
}
