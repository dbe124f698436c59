package hook

import (
	"maps"
	"slices"
	"strings"
)

// Target is a tool of an MCP server, by their names in the configuration if it has them.
type Target struct{ Server, Tool string }

// OfServer makes a call that of a server's tool, by the names that the agent gives apart.
func (c *Call) OfServer(server, method string) {
	c.What, c.Server, c.Method, c.joined = Server, server, method, ""
}

// Targets are the tools that a call may be of, given the configured servers with the tools that are listed for each.
// Agents write other characters than those of identifiers as "_", so one name may stand for several servers: all that
// fit count, see decision D145. Where none does, the agent's own reading is the only one.
func (c *Call) Targets(servers map[string][]string) []Target {
	var out []Target
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		for _, method := range c.methods(server, servers[server]) {
			listed := false
			for _, tool := range servers[server] {
				if alike(tool, method) {
					out, listed = append(out, Target{server, tool}), true
				}
			}
			if !listed {
				out = append(out, Target{server, method})
			}
		}
	}
	if len(out) == 0 {
		return []Target{{c.Server, c.Method}}
	}
	return out
}

// methods are the agent's names of the tools that a call may be of if it is one of a server's.
func (c *Call) methods(server string, listed []string) []string {
	switch {
	case c.joined != "":
		return c.parted(server)
	case c.What == Unknown:
		// Some agents join the names by one character.
		rest, of := strings.CutPrefix(strings.TrimPrefix(spelled(c.Tool), "mcp_"), spelled(server)+"_")
		if of && spelled(server) != "" {
			return []string{rest}
		}
	case c.Server != "":
		if alike(c.Server, server) {
			return []string{c.Method}
		}
	case slices.ContainsFunc(listed, func(tool string) bool { return alike(tool, c.Method) }):
		return []string{c.Method} // the agent names no server
	}
	return nil
}

// parted parts a joined name wherever the name of the server stands before, or that of a plugin's or an account's
// server of this name.
func (c *Call) parted(server string) []string {
	var out []string
	for i := 0; i+2 < len(c.joined); i++ {
		if c.joined[i:i+2] != "__" {
			continue
		}
		name := spelled(c.joined[:i])
		brought := strings.HasPrefix(name, "plugin_") || strings.HasPrefix(name, "claude_ai_")
		if name == spelled(server) || brought && strings.HasSuffix(name, "_"+spelled(server)) {
			out = append(out, c.joined[i+2:])
		}
	}
	return out
}

// alike reports whether two names are one in some agent's spelling.
func alike(a, b string) bool { return spelled(a) == spelled(b) }

// spelled is a name in the spelling that those of all agents have in common: lower case, and one "_" for what is
// neither letter nor digit.
func spelled(name string) string {
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), other), "_")
}
