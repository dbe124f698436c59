package main

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/internal/hook"
	"github.com/accessc/accessc/internal/suggest"
)

// hookCmd is "accessc hook".
type hookCmd struct {
	Run hookRunCmd `cmd:"" default:"withargs" help:"Answer one event of an agent's hook, which the agent writes to standard input."`
}

// hookRunCmd is "accessc hook AGENT", which agents run.
type hookRunCmd struct {
	Agent   string `arg:"" help:"The agent: claude-code, codex, copilot, cursor, gemini, opencode or windsurf."`
	Tool    string `placeholder:"NAME" help:"The tool of the configuration whose policy permits and refuses. Without it the default policy refuses, and what it permits is left to the agent."`
	Ruleset string `placeholder:"NAME" help:"The ruleset; without it, the only one, or the one named default."`
	Log     string `placeholder:"FILE" help:"Append a line of JSON for every event and its verdict. Keep it where the agent cannot write."`
}

// Run implements the command.
func (c *hookRunCmd) Run(g *globals) error {
	a, err := findAgent(c.Agent)
	if err != nil {
		return err
	}
	if _, err := hook.Read(g.stdin); err != nil {
		return usageError{err}
	}
	return usagef("the events of %s are not known", a.Title)
}

// findAgent finds an agent by name.
func findAgent(name string) (*hook.Agent, error) {
	a, ok := hook.Find(name)
	if !ok {
		err := fmt.Errorf("there is no agent %q; the agents are %s", name, strings.Join(hook.Names(), ", "))
		if near := suggest.Hint(name, hook.Names()); near != "" {
			err = fmt.Errorf("there is no agent %q; %s", name, near)
		}
		return nil, usageError{err}
	}
	return a, nil
}
