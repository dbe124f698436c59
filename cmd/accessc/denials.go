package main

import (
	"errors"
	"fmt"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/propose/denials"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// denialsCmd is "accessc denials".
type denialsCmd struct {
	Layer  string `enum:"local,workspace,user" default:"local" help:"The layer that the rules would go to: local, workspace or user."`
	Format string `enum:"text,json" default:"text" help:"Output format: text or json."`
	Tool   string `arg:"" optional:"" name:"tool" help:"The tool; the one that ran last by default."`
}

// Help implements kong's detailed help.
func (denialsCmd) Help() string {
	return `Shows the operations that the last run of a tool was refused, each with the rule that decided, and what would permit
it: the command, and the lines in the spelling of the file that it would write. One rule is proposed for a directory
that was listed, or in which three files or made-up names were refused. Nothing is proposed for sensitive
and protected paths, for roots such as your home, and for sockets and programs that have others act.

  accessc denials           of the tool that ran last in this workspace
  accessc denials edit      of edit

Only a supervisor sees refusals: of a tool that needs none nothing is kept. accessc exec --trace TOOL starts any
tool under one.`
}

// Run implements the command.
func (c *denialsCmd) Run(g *globals) error {
	state, err := g.state()
	if err != nil {
		return err
	}
	k, err := denials.Read(state, c.Tool)
	if err == nil && k == nil {
		err = c.nothing(g)
	}
	if err != nil || k == nil {
		return err
	}
	doc := denials.New(k)
	if k.Unwatched && c.Format == "text" {
		fmt.Fprint(g.stderr, visible.Lines(denials.UnwatchedText(k)))
		return nil
	}
	if !k.Unnamed && !k.Unwatched {
		layer, _ := ir.ParseLayer(c.Layer)
		p, err := planner(g, allow.Request{Layer: layer, Tool: k.Tool})
		if errors.Is(err, allow.ErrNoTool) && c.Format == "text" {
			fmt.Fprint(g.stdout, visible.Lines(doc.Listed()))
			fmt.Fprintf(g.stderr, "nothing is proposed: %s ran under the default policy; rules would stand in a table of its own, such as [servers.%s] of an MCP server\n",
				visible.Text(k.Tool), visible.Text(tomltext.Key(k.Tool)))
			return nil
		}
		if err != nil {
			fmt.Fprint(g.stdout, visible.Lines(doc.Listed()))
			return err
		}
		doc.Propose(p)
	}
	doc.Further()
	if c.Format == "json" {
		return g.writeJSON(doc)
	}
	_, err = fmt.Fprint(g.stdout, visible.Lines(doc.Text()))
	return err
}

// nothing says that no refusals are kept, and by which start they would be.
func (c *denialsCmd) nothing(g *globals) error {
	name := c.Tool
	if name == "" {
		name = "TOOL"
	} else if opts, err := g.asking().options(true, hostfacts.Platform()); err == nil {
		opts.Apart = true
		if res, err := hostfacts.Compile(opts); err == nil && res.Program != nil {
			if _, err := config.Tool(res.Program, c.Tool); err != nil {
				return err
			}
		}
	}
	if !start.Observes {
		fmt.Fprintln(g.stderr, "no refusals are kept: on this system accessc becomes the tool, and sees nothing of it")
		return nil
	}
	fmt.Fprintf(g.stderr,
		"no refusals are kept: it has not run here, or not since its state was cleared. accessc exec --trace %s "+
			"starts it under a supervisor that sees every refusal, slower\n",
		visible.Line(name))
	return nil
}
