package main

import (
	"fmt"
	"path/filepath"

	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/gate/acp"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/gate/seat"
)

// acpCmd is "accessc acp".
type acpCmd struct {
	Tool    string    `placeholder:"NAME" help:"The tool of the configuration whose policy permits and refuses. Without it the default policy refuses, and what it permits is left to the client."`
	Ruleset string    `placeholder:"NAME" help:"The ruleset that decides as well; without it, the only one, or the one named default, if there is any."`
	Session sessionID `placeholder:"ID" help:"Count the commands in this session, with all processes of it; without it, in each session of the agent by itself."`
	Accept  []string  `placeholder:"GAP" help:"Start the commands of terminals although this host has this gap, such as net.host. Repeatable."`
	Log     string    `placeholder:"FILE" help:"Append a line of JSON for every request and its verdict. The agent must not be able to write there."`
	Command []string  `arg:"" name:"agent" help:"The agent's program and arguments. Flags of accessc stand before it."`
}

// Help implements kong's detailed help.
func (acpCmd) Help() string {
	return `Starts an agent of the Agent Client Protocol and stays between it and its client on standard input and
output. An editor runs this command in place of the agent's own.

  accessc acp --tool coder -- gemini --acp

A request for permission is answered by the policy of the session's directory: yes once, no once, or
not at all, and then the client is asked. Files that the agent reads or writes through the client, and
the terminals that it opens there, are refused where the policy refuses them. With --tool, the commands
of terminals are started by accessc exec, under the policy of the tool. Everything else passes unchanged.

The agent decides what it asks about, so this is no sandbox. For one, start the agent in it:

  accessc acp --tool coder -- accessc exec agent

Exit status: the agent's own; 125 if it did not start.`
}

// Run implements the command.
func (c *acpCmd) Run(g *globals) error {
	if err := direct.CheckAccept(c.Accept); err != nil {
		return notStarted(err)
	}
	log, err := relay.OpenLog(c.Log, filepath.Base(c.Command[0]))
	if err != nil {
		return notStarted(usageError{Err: fmt.Errorf("--log: %w", err)})
	}
	s := seat.Before(c.Command[0], c.Command[1:], log)
	defer s.Remove()
	proxy := acp.NewProxy(seat.Terminals{
		Policies: seat.Policies{Config: g.asking().config(), Tool: c.Tool, Ruleset: c.Ruleset},
		Session:  string(c.Session), Accept: c.Accept, Log: c.Log,
	}, log)
	return sit(s, proxy.FromClient, proxy.FromAgent)
}
