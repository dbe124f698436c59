package ir

import (
	"cmp"
	"strings"
)

// Served are the tools of a program whose source is an MCP server, by their names there. Without any, all tools of the
// server may be called. Of two tools with the same name the later tool counts.
func Served(tools []*Tool, server string) map[string]*Tool {
	out := map[string]*Tool{}
	for _, t := range tools {
		if t.Source.Kind != SourceMCP {
			continue
		}
		rest, of := strings.CutPrefix(t.Source.Detail, server)
		if !of || rest != "" && rest[0] != '.' {
			continue
		}
		out[cmp.Or(strings.TrimPrefix(rest, "."), t.Name)] = t
	}
	return out
}
