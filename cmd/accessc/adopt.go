package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/accessc/accessc/internal/adopt"
	"github.com/accessc/accessc/internal/oserr"
	"github.com/accessc/accessc/internal/tomltext"
	"github.com/accessc/accessc/internal/visible"
)

// adoptCmd is "accessc adopt".
type adoptCmd struct {
	Undo bool   `help:"Have the servers start as before."`
	File string `arg:"" name:"file" help:"The file that names the servers, such as .mcp.json."`
}

// Help implements kong's detailed help.
func (adoptCmd) Help() string {
	return `Rewrites a client's list of MCP servers, so that each one that is a command starts through accessc mcp:
.mcp.json, .cursor/mcp.json, .vscode/mcp.json, and other files with mcpServers or servers in them. Comments
and formatting stay. The file as it was is kept beside it.

Prints what became of each server, and the configuration for the variables that the file sets, which
reach a server only if its policy grants them.

  accessc adopt .mcp.json
  accessc adopt --undo .mcp.json`
}

// Run implements the command.
func (c *adoptCmd) Run(g *globals) error {
	act := adopt.Apply
	if c.Undo {
		act = adopt.Undo
	}
	servers, err := act(c.File, ownProgram())
	if err != nil {
		return usagef("%s: %v; nothing was changed", c.File, oserr.Reason(err))
	}
	changed := 0
	for _, s := range servers {
		c.say(g, s)
		if s.Changed {
			changed++
		}
	}
	if changed > 0 && !c.Undo {
		fmt.Fprintf(g.stderr, "accessc adopt --undo %s takes it back\n", c.File)
	}
	return nil
}

// say prints how a server was changed.
func (c *adoptCmd) say(g *globals, s adopt.Server) {
	name := visible.Text(s.Name)
	switch {
	case !s.Changed:
		fmt.Fprintf(g.stdout, "# %s: unchanged, it %s\n", name, s.Why)
		return
	case c.Undo:
		fmt.Fprintf(g.stdout, "# %s: starts directly\n", name)
		return
	}
	fmt.Fprintf(g.stdout, "# %s: starts under [servers.%s], or the default policy without it\n", name, tomltext.Key(s.Policy))
	for _, env := range s.Env {
		fmt.Fprintf(g.stdout, "[[servers.%s.access.env]]\nname = %s\nread = true\n", tomltext.Key(s.Policy), tomltext.String(env))
	}
}

// ownProgram is how a file starts this program: by its name where that finds it.
func ownProgram() string {
	self, err := os.Executable()
	if err != nil {
		return "accessc"
	}
	if found, err := exec.LookPath("accessc"); err == nil && canonical(found) == canonical(self) {
		return "accessc"
	}
	return filepath.Clean(self)
}
