package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/accessc/accessc/internal/hook"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/judge"
	"github.com/accessc/accessc/internal/mcp"
	"github.com/accessc/accessc/internal/relay"
	"github.com/accessc/accessc/internal/start"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// hookPolicy is the policy of the directory that an agent works in.
type hookPolicy struct {
	hook.Policy
	res *hostfacts.Result
}

// policy compiles the policy of a directory.
func (c *hookRunCmd) policy(g *globals, dir string) (*hookPolicy, error) {
	res, j, err := policies{g, c.Tool, c.Ruleset}.judge(dir)
	if err != nil {
		return nil, err
	}
	p := &hookPolicy{res: res}
	p.Judge, p.Server = j, p.server
	if !c.JudgeOnly {
		p.Wrap, err = c.wrap(g, j.Files.Roots.Workspace, j.Rules)
	}
	return p, err
}

// server finds the policy of an MCP server, and the reason why one of its tools may not be called.
func (p *hookPolicy) server(name, method string) (*judge.Judge, string) {
	t, known := p.res.Program.Tool(name)
	if !known || !t.Server() {
		return p.Judge.Files, ""
	}
	if p.res.Wrong(name) {
		return p.Judge.Files, "the server " + name + " has mistakes: accessc check shows them"
	}
	j := newJudge(t, p.res.Facts(t), "", "")
	of := mcp.Policy{Server: name, Judge: j, Constraints: t.Constraints, Tools: mcp.ToolsOf(p.res.Program, name, p.res.Enabled)}
	return j, of.Refuses(method)
}

// openLog opens the audit log, which the tool must not be able to change.
func (p *hookPolicy) openLog(path, name string) (*relay.Log, error) {
	return (&seat{judge: p.Judge.Files}).openLog(path, name)
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
