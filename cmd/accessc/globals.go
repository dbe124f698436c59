package main

import (
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
)

// globals are the flags that every command takes, and the streams.
type globals struct {
	Dir       string   `short:"C" name:"dir" placeholder:"DIR" help:"Workspace root; otherwise the nearest directory upwards with .jp/, accessc.toml or .accessc/, or the git work tree."`
	Config    []string `placeholder:"FILE" sep:"none" help:"A further layer; a directory means its *.toml. Repeatable."`
	Untrusted []string `placeholder:"FILE" sep:"none" help:"A further layer that may only narrow the permissions of the others. Repeatable."`
	Set       []string `placeholder:"KEY=VALUE" sep:"none" help:"Set a dotted key over every layer. Repeatable."`
	Shared    bool     `help:"Leave out the layers that are not committed: the user's own, and .accessc/local.toml unless git tracks it."`

	streams

	// untested leaves the policies' own tests unasked.
	untested bool
	// behind is how many words stand behind "--", -1 without one.
	behind int
}

// config is the configuration that the flags are about.
func (g *globals) config() config.Flags {
	return config.Flags{
		Dir: g.Dir, Config: g.Config, Untrusted: g.Untrusted, Set: g.Set, Shared: g.Shared, Tested: !g.untested,
	}
}

// root returns the workspace root: the one that was named, or the one that the current
// directory lies in. A directory that is never taken by itself is a finding, and a mistake
// of the call.
func (g *globals) root() (string, error) {
	root, err := g.findRoot()
	return root, g.refused(err)
}

func (g *globals) findRoot() (string, error) { return g.config().Root() }

// options returns the options that all compilations share.
func (g *globals) options(resolve bool, platforms ...ir.Platform) (hostfacts.Options, error) {
	opts, err := g.config().Options(resolve, platforms...)
	return opts, g.refused(err)
}

// asking is for commands other than those that build and check: they answer questions about a
// policy whose own tests may fail, or run a finished build.
func (g *globals) asking() *globals {
	out := *g
	out.untested = true
	return &out
}

// committed leaves out the layers that are not committed.
// See decision D273.
func (g *globals) committed() *globals {
	out := *g
	out.Shared = true
	return &out
}

// compile reads and checks the configuration and says on stderr what is wrong with it,
// for some tools or for all. The error is an exit status when a finding stops the run.
func (g *globals) compile(resolve bool, tools ...string) (*hostfacts.Result, error) {
	opts, err := g.options(resolve)
	if err != nil {
		return nil, err
	}
	return g.compileWith(opts, tools...)
}

func (g *globals) compileWith(opts hostfacts.Options, tools ...string) (*hostfacts.Result, error) {
	opts.Apart = len(tools) > 0
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{Err: err}
	}
	findings := res.Findings
	if opts.Apart {
		findings = res.Concerning(tools...)
	}
	return res, g.sayText(findings, res.Files, "")
}

// compileFor compiles for questions about some tools on this host, whatever is wrong with
// others.
func (g *globals) compileFor(tools ...string) (*hostfacts.Result, error) {
	opts, err := g.asking().options(true)
	if err != nil {
		return nil, err
	}
	opts.Apart = true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{Err: err}
	}
	return res, g.sayErrors(res, tools...)
}

// canonical is a directory without symlinks, as it stands if it is not there.
func canonical(dir string) string { return workspace.Canonical(dir) }
