package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/gate/acp"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ruleset"
)

// acpCmd is "accessc acp".
type acpCmd struct {
	Tool    string    `placeholder:"NAME" help:"The tool of the configuration whose policy permits and refuses. Without it the default policy refuses, and what it permits is left to the client."`
	Ruleset string    `placeholder:"NAME" help:"The ruleset that decides as well; without it, the only one, or the one named default, if there is any."`
	Session sessionID `placeholder:"ID" help:"Count the commands in this session, with all processes of it; without it, in each session of the agent by itself."`
	Accept  []string  `placeholder:"GAP" help:"Start the commands of terminals although this host has this gap, such as net.host. Repeatable."`
	Log     string    `placeholder:"FILE" help:"Append a line of JSON for every request and its verdict. The agent must not be able to write there."`
	Command []string  `arg:"" name:"agent" help:"The agent's program and arguments."`
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
	if err := checkAccept(c.Accept); err != nil {
		return notStarted(err)
	}
	log, err := relay.OpenLog(c.Log, filepath.Base(c.Command[0]))
	if err != nil {
		return notStarted(usageError{Err: fmt.Errorf("--log: %w", err)})
	}
	s := &seat{log: log, cmd: exec.Command(c.Command[0], c.Command[1:]...)}
	defer s.remove()
	s.cmd.Stderr = os.Stderr
	proxy := acp.NewProxy(terminals{policies{g, c.Tool, c.Ruleset}, c.Session, c.Accept, c.Log}, log)
	return s.run(proxy.FromClient, proxy.FromAgent)
}

// policies compiles the policy of each session's directory: that of a tool, the default one
// without a name, and a ruleset, chosen as decide does.
type policies struct {
	g             *globals
	tool, ruleset string
}

// For returns the judge of an agent's actions in a directory.
func (p policies) For(dir string) (*action.Judge, error) {
	j, _, err := p.judge(dir)
	return j, err
}

// judge compiles the policy of a directory.
func (p policies) judge(dir string) (*action.Judge, *hostfacts.Result, error) {
	res, err := p.compile(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("the policy of %s cannot be had: %w", dir, err)
	}
	t, err := config.Judging(res, p.tool)
	if err != nil {
		return nil, nil, err
	}
	rules, err := p.chosen(res)
	if err != nil {
		return nil, nil, err
	}
	facts := res.Facts(t)
	j := newJudge(t, facts, dir, "", true)
	out := newActions(res, j, facts.Program, rules)
	out.OnlyRefuses = p.tool == ""
	return out, res, nil
}

// chosen is the ruleset, nil if there is none. Mistakes in rulesets leave no policy.
func (p policies) chosen(res *hostfacts.Result) (*ruleset.Set, error) {
	if res.AboutRulesets().Failed() {
		return nil, errors.New("its rulesets have mistakes: accessc check shows them")
	}
	if len(res.Rulesets) == 0 && p.ruleset == "" {
		return nil, nil
	}
	return config.Ruleset(res.Rulesets, p.ruleset)
}

// compile compiles the configuration of the workspace that a directory lies in.
func (p policies) compile(dir string) (*hostfacts.Result, error) {
	if !filepath.IsAbs(dir) {
		return nil, errors.New("it is no absolute path")
	}
	g := p.g.asking()
	if g.Dir == "" {
		own, _ := userdir.Root() // without any there is none that an agent could write
		root, err := workspace.Find(dir, own, source.Lists)
		if err != nil {
			return nil, err
		}
		g.Dir = root
	}
	opts, err := g.options(true, hostfacts.Platform())
	if err != nil {
		return nil, err
	}
	opts.Apart, opts.Unadvised = true, true
	res, err := hostfacts.Compile(opts)
	if err == nil && res.Program == nil {
		err = errors.New("it has mistakes: accessc check shows them")
	}
	return res, err
}

// terminals are the policies of sessions whose terminals are started under the policy of the tool.
type terminals struct {
	policies
	session sessionID
	accept  []string
	log     string
}

// For implements acp.Policies.
func (p terminals) For(dir string) (*acp.Policy, error) {
	j, res, err := p.judge(dir)
	if err != nil {
		return nil, err
	}
	if err := checkLog(j.Files, p.log, "the agent"); err != nil {
		return nil, err
	}
	out := &acp.Policy{Judge: j}
	if p.tool == "" {
		return out, nil
	}
	if limits := j.Files.View.Tool.Constraints; limits != nil && limits.Forbidden {
		return nil, fmt.Errorf("the constraints of %s forbid it: %s", p.tool, limits.Origin)
	}
	if out.Made, err = counted(res, p.session); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// The configuration is that of the session, wherever in the workspace the command begins.
	start := append([]string{self, "exec", "--no-prompt", "--dir=" + res.Resolver.Root}, p.g.config().Words()...)
	for _, gap := range p.accept {
		start = append(start, "--accept="+gap)
	}
	start = append(start, "--command", "--tool="+p.tool, "--")
	out.Confine = func(words []string) []string { return slices.Concat(start, words) }
	return out, nil
}
