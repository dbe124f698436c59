package main

import (
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/ir"
)

// checkAsk refuses --ask where nothing can be asked.
func (c *execCmd) checkAsk() error {
	switch {
	case !c.Ask:
		return nil
	case !start.Observes:
		return usagef("--ask is for Linux: here accessc becomes the tool and sees nothing of it")
	case c.Artifact != "":
		return usagef("--ask needs the configuration: an artifact does not say what may be granted")
	case c.Trace:
		return usagef("--ask judges every call already; leave out --trace")
	}
	return nil
}

// asks prepares a start under which the user is asked.
func (c *execCmd) asks(g *globals, req *start.Request, t *ir.Tool, facts ir.Facts, opts hostfacts.Options) error {
	if len(t.May)+len(t.MayNet) == 0 {
		return usagef("the policy of %s has nothing to be asked for: access.may lists what can be granted", t.Name)
	}
	control, err := userdir.Live()
	if err != nil {
		return err
	}
	req.Ask = &start.Ask{Terminal: !c.NoPrompt, Control: control}
	if !g.Shared && len(c.named()) > 0 {
		tool := strings.Join(c.named(), "")
		req.Ask.Write = func(ops []ir.Operation) error { return allow.Grant(opts, tool, ops) }
	}
	return start.Asking(req.Spec, t, backends.Target{Form: backends.Resolved, Facts: facts})
}
