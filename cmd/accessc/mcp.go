package main

import (
	"fmt"

	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/gate/mcp"
	"github.com/accessc/accessc/internal/gate/seat"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
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
	Command []string  `arg:"" optional:"" name:"command" help:"The server's program and arguments; without them, the command of [servers.NAME]. Flags of accessc stand before it."`
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
	defer s.Remove()
	return sit(s, session.FromClient, session.FromServer)
}

// prepare compiles the policy of the server and of its tools.
func (c *mcpCmd) prepare(g *globals) (*seat.Seat, *mcp.Session, error) {
	if err := direct.CheckAccept(c.Accept); err != nil {
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
	t, named, err := seat.Server(res, c.Server, c.Command)
	if err != nil {
		return nil, nil, err
	}
	if !named {
		fmt.Fprintf(g.stderr, "accessc: no [%s.%s] in the configuration: the default policy holds\n", ir.ServersTable,
			t.Name)
	}
	if t.Constraints != nil && t.Constraints.Forbidden {
		return nil, nil, usagef("the constraints of %s forbid it: %s", t.Name, t.Constraints.Origin)
	}
	if err := g.unattested(res, t); err != nil {
		return nil, nil, err
	}
	if _, err := g.within(res, t, c.Accept); err != nil {
		return nil, nil, err
	}
	made, err := seat.Session(res, string(c.Session))
	if err != nil {
		return nil, nil, err
	}
	rules, err := c.rules(g, res)
	if err != nil {
		return nil, nil, err
	}
	s, err := seat.New(res, t, g.config(), c.Accept, c.Log)
	if err != nil {
		return nil, nil, err
	}
	return s, mcp.NewSession(&mcp.Policy{
		Server: t.Name, Judge: s.Judge, Commands: seat.NewActions(res, s.Judge, res.Facts(t).Program, rules),
		Constraints: t.Constraints, Tools: mcp.ToolsOf(res.Program, t.Name),
	}, made, s.Log), nil
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
