package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/hook"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/judge"
	"github.com/accessc/accessc/internal/judge/action"
	"github.com/accessc/accessc/internal/mcp"
	"github.com/accessc/accessc/internal/relay"
	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// hookPolicy is the policy of the directory that an agent works in.
type hookPolicy struct {
	hook.Policy
	res   *hostfacts.Result
	set   *ruleset.Set
	host  *action.Host
	lists action.Listed
}

// policy compiles the policy of a directory.
func (c *hookRunCmd) policy(g *globals, dir string) (*hookPolicy, error) {
	res, err := policies{g, c.Tool}.compile(dir)
	if err != nil {
		return nil, err
	}
	t := ir.NewTool("command")
	if c.Tool != "" {
		if t, err = askable(res, c.Tool); err != nil {
			return nil, err
		}
	}
	facts := res.Facts(t)
	p := &hookPolicy{res: res}
	p.Judge, p.OnlyRefuses, p.Command, p.Rules, p.Server = newJudge(t, facts, dir, ""), c.Tool == "", p.command, p.rules, p.server
	p.host = &action.Host{View: p.Judge.View, Roots: p.Judge.Roots, Disk: resolve.NewDisk()}
	p.lists = action.Listed{Files: p.Judge, Asker: resolve.Asker{Bindings: p.Judge.Roots, Program: facts.Program, Lookup: res.Lookup(t)}}
	if p.set, err = c.ruleset(res); err == nil && !c.JudgeOnly {
		p.Wrap, err = c.wrap(g, p.Judge.Roots.Workspace, p.set)
	}
	return p, err
}

// ruleset is the one that is asked; nil where the configuration has none and none was named.
func (c *hookRunCmd) ruleset(res *hostfacts.Result) (*ruleset.Set, error) {
	for _, d := range res.AboutRulesets() {
		if d.Severity == diag.Error {
			return nil, usagef("the rulesets have mistakes: accessc check shows them")
		}
	}
	if c.Ruleset == "" && len(res.Rulesets) == 0 {
		return nil, nil
	}
	return chooseRuleset(res.Rulesets, c.Ruleset)
}

// rules asks the ruleset about an operation.
func (p *hookPolicy) rules(op ruleset.Operation) hook.Answer {
	if p.set == nil {
		return hook.Answer{Outcome: hook.Ask, Reason: "the configuration has no ruleset"}
	}
	d := p.set.Decide(op, p.host.Answers())
	cause := d.Cause()
	out := hook.Answer{Outcome: hook.Ask, Reason: cause.Why, Asked: cause.Text}
	if cause.Rule != nil {
		out.Reason += ": " + rulePlace(cause.Rule)
	}
	switch d.Outcome {
	case ruleset.Allow:
		out.Outcome = hook.Allow
	case ruleset.Deny:
		out.Outcome = hook.Deny
	case ruleset.Unknown:
	}
	return out
}

// command judges a line for a shell.
func (p *hookPolicy) command(line, dir string) hook.Answer {
	listed := p.lists.Judge(action.Command{Line: line, Dir: dir})
	if listed.Outcome == action.Deny {
		return hook.Answer{Outcome: hook.Deny, Reason: listed.Reason, Asked: listed.Asked}
	}
	return p.rules(ruleset.Operation{Kind: ruleset.Execute, Command: line, Dir: filepath.ToSlash(dir)})
}

// server finds the policy of an MCP server, and the reason why one of its tools may not be called.
func (p *hookPolicy) server(name, method string) (*judge.Judge, string) {
	t, known := p.res.Program.Tool(name)
	if !known || !t.Server() {
		return p.Judge, ""
	}
	if p.res.Wrong(name) {
		return p.Judge, "the server " + name + " has mistakes: accessc check shows them"
	}
	j := newJudge(t, p.res.Facts(t), "", "")
	of := mcp.Policy{Server: name, Judge: j, Constraints: t.Constraints, Tools: mcp.ToolsOf(p.res.Program, name, p.res.Enabled)}
	return j, of.Refuses(method)
}

// openLog opens the audit log, which the tool must not be able to change.
func (p *hookPolicy) openLog(path, name string) (*relay.Log, error) {
	return (&seat{judge: p.Judge}).openLog(path, name)
}

// wrap is how commands run under the policy of a workspace, nil where they are not lines for a
// POSIX shell.
func (c *hookRunCmd) wrap(g *globals, root string, set *ruleset.Set) (*hook.Wrap, error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	layers, err := g.layerFlags()
	if err != nil {
		return nil, err
	}
	words := slices.Concat([]string{self, "-C", root}, layers, []string{"exec", "--command", "--no-prompt"})
	if c.Tool != "" {
		words = append(words, "--tool", c.Tool)
	}
	w := &hook.Wrap{Start: words, Shell: []string{"bash", "-c", "--"}}
	if set != nil && set.Shell == shell.POSIX {
		w.Shell[0] = "sh"
	}
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

// layerFlags are the flags of the layers of this call, for another one in any directory.
func (g *globals) layerFlags() ([]string, error) {
	var out []string
	for _, f := range []struct {
		flag  string
		files []string
	}{{"--config", g.Config}, {"--untrusted", g.Untrusted}} {
		for _, file := range f.files {
			abs, err := filepath.Abs(file)
			if err != nil {
				return nil, err
			}
			out = append(out, f.flag, abs)
		}
	}
	for _, s := range g.Set {
		out = append(out, "--set", s)
	}
	if g.Shared {
		out = append(out, "--shared")
	}
	return out, nil
}
