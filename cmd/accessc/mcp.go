package main

import (
	"fmt"
	"path/filepath"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/gate/mcp"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// mcpCmd is "accessc mcp".
type mcpCmd struct {
	Server  string    `placeholder:"NAME" help:"The server of the configuration, [servers.NAME]. Without it, or if there is none of the name, the default policy."`
	Ruleset string    `placeholder:"NAME" help:"The ruleset that has to allow the commands among the arguments of calls."`
	Session sessionID `placeholder:"ID" help:"Count the calls in this session, with all processes of it; without it, as long as the server runs."`
	Accept  []string  `placeholder:"GAP" help:"Start although this host has this gap, such as net.host. Repeatable."`
	Log     string    `placeholder:"FILE" help:"Append a line of JSON for every call and its verdict. The server must not be able to write there."`
	Command []string  `arg:"" optional:"" name:"command" help:"The server's program and arguments; without them, the command of [servers.NAME]."`
}

// Help implements kong's detailed help.
func (mcpCmd) Help() string {
	return `Starts an MCP server under its policy, as exec starts a tool, and stays between it and its client on
standard input and output. A client runs this command in place of the server's own.

  accessc mcp --server files -- npx -y @modelcontextprotocol/server-filesystem .
  accessc mcp --server files                     the command is in [servers.files]
  accessc mcp -- ./my-server                     the default policy

Tools that the configuration does not allow are not listed and cannot be called. Paths among the
arguments of a call are judged before the server has the call, with --ruleset commands, too; a refused call
has a result that says by which rule, and what would allow it. Everything else passes unchanged. The
session ends when either side does.

Exit status: the server's own; 125 if it did not start.`
}

// Run implements the command.
func (c *mcpCmd) Run(g *globals) error {
	s, session, err := c.prepare(g)
	if err != nil {
		return notStarted(err)
	}
	defer s.remove()
	return s.run(session.FromClient, session.FromServer)
}

// prepare compiles the policy of the server and of its tools.
func (c *mcpCmd) prepare(g *globals) (*seat, *mcp.Session, error) {
	if err := checkAccept(c.Accept); err != nil {
		return nil, nil, err
	}
	opts, err := g.asking().options(true, hostfacts.Platform())
	if err != nil {
		return nil, nil, err
	}
	opts.Apart, opts.Unadvised = true, true
	// The terminal is the client's, so nothing is asked.
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, nil, usageError{Err: err}
	}
	if err := g.sayErrors(res, c.Server); err != nil {
		return nil, nil, err
	}
	t, err := c.server(g, res)
	if err != nil {
		return nil, nil, err
	}
	if t.Constraints != nil && t.Constraints.Forbidden {
		return nil, nil, usagef("the constraints of %s forbid it: %s", t.Name, t.Constraints.Origin)
	}
	if err := g.unattested(res, t); err != nil {
		return nil, nil, err
	}
	made, err := counted(res, c.Session)
	if err != nil {
		return nil, nil, err
	}
	rules, err := c.rules(g, res)
	if err != nil {
		return nil, nil, err
	}
	s, err := newSeat(res, t, c.Accept, c.Log)
	if err != nil {
		return nil, nil, err
	}
	return s, mcp.NewSession(&mcp.Policy{
		Server: t.Name, Judge: s.judge, Commands: newActions(res, s.judge, res.Facts(t).Program, rules), Constraints: t.Constraints, Tools: mcp.ToolsOf(res.Program, t.Name),
	}, made, s.log), nil
}

// rules is the ruleset that the call names, nil for none.
func (c *mcpCmd) rules(g *globals, res *hostfacts.Result) (*ruleset.Set, error) {
	if c.Ruleset == "" {
		return nil, nil
	}
	if err := g.sayRulesets(res, c.Server); err != nil {
		return nil, err
	}
	return config.Ruleset(res.Rulesets, c.Ruleset)
}

// server is the server's tool, with the command line's command. One that the configuration does
// not name has the default policy; a name that is nearly that of another is a mistake.
func (c *mcpCmd) server(g *globals, res *hostfacts.Result) (*ir.Tool, error) {
	var names []string
	for _, t := range res.Program.Tools {
		if t.Name == c.Server && !t.Server() {
			return nil, usagef("%s is a tool and no server; a server stands in [%s.%s]", t.Name, ir.ServersTable, t.Name)
		}
		if t.Server() {
			names = append(names, t.Name)
		}
	}
	t, found := res.Program.Tool(c.Server)
	if !found {
		if hint := suggest.Hint(c.Server, names); c.Server != "" && hint != "" {
			return nil, usagef("there is no server %q; %s", c.Server, hint)
		}
		if why := compiler.BadName(c.Server); c.Server != "" && why != "" {
			return nil, usagef("--server: %s", why)
		}
		t = defaultServer(c.Server)
		fmt.Fprintf(g.stderr, "accessc: no [%s.%s] in the configuration: the default policy holds\n", ir.ServersTable, t.Name)
	}
	if len(c.Command) > 0 {
		t.Command = &ir.Command{Program: absolute(c.Command[0]), Args: c.Command[1:]}
	}
	if t.Command == nil {
		return nil, usagef("%s has no command; write one behind --, or in [%s.%s]", t.Name, ir.ServersTable, t.Name)
	}
	return t, nil
}

// defaultServer is a server that the configuration does not name.
func defaultServer(name string) *ir.Tool {
	if name == "" {
		name = "server"
	}
	t := ir.NewTool(name)
	t.Source.Origin.Path = ir.ServersTable + "." + name
	return t
}

// absolute makes the path of a program count from where the caller stands; a bare name stays.
func absolute(program string) string {
	if filepath.Base(program) != program {
		if abs, err := filepath.Abs(program); err == nil {
			return abs
		}
	}
	return program
}
