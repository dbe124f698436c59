package importer

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/ir"
)

// calls asks about the tools of every server that either side names: those that the settings stop cannot be called, and
// of a server with entries only tools that the settings permit unasked.
// See decision D437.
func (t prover) calls(prog *ir.Program, p foreign.Policy, out *Proof) error {
	caller, ok := p.(foreign.Caller)
	if !ok {
		return nil
	}
	asked := map[string][]string{}
	for _, l := range t.Lists {
		asked[l.Server] = append(asked[l.Server], "zz_any")
	}
	for _, name := range p.Marks().Calls {
		// The name of a server may have "__" in it.
		for i := 1; i < len(name); i++ {
			if strings.HasPrefix(name[i:], "__") && !strings.Contains(name[:i], "*") {
				asked[name[:i]] = append(asked[name[:i]], strings.ReplaceAll(name[i+2:], "*", "zz"), "zz_any")
			}
		}
		if !strings.Contains(name, "*") && !strings.Contains(name, "__") {
			asked[name] = append(asked[name], "zz_any")
		}
	}
	for server, tools := range asked {
		served := ir.Served(prog.Tools, server)
		for name := range served {
			tools = append(tools, name)
		}
		for _, tool := range tools {
			out.Calls++
			may := Callable(prog, server, served, tool)
			if may && caller.StopsCall(server, tool) || may && len(served) > 0 && !caller.Calls(server, tool) {
				const what = "%s of the server %s could be called, and the settings do not permit it"
				return &wider{what: fmt.Sprintf(what, tool, server)}
			}
		}
	}
	return nil
}

// Callable reports whether a policy lets a tool of a server be called.
func Callable(prog *ir.Program, server string, served map[string]*ir.Tool, tool string) bool {
	forbidden := func(t *ir.Tool) bool { return t.Disabled || t.Constraints != nil && t.Constraints.Forbidden }
	if s, ok := prog.Tool(server); ok && s.Server() && forbidden(s) {
		return false
	}
	e := served[tool]
	return len(served) == 0 || e != nil && !forbidden(e)
}
