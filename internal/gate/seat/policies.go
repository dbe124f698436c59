package seat

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/gate/acp"
	"github.com/accessc/accessc/internal/gate/invocations"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// newJudge asks a tool's policy on this host, for a program in a directory of the workspace. temp
// contains the temporary directory of the run, empty for none. An agent is not confined, so its home
// is the user's own.
func newJudge(t *ir.Tool, facts ir.Facts, dir, temp string, agent bool) *judge.Judge {
	roots := *facts.Bindings
	if temp != "" {
		roots.Temp = filepath.ToSlash(workspace.Canonical(temp))
	}
	j := &judge.Judge{
		View:  ir.NewView(t, hostfacts.Platform(), facts),
		Roots: &roots,
		Dir:   roots.Workspace,
		Home:  roots.Home,
	}
	if at := filepath.ToSlash(workspace.Canonical(dir)); dir != "" && roots.Locate(at).Root.Kind == ir.Workspace {
		j.Dir = at
	}
	if t.Home == ir.HomeReal || agent {
		home, _ := os.UserHomeDir() // without one there is no ~
		j.Home = filepath.ToSlash(home)
	}
	return j
}

// NewActions asks a tool's policy and a ruleset, nil for none, about an agent's actions. program is
// the tool's own, as facts have it.
func NewActions(res *hostfacts.Result, files *judge.Judge, program *ir.Location, rules *ruleset.Set) *action.Judge {
	asker := resolve.Asker{Bindings: files.Roots, Program: program, Lookup: res.Lookup(files.View.Tool)}
	return &action.Judge{Files: files, Asker: asker, Rules: rules}
}

// Session is the session of a name in a workspace; one of this process alone without a name.
func Session(res *hostfacts.Result, id string) (*invocations.Session, error) {
	if id == "" {
		return invocations.New(), nil
	}
	dir, err := userdir.For(res.Resolver.Root)
	if err != nil {
		return nil, err
	}
	s, err := invocations.Open(dir.Sessions(), id)
	if err != nil {
		return nil, usage.Error{Err: fmt.Errorf("--session: %w", err)}
	}
	return s, nil
}

// Policies compiles the policy of each session's directory: that of a tool, the default one
// without a name, and a ruleset, chosen as decide does.
type Policies struct {
	Config        config.Flags
	Tool, Ruleset string
	// Agent is the type of a subagent of the agent that Tool is about, empty for none.
	Agent string
}

// For returns the judge of an agent's actions in a directory.
func (p Policies) For(dir string) (*action.Judge, error) {
	j, _, err := p.Judge(dir)
	return j, err
}

// Judge compiles the policy of a directory.
func (p Policies) Judge(dir string) (*action.Judge, *hostfacts.Result, error) {
	res, err := p.compile(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("the policy of %s cannot be had: %w", dir, err)
	}
	t, err := config.Judging(res, p.Tool)
	if err != nil {
		return nil, nil, err
	}
	sub, err := res.Subagent(p.Agent, t)
	if err != nil {
		return nil, nil, err
	}
	if sub != nil {
		t = sub
	}
	rules, err := p.chosen(res)
	if err != nil {
		return nil, nil, err
	}
	facts := res.Facts(t)
	j := newJudge(t, facts, dir, "", true)
	out := NewActions(res, j, facts.Program, rules)
	out.OnlyRefuses = p.Tool == "" && sub == nil
	return out, res, nil
}

// chosen is the ruleset, nil if there is none. Mistakes in rulesets leave no policy.
func (p Policies) chosen(res *hostfacts.Result) (*ruleset.Set, error) {
	if res.AboutRulesets().Failed() {
		return nil, errors.New("its rulesets have mistakes: accessc check shows them")
	}
	if len(res.Rulesets) == 0 && p.Ruleset == "" {
		return nil, nil
	}
	return config.Ruleset(res.Rulesets, p.Ruleset)
}

// compile compiles the configuration of the workspace that a directory lies in.
func (p Policies) compile(dir string) (*hostfacts.Result, error) {
	if !filepath.IsAbs(dir) {
		return nil, errors.New("it is no absolute path")
	}
	of := p.Config
	if of.Dir == "" {
		own, _ := userdir.Root() // without any there is none that an agent could write
		root, err := workspace.Find(dir, own, source.Lists(hostview.Now))
		if err != nil {
			return nil, err
		}
		of.Dir = root
	}
	opts, err := of.Options(true, hostfacts.Platform())
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

// Terminals are the policies of sessions whose terminals are started under the policy of the tool.
type Terminals struct {
	Policies
	Session string
	Accept  []string
	Log     string
}

// For implements acp.Policies.
func (p Terminals) For(dir string) (*acp.Policy, error) {
	j, res, err := p.Judge(dir)
	if err != nil {
		return nil, err
	}
	if err := checkLog(j.Files, p.Log, "the agent"); err != nil {
		return nil, err
	}
	out := &acp.Policy{Judge: j}
	if p.Tool == "" {
		return out, nil
	}
	if limits := j.Files.View.Tool.Constraints; limits != nil && limits.Forbidden {
		return nil, fmt.Errorf("the constraints of %s forbid it: %s", p.Tool, limits.Origin)
	}
	if out.Made, err = Session(res, p.Session); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// The configuration is that of the session, wherever in the workspace the command begins.
	start := append([]string{self, "exec", "--no-prompt", "--dir=" + res.Resolver.Root}, p.Config.Words()...)
	for _, gap := range p.Accept {
		start = append(start, "--accept="+gap)
	}
	start = append(start, "--command", "--tool="+p.Tool, "--")
	out.Confine = func(words []string) []string { return slices.Concat(start, words) }
	return out, nil
}
