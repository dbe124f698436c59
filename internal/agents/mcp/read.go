// Package mcp reads lists of MCP servers in the settings of several clients: of Claude, Cursor, VS Code, Zed, opencode
// and others, each of which keeps them under a key of its own. A list says which servers start and not what they may
// do, so its evaluation permits everything; the tables of the servers confine them.
package mcp

import (
	"slices"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
)

// Format is the format of documents that have a list of servers and are not recognised as another one of some, which
// read their servers by themselves.
func Format(others []importer.Format) importer.Format {
	return importer.Format{
		Name: "mcp", Version: "2026-07-28", Several: true,
		Looks: func(d *importer.Document) bool {
			looks := func(f importer.Format) bool { return f.Looks(d) }
			return !slices.ContainsFunc(others, looks) && len(serverTables(d.FromJSON(d.Root))) > 0
		},
		Read: read,
	}
}

// serverTables are the tables of servers in settings, each under the key of some client: mcpServers (Claude, Cursor,
// Gemini CLI and others), servers, also in mcp (VS Code), context_servers (Zed), mcp (opencode).
func serverTables(root *importer.Tree) []*importer.Tree {
	var out []*importer.Tree
	for _, key := range []string{"mcpServers", "servers", "context_servers"} {
		if n := root.Member(key); n != nil {
			out = append(out, n)
		}
	}
	mcp := root.Member("mcp")
	within := mcp.Member("servers")
	isServer := func(n *importer.Tree) bool { return n.Member("command") != nil || n.Member("url") != nil }
	switch {
	case within != nil && within.Kind == '{' && !isServer(within):
		out = append(out, within)
	case mcp != nil && mcp.Kind == '{' && slices.ContainsFunc(mcp.Items, isServer):
		out = append(out, mcp)
	}
	return out
}

// read reads the tables of servers. Other keys at the top are those of an editor or an agent, and are named.
func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	for _, d := range docs {
		root := d.FromJSON(d.Root)
		found := serverTables(root)
		if len(found) == 0 {
			d.Fault(0, "there is no table of servers: mcpServers, servers, context_servers, mcp or mcp.servers")
		}
		for _, n := range found {
			t.ServerTable(d, n)
		}
		for _, item := range root.Items {
			switch holds := func(n *importer.Tree) bool {
				return n.Line == item.Line && n.Col == item.Col ||
					item.Key == "mcp"
			}; {
			case slices.ContainsFunc(found, holds):
			case item.Key == "$schema":
				t.Noted(d, item, item.Key, "").Become(importer.LeftOut, "it is for editors")
			case item.Key == "inputs":
				t.Noted(d, item, item.Key, "").Become(importer.LeftOut, "its values are the client's to ask for")
			default:
				t.Noted(d, item, item.Key, "").Become(importer.LeftOut, "it is no table of servers")
			}
		}
	}
	return foreign.Unconfined{}
}
