package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// enforceable prints the requirements of the policies that this host does not meet, by the means that were asked for.
func (c *checkCmd) enforceable(g *globals, res *hostfacts.Result) error {
	unheld := 0
	for _, t := range res.Program.Tools {
		if t.Source.Kind != ir.SourceLocal || len(c.Tools) > 0 && !slices.Contains(c.Tools, t.Name) {
			continue
		}
		gaps, accepted, err := c.unmet(res, t)
		var never *start.Error
		switch {
		case errors.As(err, &never):
			fmt.Fprintf(g.stdout, "%s  %v\n", t.Name, never.Err)
			unheld++
		case err != nil:
			return err
		}
		for _, n := range gaps {
			if name := string(n.Name); !slices.Contains(c.Accept, name) && !slices.Contains(accepted, name) {
				fmt.Fprintf(g.stdout, "%s  %-16s %s: %s\n", t.Name, n.Name, n.Is, n.Why)
				unheld++
			}
		}
	}
	if c.Means == meansLandlock && !start.ThisHost().Confines() {
		fmt.Fprintln(g.stderr, "this host confines no tools; accessc doctor says why")
		return exit(exitUnenforced)
	}
	if unheld > 0 {
		fmt.Fprintf(g.stderr, "this host does not meet %s; see accessc doctor\n", plural.Count(unheld, "requirement"))
		return exit(exitUnenforced)
	}
	return nil
}

// unmet returns the requirements of one policy that this host does not meet, and those of them that the policy
// accepts. An error of package start says why this host never starts the tool by these means.
func (c *checkCmd) unmet(res *hostfacts.Result, t *ir.Tool) (gaps []start.Gap, accepted []string, err error) {
	if c.Means == meansBubblewrap {
		data, err := resolved.Wrapped(res, t, res.Facts(t))
		if err != nil {
			return nil, nil, err
		}
		return start.UnmetWrapped(data)
	}
	spec, err := resolved.Spec(t, res.Facts(t))
	if err != nil {
		return nil, nil, err
	}
	gaps, err = start.Unmet(spec, start.ThisHost())
	return gaps, spec.Launch.Accept, err
}
