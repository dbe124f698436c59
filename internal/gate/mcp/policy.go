package mcp

import (
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// Policy is the configuration of a server and its tools.
type Policy struct {
	// Server is the name of the server.
	Server string
	// Judge asks the server's policy, under which all its tools run.
	Judge *judge.Judge
	// Commands judges the commands among arguments.
	Commands *action.Judge
	// Constraints are the server's own, about all calls together; nil for none.
	Constraints *ir.Constraints
	// Tools are those that the configuration names, by their names at the server; without any,
	// all tools may be called.
	Tools map[string]Tool
}

// Tool is the entry of one tool of a server.
type Tool struct {
	// Entry is its name in the configuration.
	Entry       string
	Enabled     bool
	Constraints *ir.Constraints
	Origin      ir.Origin
}

// ToolsOf are the tools of a program whose source is the server, by their names there.
func ToolsOf(p *ir.Program, server string) map[string]Tool {
	out := map[string]Tool{}
	for name, t := range ir.Served(p.Tools, server) {
		out[name] = Tool{Entry: t.Name, Enabled: !t.Disabled, Constraints: t.Constraints, Origin: t.Source.Origin}
	}
	return out
}

// refuses is the reason why a tool may not be called at all, empty if it may.
func (p *Policy) refuses(tool string) string {
	if c := p.Constraints; c != nil && c.Forbidden {
		return "the constraints of the server forbid its tools: " + c.Origin.String()
	}
	if len(p.Tools) == 0 {
		return ""
	}
	t, ok := p.Tools[tool]
	switch {
	case !ok:
		return "the configuration names tools of " + p.Server + ", and not this one; to allow it:\n" +
			"      [tools." + tomltext.Key(p.Server+"_"+tool) + "]\n      source = " + tomltext.String("mcp."+p.Server+"."+tool)
	case !t.Enabled:
		return "the tool " + t.Entry + " is not enabled, or has mistakes: " + t.Origin.String()
	case t.Constraints != nil && t.Constraints.Forbidden:
		return "the tool " + t.Entry + " is forbidden: " + t.Constraints.Origin.String()
	}
	return ""
}

// Refusal is the reason why a call may not be made, regardless of earlier calls, and the text
// that is refused; empty if it may.
func (p *Policy) Refusal(tool string, arguments strictjson.Value) (reason, asked string) {
	if reason = p.refuses(tool); reason != "" {
		return reason, tool
	}
	err := jsonrpc.Strings(arguments, "", func(member, text string) {
		if r := p.Judge.Argument(member, text); r != nil && reason == "" {
			reason, asked = r.Text(), r.Asked
		}
	})
	if reason == "" && err == nil {
		reason, asked, err = p.runs(arguments)
	}
	if err != nil {
		return err.Error(), asked
	}
	return reason, asked
}
