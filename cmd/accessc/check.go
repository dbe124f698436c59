package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/checked"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// checkCmd is "accessc check".
type checkCmd struct {
	Format      string   `enum:"text,json,sarif,github" default:"text" help:"Format of findings: text, json, sarif or github."`
	Enforceable bool     `help:"Also check whether this host meets every requirement of the policies; exit 3 if not."`
	Accept      []string `placeholder:"GAP" help:"Accept a gap of this host, as exec does. Repeatable."`
	Means       string   `enum:"landlock,bubblewrap" default:"landlock" help:"With --enforceable: check starts by these means, as of exec --means."`
	Maximum     string   `placeholder:"FILE" help:"Compare with this file in place of the maximum of this machine."`
	Watch       bool     `help:"Check again after each change of a file that was read, until Ctrl-C."`
	Tools       []string `arg:"" optional:"" name:"tool" help:"With --enforceable: check these tools only."`
}

// Help implements kong's detailed help.
func (checkCmd) Help() string {
	return `Reads every layer, reports all problems at once and writes nothing. A rule that a target
cannot express is a problem, too, and so is one that leads nowhere on this machine, or elsewhere
than approved. docs/checks.md explains each code.

  accessc check --watch             while you write: check again after each change of any layer
  accessc check --enforceable       would every tool start on this host?
  accessc check --maximum FILE      and on a machine with this maximum? docs/maximum.md
  accessc check --format github     annotations in CI; sarif and json for others`
}

// Run implements the command.
func (c *checkCmd) Run(g *globals) error {
	spare()
	if err := direct.CheckAccept(c.Accept); err != nil {
		return err
	}
	if c.Means != meansLandlock && !c.Enforceable {
		return usagef("--means is for --enforceable")
	}
	switch {
	case c.Watch && c.Format != "text":
		return usagef("--watch prints text: a document of another format ends")
	case c.Watch:
		return c.watch(g)
	}
	return c.once(g)
}

// watch checks again after each change, and ends as the last check would have.
func (c *checkCmd) watch(g *globals) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var last error
	err := config.Follow(ctx, g.config(), func(changed []string) {
		for _, path := range changed {
			fmt.Fprintf(g.stderr, "\nchanged: %s\n", visible.Name(path))
		}
		var said exit
		if last = c.once(g); last != nil && !errors.As(last, &said) {
			fmt.Fprintf(g.stderr, "accessc: %s\n", visible.Message(last.Error()))
			last = exit(exitUsage)
		}
	})
	return cmp.Or(err, last)
}

// once checks the configuration as it is now.
func (c *checkCmd) once(g *globals) error {
	opts, err := g.options(c.Enforceable)
	if err != nil {
		return err
	}
	opts.Maximum = c.Maximum
	res, findings, err := checked.Compile(opts)
	if err != nil {
		return usageError{Err: err}
	}
	if err := g.report(c.Format, findings, res.Files, ""); err != nil {
		return err
	}
	if _, err := config.Tools(res.Program, c.Tools); err != nil {
		return err
	}
	if c.Format == "text" && res.Program != nil {
		sayKept(g, res)
	}
	if c.Enforceable {
		return c.enforceable(g, res)
	}
	if c.Format == "text" && len(findings) == 0 {
		fmt.Fprintf(g.stderr, "%s: no findings\n", plural.Count(len(res.Program.Tools), "tool"))
	}
	return nil
}

// sayKept names the external rules that lead to files of the workspace's repository which stay as they are.
func sayKept(g *globals, res *hostfacts.Result) {
	for _, t := range res.Program.Tools {
		var seen []string
		for i := range t.FS {
			name := t.FS[i].At.Root.Name
			if !t.FS[i].External || slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			if n := res.Guarded(t, name); n > 0 {
				fmt.Fprintf(g.stderr, "%s: %s: %s\n", t.Name, visible.Text(name), keptText(n))
			}
		}
	}
}
