package compiler

import (
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// serverPrefix begins the configuration paths of servers.
const serverPrefix = ir.ServersTable + "."

// gatherServer reads the table of an MCP server: the keys of a tool whose source is local.
// A draft of the same name in the tables of tools is another draft.
// See decision D136.
func (c *compilation) gatherServer(drafts map[string]*draft, s scope, e *source.Entry, presets []*presetDraft) {
	table := s.table(e.Value, "the table of a server")
	if table == nil {
		return
	}
	d, ok := drafts[s.path]
	if !ok {
		d = newDraft(e.Key, e)
		origin := s.origin(e.At)
		d.server = &origin
		drafts[s.path] = d
	}
	d.extend(presets)
	d.apply(s, table)
}
