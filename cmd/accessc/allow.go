package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// allowCmd is "accessc allow".
type allowCmd struct {
	Layer      string   `enum:"local,workspace,user" default:"local" help:"The layer that is written: local, workspace or user."`
	Yes        bool     `short:"y" help:"Do not ask."`
	DryRun     bool     `help:"Print the planned change with its reach, and change nothing."`
	Undo       bool     `help:"Take back the last change that allow, learn --apply or an answer wrote here."`
	Tool       string   `arg:"" optional:"" name:"tool" help:"The tool."`
	Operations []string `arg:"" optional:"" name:"operation" help:"Each a question of accessc can: 'read src/x', 'connect https://example.com', 'env HOME', 'run git'."`
}

// Help implements kong's detailed help.
func (allowCmd) Help() string {
	return `Adds rules that permit the operations to a layer, .accessc/local.toml by default, in the spelling of the file;
comments and order stay. First it prints what the rules grant besides, and asks. The changed
configuration is compiled and asked before it is written, whole or not at all.

  accessc allow edit 'update src/version.h'
  accessc allow --layer workspace fetch 'connect https://example.com' 'env TOKEN'
  accessc allow --dry-run build 'run git status'   git with these arguments; 'run git' with any
  accessc allow --undo                             the layer as it was before; again, one change further back

Operations:

  ` + strings.Join(resolve.Verbs(), "\n  ") + `

Paths are relative to the workspace. Sensitive and protected paths are refused, as are programs that have a
service act for them: such a rule is yours to write. A place in your home is named from ~, as in
'read ~/.cargo/registry', and counts once you have approved it; other places outside of the workspace are
for accessc mount, or for --layer user.`
}

// Run implements the command.
func (c *allowCmd) Run(g *globals) error {
	switch {
	case c.Undo && (c.Tool != "" || c.Yes):
		return usagef("--undo takes no tool, and does not ask: it takes back the last change")
	case c.Undo:
		return c.undo(g)
	case len(c.Operations) == 0:
		return usagef("name a tool, and operations such as 'read src'; accessc allow --help has examples")
	}
	layer, _ := ir.ParseLayer(c.Layer)
	if g.Shared && layer != ir.LayerWorkspace {
		return usagef("--shared leaves out the %s layer, which would be written", c.Layer)
	}
	confirmed := ""
	for i := 1; ; i++ {
		err := c.once(g, layer, &confirmed)
		if !errors.Is(err, layerfile.ErrChanged) || i == patience {
			return err
		}
	}
}

// undo takes the last change back. It grants nothing: what it takes back was added.
func (c *allowCmd) undo(g *globals) error {
	res, err := g.here()
	if err != nil {
		return err
	}
	last, now, err := allow.Undo(res, c.DryRun)
	switch {
	case errors.Is(err, allow.ErrNoChange), errors.Is(err, layerfile.ErrChanged):
		fmt.Fprintf(g.stderr, "accessc: %s; nothing was changed\n", visible.Message(err.Error()))
		return exit(exitFindings)
	case err != nil:
		return err
	case c.DryRun:
		return writeDiff(g.stdout, last.File, now, last.Old)
	}
	rules := visible.Lines(strings.Join(last.Rules, "\n  no longer "))
	fmt.Fprintf(g.stderr, "%s, as it was before %s of %s:\n  no longer %s\n", visible.Text(last.File),
		last.At.Local().Format(time.DateTime), visible.Text(last.Tool), rules)
	return nil
}

// once plans, asks and writes.
func (c *allowCmd) once(g *globals, layer ir.Layer, confirmed *string) error {
	p, err := planner(g, allow.Request{Layer: layer, Tool: c.Tool})
	if err != nil {
		return err
	}
	var asks []allow.Ask
	for _, text := range c.Operations {
		words, err := split.Words(text)
		if err != nil {
			return usagef("%s: %w", visible.Text(text), err)
		}
		a, err := p.Question(words)
		if err != nil {
			return usagef("%s: %w", visible.Text(text), err)
		}
		asks = append(asks, a)
	}
	plan, err := p.Plan(asks...)
	switch {
	case err != nil:
		return g.notAllowed(err)
	case plan.Empty():
		fmt.Fprintln(g.stderr, "nothing to be done: it is permitted already")
		return nil
	case c.DryRun:
		if err := writeDiff(g.stdout, plan.Name, plan.Old, plan.New); err != nil {
			return err
		}
		fmt.Fprint(g.stderr, plan.Reach.Text())
		return nil
	}
	text := fmt.Sprintf("\n%s would be granted, in %s:\n\n  %s\n\n%s\n", c.Tool, plan.Name,
		strings.Join(plan.Rules, "\n  "), plan.Reach.Text())
	if !c.Yes && text != *confirmed {
		if err := g.agreed(text, "Allow?"); err != nil {
			return err
		}
		*confirmed = text
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := plan.Apply(ctx); err != nil {
		return err
	}
	fmt.Fprintf(g.stderr, "%s:\n  %s\n%s", visible.Text(plan.Name), visible.Lines(strings.Join(plan.Rules, "\n  ")),
		visible.Lines(plan.Reach.Text()))
	if len(plan.Approve) > 0 {
		fmt.Fprintf(g.stderr, "the rule counts once you have approved where it leads: %s\n",
			visible.Text(allow.ApproveCommand(slices.Sorted(maps.Keys(plan.Approve)))))
	}
	return nil
}

// planner prepares additions to a layer.
func planner(g *globals, req allow.Request) (*allow.Planner, error) {
	opts, err := g.asking().options(true, hostfacts.Platform())
	if err != nil {
		return nil, err
	}
	req.Compile = opts
	p, err := allow.Begin(req)
	if err != nil {
		return nil, g.notAllowed(err)
	}
	return p, nil
}
