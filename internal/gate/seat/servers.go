package seat

import (
	"errors"
	"maps"
	"slices"

	"github.com/accessc/accessc/internal/text/strictjson"

	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/mcp"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
)

// Servers are the MCP servers that the configuration of a directory has, for whoever judges calls of their tools apart
// from the servers.
type Servers struct {
	Result *hostfacts.Result
	// Judge is that of the directory.
	Judge *action.Judge
}

// Policy is the policy of an MCP server and its tools: by its configuration; without one, and for
// tools of no server, by the policy of the directory.
func (p Servers) Policy(name string) *mcp.Policy {
	of := &mcp.Policy{Server: name, Judge: p.Judge.Files, Commands: p.Judge}
	if name == "" {
		return of
	}
	of.Tools = mcp.ToolsOf(p.Result.Program, name)
	if t, known := p.Result.Program.Tool(name); known && t.Server() {
		of.Judge, of.Constraints = newJudge(t, p.Result.Facts(t), "", "", false), t.Constraints
	}
	return of
}

// Tools are the configured servers with the tools that are listed for each. One without a table of its own is among
// them by its tools.
func (p Servers) Tools() map[string][]string {
	out := map[string][]string{}
	for _, name := range p.Result.AllWrong() {
		out[name] = nil
	}
	details, _ := p.Result.WrongServers()
	for _, t := range p.Result.Program.Tools {
		switch {
		case t.Server():
			out[t.Name] = nil
		case t.Source.Kind == ir.SourceMCP:
			details = append(details, t.Source.Detail)
		}
	}
	for _, detail := range details {
		for i, r := range detail + "." {
			if r == '.' {
				out[detail[:i]] = nil
			}
		}
	}
	for name := range out {
		out[name] = slices.Sorted(maps.Keys(mcp.ToolsOf(p.Result.Program, name)))
	}
	return out
}

// Refusal judges the call of a tool of a server, or of none without a name.
func (p Servers) Refusal(server, tool string, input strictjson.Value) (reason, asked string) {
	switch {
	case p.Result.Wrong(server):
		return "the server " + server + " has mistakes: accessc check shows them", server
	case p.Result.Wrong(tool):
		return "the tool " + tool + " has mistakes: accessc check shows them", tool
	}
	return p.Policy(server).Refusal(tool, input)
}

// Take counts in a session, where any tool is constrained. count returns a reason to refuse.
func (p Servers) Take(session string, count func(invocations.Counts) string) error {
	constrained := func(t *ir.Tool) bool { return t.Constraints != nil }
	if !slices.ContainsFunc(p.Result.Program.Tools, constrained) {
		return nil
	}
	s, err := Session(p.Result, session)
	if err != nil {
		return err
	}
	return s.Take(func(c invocations.Counts) error {
		if why := count(c); why != "" {
			return errors.New(why)
		}
		return nil
	})
}
