package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/internal/explain"
	"github.com/accessc/accessc/internal/plural"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/internal/visible"
)

// homesCmd is "accessc homes".
type homesCmd struct {
	Clear  bool     `help:"Remove the homes, after a question. A tool gets a new one at its next start."`
	Yes    bool     `help:"With --clear: do not ask."`
	Format string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Tools  []string `arg:"" optional:"" name:"tool" help:"The tools; all that have a home by default."`
}

// Help implements kong's detailed help.
func (homesCmd) Help() string {
	return `Lists the private homes that tools of this workspace have, where each lies and what it holds: caches,
settings and whatever the tool keeps there between runs.

  accessc homes --clear edit    forget all that edit has kept; refused while it runs`
}

// homesDoc is the list for programs.
type homesDoc struct {
	Version int                   `json:"format_version"`
	Homes   []userdir.PrivateHome `json:"homes"`
}

// Run implements the command.
func (c *homesCmd) Run(g *globals) error {
	root, err := g.root()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return err
	}
	dir, err := userdir.For(root)
	if err != nil {
		return err
	}
	homes, err := c.chosen(dir)
	switch {
	case err != nil:
		return err
	case c.Clear:
		return c.clear(g, dir, homes)
	case c.Format == "json":
		return g.writeJSON(homesDoc{1, homes})
	case len(homes) == 0:
		fmt.Fprintln(g.stderr, "no tool of this workspace has a private home yet")
	}
	fmt.Fprint(g.stdout, homesText(homes))
	return nil
}

// chosen are the homes of the tools that are named.
func (c *homesCmd) chosen(dir userdir.Dir) ([]userdir.PrivateHome, error) {
	homes, err := dir.Homes()
	if err != nil || len(c.Tools) == 0 {
		return homes, err
	}
	for _, tool := range c.Tools {
		if !slices.ContainsFunc(homes, func(h userdir.PrivateHome) bool { return h.Tool == tool }) {
			return nil, usagef("%s has no private home in this workspace; nothing was changed", visible.Text(tool))
		}
	}
	return slices.DeleteFunc(homes, func(h userdir.PrivateHome) bool { return !slices.Contains(c.Tools, h.Tool) }), nil
}

func homesText(homes []userdir.PrivateHome) string {
	var rows [][]string
	for _, h := range homes {
		rows = append(rows, []string{h.Tool, explain.Bytes(h.Bytes), plural.Count(h.Files, "file"), h.Path})
	}
	return explain.Table(rows)
}

// clear removes homes whose tools do not run.
func (c *homesCmd) clear(g *globals, dir userdir.Dir, homes []userdir.PrivateHome) error {
	note := ""
	for _, h := range homes {
		running, known := userdir.Running(h.Path)
		if running {
			return usagef("%s is running with its home; nothing was changed", visible.Text(h.Tool))
		}
		if !known {
			note = "Make sure that none of these tools is running.\n"
		}
	}
	if len(homes) == 0 {
		fmt.Fprintln(g.stderr, "nothing to be done")
		return nil
	}
	if err := c.confirm(g, homesText(homes)+note); err != nil {
		return err
	}
	for _, h := range homes {
		if err := dir.ClearHome(h.Tool); err != nil {
			return err
		}
		fmt.Fprintf(g.stderr, "removed: %s\n", visible.Text(h.Path))
	}
	return nil
}

func (c *homesCmd) confirm(g *globals, text string) error {
	if c.Yes {
		return nil
	}
	return g.agreed(text, "Remove them?")
}
