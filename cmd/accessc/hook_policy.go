package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/seat"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
)

// hookPolicy is the policy of the directory that an agent works in.
type hookPolicy struct {
	hook.Policy
	servers seat.Servers
}

// policy compiles the policy of the directory in which an agent was started.
// See decision D146.
func (c *hookRunCmd) policy(g *globals, e *hook.Event) (*hookPolicy, error) {
	policies := seat.Policies{Config: g.asking().config(), Tool: c.Tool, Ruleset: c.Ruleset, Agent: e.Agent}
	j, res, err := policies.Judge(e.Project)
	if err != nil {
		return nil, err
	}
	if e.Chosen && g.Dir == "" {
		own, _ := userdir.Root() // without any there is none that an agent could write
		if around, nested := workspace.Around(res.Resolver.Root, own); nested {
			return nil, fmt.Errorf("the agent does not say where it was started, and %s lies in the workspace %s; name one with -C in the command of the hook",
				res.Resolver.Root, around)
		}
	}
	p := &hookPolicy{servers: seat.Servers{Result: res, Judge: j}}
	p.Judge, p.Refuses, p.Undecided = j, p.refuses, hook.Undecided(c.Undecided)
	if !c.JudgeOnly {
		p.Wrap, err = c.wrap(g, j)
	}
	return p, err
}

// refuses judges the call of a tool of a server, or of none. The strictest of the servers that it may be of decides.
func (p *hookPolicy) refuses(c *hook.Call) (reason, asked string) {
	if _, any := p.servers.Result.WrongServers(); any && c.What == hook.Server {
		return "the source of a tool is not understood, which may be of any server: accessc check shows it", c.Tool
	}
	for _, t := range c.Targets(p.servers.Tools()) {
		if reason, asked = p.servers.Refusal(t.Server, t.Tool, c.Input); reason != "" {
			return reason, asked
		}
	}
	return "", ""
}

// wrap is how commands run under the policy of a workspace, nil where they are not lines for a
// POSIX shell.
func (c *hookRunCmd) wrap(g *globals, j *action.Judge) (*hook.Wrap, error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	root := j.Files.Roots.Workspace
	words := slices.Concat([]string{self, "-C", root}, g.config().Words(), []string{"exec", "--command", "--no-prompt"})
	if !j.OnlyRefuses {
		words = append(words, "--tool", j.Files.View.Tool.Name)
	}
	w := &hook.Wrap{Start: words, Shell: j.Shell()}
	if start.Observes {
		dir, err := userdir.For(root)
		if err != nil {
			return nil, err
		}
		w.Reports = dir.Reports()
		return w, hook.PrepareReports(w.Reports)
	}
	return w, nil
}
