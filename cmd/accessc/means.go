package main

import (
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
)

// The values of --means: the system's own, and bubblewrap.
const (
	meansLandlock   = "landlock"
	meansBubblewrap = "bubblewrap"
)

// checkMeans refuses flags that need this kernel's own means.
func (c *execCmd) checkMeans() error {
	if c.Means != meansBubblewrap {
		return nil
	}
	if c.Artifact != "" || c.Trace || c.Ask || c.Report != "" || c.Record != "" || c.EvidenceLog != "" {
		return usagef("--means bubblewrap compiles the policy and has no supervisor: leave out --artifact, " +
			"--trace, --ask, --report, --record and --evidence-log")
	}
	return nil
}

// artifact compiles the tool for the means that were asked for, and returns the text.
func (c *execCmd) artifact(req *start.Request, res *hostfacts.Result, t *ir.Tool, facts ir.Facts) ([]byte, error) {
	if c.Means == meansBubblewrap {
		var err error
		c.wrapped, err = resolved.Wrapped(res, t, facts)
		return c.wrapped, err
	}
	return c.specify(req, t, facts)
}

// start starts the tool by the means that were asked for.
func (c *execCmd) start(req start.Request) error {
	if c.Means == meansBubblewrap {
		return start.Wrap(req, c.wrapped)
	}
	return start.Start(req)
}
