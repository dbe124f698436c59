package main

import (
	"errors"
	"path/filepath"

	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/ir"
)

// within compares a policy that is about to be started with the maximum of this machine.
func (g *globals) within(res *hostfacts.Result, t *ir.Tool, accept []string) (maximum.Stamp, error) {
	under, above := res.Within(t, accept)
	return under, g.sayText(above, res.Files, t.Name+" was not started")
}

// artifactWithin is direct.Artifact's.
func (c *execCmd) artifactWithin(g *globals) func(*start.Spec, string) (maximum.Stamp, error) {
	return func(spec *start.Spec, hash string) (maximum.Stamp, error) {
		if !maximum.Exists() {
			return "", nil
		}
		in := *g.asking()
		in.Dir = filepath.FromSlash(spec.Workspace)
		opts, err := in.options(true, hostfacts.Platform())
		if err != nil {
			return "", err
		}
		opts.Apart, opts.Unadvised = true, true
		res, err := hostfacts.Compile(opts)
		if err == nil {
			err = g.sayErrors(res, spec.Tool)
		}
		if err != nil {
			return "", err
		}
		under, above, err := resolved.Within(res, spec, hash, c.Accept)
		if err == nil && above.Failed() {
			_ = g.sayText(above, res.Files, "")
			err = errors.New("its policy permits more than the maximum of this machine")
		}
		return under, err
	}
}
