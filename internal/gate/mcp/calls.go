package mcp

import "github.com/accessc/accessc/internal/gate/invocations"

// Count adds a call of a tool, and returns the reason why constraints refuse it, if they do.
func (p *Policy) Count(made invocations.Counts, tool string) string {
	if why := made.Invoke("the server", p.Server, p.Constraints, p.entry); why != "" {
		return why
	}
	t, ok := p.Tools[tool]
	if !ok {
		return ""
	}
	return made.Invoke("the tool", t.Entry, t.Constraints, p.entry)
}

// Names are those under which a call of a tool is counted.
func (p *Policy) Names(tool string) []string {
	if t, ok := p.Tools[tool]; ok {
		return []string{p.Server, t.Entry}
	}
	return []string{p.Server}
}

// Complete counts a call that has ended without an error.
func (p *Policy) Complete(made invocations.Counts, tool string) { made.Complete(p.Names(tool)...) }

// entry is the name in the configuration of a tool of the server.
func (p *Policy) entry(tool string) string { return p.Tools[tool].Entry }
