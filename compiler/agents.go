package compiler

import (
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// agentsTable is the key of the configuration under which types of subagents stand.
const agentsTable = "agents"

// Agent is a type of subagent, whose operations are judged by the policy of a tool.
type Agent struct {
	Tool string // the tool's name
	// Parent is the tool of the agent that starts it, empty where the layers do not say.
	Parent string
	Origin ir.Origin // layer and place
	// at and span are where the tool is named.
	at   ir.Pos
	span int
}

// Above is the finding about a subagent that is permitted what its parent is not.
func (a Agent) Above(what string) diag.Diagnostic {
	d := diag.New(diag.AboveParent, a.at, a.span)
	d.Path, d.Label = a.Origin.Path, what
	d.Hint = "take the permission away, or give it to " + a.Parent + " as well"
	return d
}

// agents reads the types of subagents. A type that a later layer writes is the later layer's.
func (c *compilation) agents(layers []source.Layer) map[string]Agent {
	out := map[string]Agent{}
	for _, l := range layers {
		all := c.toolTable(l.Root, agentsTable)
		if all == nil {
			continue
		}
		for i := range all.Entries {
			e := &all.Entries[i]
			s := scope{c: c, layer: l.Kind, confined: l.Confined, path: agentsTable + "." + tomltext.Key(e.Key)}
			t := s.table(e.Value, `a table such as { tool = "review", parent = "coder" }`)
			if t == nil {
				continue
			}
			s.known(t, "a type of subagent", "tool", "parent")
			if l.Narrow {
				d := diag.New(diag.Widens, e.At, e.Span)
				d.Path, d.Label = s.path, "would choose the policy of a subagent"
				d.Hint = "this layer may only narrow; leave it to a layer that is trusted"
				c.findings.Add(d)
			}
			a := Agent{Origin: s.origin(e.At)}
			if v := t.Get("parent"); v != nil {
				a.Parent = c.agentTool(s.key("parent"), v)
			}
			v := t.Get("tool")
			if v == nil {
				s.missing(e.Value, "a type of subagent", "tool")
				continue
			}
			a.Tool, a.at, a.span = c.agentTool(s.key("tool"), v), v.At, v.Span
			out[e.Key] = a
		}
	}
	return out
}

// agentTool is the name of a tool that some layer defines.
func (c *compilation) agentTool(s scope, v *source.Value) string {
	name, ok := s.str(v)
	if ok && !slices.Contains(c.sourced, name) {
		s.report(diag.BadValue, v, fmt.Sprintf("found %q, and there is no such tool", name)).Hint =
			suggest.Hint(name, c.sourced)
	}
	return name
}
