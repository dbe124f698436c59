package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// homeCmd is "accessc home".
type homeCmd struct {
	List  homeListCmd  `cmd:"" help:"List the private homes of this workspace's tools, with their sizes and ages."`
	Path  homePathCmd  `cmd:"" help:"Print where the private home of a tool is."`
	Clear homeClearCmd `cmd:"" help:"Remove private homes, after a question."`
}

// homeListCmd is "accessc home list".
type homeListCmd struct {
	Format string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Tools  []string `arg:"" optional:"" name:"tool" help:"The tools; all that have a home by default."`
}

// homePathCmd is "accessc home path".
type homePathCmd struct {
	Tool string `arg:"" optional:"" name:"tool" help:"The tool; without it, the directory that has the homes of all."`
}

// homeClearCmd is "accessc home clear".
type homeClearCmd struct {
	Yes   bool     `short:"y" help:"Do not ask."`
	Tools []string `arg:"" optional:"" name:"tool" help:"The tools; all that have a home by default."`
}

// Help implements kong's detailed help.
func (homeListCmd) Help() string {
	return `A tool with access.home = "private", the default, finds its HOME in a directory of its own that is kept between
runs: caches, settings and whatever it writes there. Tools with access.home = "shared" have one together, which is
named @shared. The list has the size, the number of files, and the day of the last change of each.

  accessc home list             of every tool of this workspace
  accessc home list edit        of edit`
}

// Help implements kong's detailed help.
func (homePathCmd) Help() string {
	return `A tool gets its home at its first start; until then nothing is there.

  cp ~/.gitconfig "$(accessc home path git)"    give git a name to commit by`
}

// Help implements kong's detailed help.
func (homeClearCmd) Help() string {
	return `Forgets all that tools have kept between runs; each gets a new home at its next start. The home of a tool
that runs stays, and then nothing is removed.

  accessc home clear edit`
}

// homesDoc is the list for programs.
type homesDoc struct {
	Version int                   `json:"format_version"`
	Homes   []userdir.PrivateHome `json:"homes"`
}

// state is the directory of this workspace's state.
func (g *globals) state() (userdir.Dir, error) {
	root, err := g.root()
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", err
	}
	return userdir.For(root)
}

// Run implements the command.
func (c *homeListCmd) Run(g *globals) error {
	dir, err := g.state()
	if err != nil {
		return err
	}
	homes, err := dir.HomesOf(c.Tools)
	switch {
	case err != nil:
		return err
	case c.Format == "json":
		return g.writeJSON(homesDoc{1, homes})
	case len(homes) == 0:
		fmt.Fprintln(g.stderr, "no tool of this workspace has a private home yet")
	}
	fmt.Fprint(g.stdout, homesText(homes))
	return nil
}

// Run implements the command.
func (c *homePathCmd) Run(g *globals) error {
	dir, err := g.state()
	if err != nil {
		return err
	}
	if c.Tool == "" {
		fmt.Fprintln(g.stdout, dir.Home(""))
		return nil
	}
	res, err := g.here()
	if err != nil {
		return err
	}
	if res.Program == nil {
		return g.sayText(res.Findings, res.Files, "")
	}
	t, err := config.Tool(res.Program, c.Tool)
	if err != nil {
		return err
	}
	if t.Home != ir.HomePrivate {
		return usagef("%s has no private home: its access.home is %s", c.Tool, t.Home)
	}
	fmt.Fprintln(g.stdout, dir.HomeOf(t.Name, t.HomeShared))
	return nil
}

// Run implements the command.
func (c *homeClearCmd) Run(g *globals) error {
	dir, err := g.state()
	if err != nil {
		return err
	}
	homes, err := dir.HomesOf(c.Tools)
	if err != nil {
		return err
	}
	return c.clear(g, dir, homes)
}

func homesText(homes []userdir.PrivateHome) string {
	var rows [][]string
	for _, h := range homes {
		rows = append(
			rows,
			[]string{
				h.Tool,
				explain.Bytes(h.Bytes),
				plural.Count(h.Files, "file"),
				h.Changed.Local().Format(time.DateOnly),
				h.Path,
			},
		)
	}
	return explain.Table(rows)
}

// clear removes homes whose tools do not run.
func (c *homeClearCmd) clear(g *globals, dir userdir.Dir, homes []userdir.PrivateHome) error {
	known, err := userdir.Idle(homes)
	if err != nil {
		return err
	}
	if len(homes) == 0 {
		fmt.Fprintln(g.stderr, "nothing to be done")
		return nil
	}
	text := homesText(homes)
	if !known {
		text += "Make sure that none of these tools is running.\n"
	}
	if err := c.confirm(g, text); err != nil {
		return err
	}
	release, err := userdir.Seize(homes)
	if err != nil {
		return err
	}
	defer release()
	for _, h := range homes {
		if err := dir.ClearHome(h.Tool); err != nil {
			return err
		}
		fmt.Fprintf(g.stderr, "removed: %s\n", visible.Text(h.Path))
	}
	return nil
}

func (c *homeClearCmd) confirm(g *globals, text string) error {
	if c.Yes {
		return nil
	}
	return g.agreed(text, "Remove them?")
}
