package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/adopt"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/visible"
)

// adoptCmd is "accessc adopt".
type adoptCmd struct {
	Undo bool   `help:"Have the servers start as before, and take their tables out of the configuration." xor:"way"`
	Try  bool   `help:"Start each adopted server once as the client would, and wait for its first answer." xor:"way"`
	File string `arg:"" name:"file" help:"The file that names the servers, such as .mcp.json."`
}

// Help implements kong's detailed help.
func (adoptCmd) Help() string {
	return `Rewrites a client's list of MCP servers, so that each one that is a command starts through accessc mcp:
.mcp.json, .cursor/mcp.json, .vscode/mcp.json, ~/.codex/config.toml, and other files with mcpServers, servers or
mcp_servers in them. Comments and formatting stay. The file as it was is kept beside it.

Writes a table for each of them into the configuration, accessc.toml for a file of the workspace, your own layer for
others, and .accessc/local.toml for the servers that a file has for this project alone (~/.claude.json): the registry
that npx, uvx, bunx and the like download from, the places among the arguments, and the variables that the file sets.
Protected and sensitive places get no rule, and are named. --undo removes these tables unless they
were edited. --try starts each server that the file starts through accessc.
A server stays as it is, with the reason, where its entry would
move accessc's own configuration (PATH, HOME, XDG_CONFIG_HOME and others in env, envFile, cwd), and where it
starts through another accessc or with other flags than this command writes. A server that docker starts stays, too: the
daemon does the work, and no policy would hold for it.

  accessc adopt .mcp.json
  accessc adopt --try .mcp.json
  accessc adopt --undo .mcp.json`
}

// Run implements the command.
func (c *adoptCmd) Run(g *globals) error {
	l, err := c.layer(g)
	if err != nil {
		return err
	}
	act, client := adopt.Apply, c.client(g)
	if c.Undo {
		act = adopt.Undo
	}
	client.First = func(servers []adopt.Server) (func() error, error) {
		if err := l.prepare(g, servers); err != nil {
			return nil, err
		}
		return l.write()
	}
	servers, err := act(c.File, client)
	var said exit
	if errors.As(err, &said) {
		return said
	}
	if err != nil {
		return usagef("%s: %v; nothing was changed", c.File, oserr.Reason(err))
	}
	changed := 0
	for _, s := range servers {
		c.say(g, l, s)
		if s.Changed {
			changed++
		}
	}
	if changed > 0 && !c.Undo {
		fmt.Fprintf(g.stderr, "accessc adopt --undo %s takes it back\n", c.File)
	}
	if c.Try {
		return c.try(g, l, servers)
	}
	return nil
}

// client is how the clients of the file's kind start their servers.
func (c *adoptCmd) client(g *globals) adopt.Client {
	self, _ := os.Executable() // without one, no path of a program is this one
	return adopt.Client{
		Program: ownProgram(),
		Own: func(command string) bool {
			return command == ownProgram() || self != "" && filepath.IsAbs(command) && canonical(command) == canonical(self)
		},
		Workspace: func(dir string) bool { return c.isWorkspace(g, dir) },
		Elsewhere: func(project string) string { return c.elsewhere(g, project) },
	}
}

// elsewhere is the reason to leave the servers of a project that is not in this workspace: their tables belong into the
// layer of its own checkout.
func (c *adoptCmd) elsewhere(g *globals, project string) string {
	root, err := g.findRoot()
	if err == nil && canonical(project) == canonical(root) {
		return ""
	}
	own, _ := userdir.Root() // without any there is none that a tool could write
	around, none := workspace.Find(project, own, source.Lists(hostview.Now))
	if none == nil && err == nil && canonical(around) == canonical(root) {
		return ""
	}
	if _, err := os.Stat(project); none != nil || err != nil {
		return "belongs to the project " + project + ", which is no workspace here"
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		file = c.File
	}
	command := " adopt "
	if c.Undo {
		command = " adopt --undo "
	}
	return "belongs to the project " + project + " alone: accessc -C " + shellword.Quote(around) + command +
		shellword.Quote(file)
}

// isWorkspace reports whether a file names the workspace that it lies in, by a name that no tool
// can lead to another directory.
func (c *adoptCmd) isWorkspace(g *globals, dir string) bool {
	root, err := g.findRoot()
	if err != nil || !workspace.Within(canonical(c.File), canonical(root)) {
		return false
	}
	switch dir {
	case "", ".", "./", "${workspaceFolder}":
		return true
	}
	return filepath.IsAbs(dir) && filepath.Clean(dir) == canonical(root)
}

// say prints how a server was changed, and changes its table.
func (c *adoptCmd) say(g *globals, l *adoptLayer, s adopt.Server) {
	name := visible.Text(s.Name)
	if s.Table != "" {
		name += " in " + visible.Text(s.Table)
	}
	switch {
	case !s.Changed:
		fmt.Fprintf(g.stdout, "# %s: unchanged, it %s\n", name, visible.Text(s.Why))
	case c.Undo:
		fmt.Fprintf(g.stdout, "# %s: starts directly\n", name)
		if s.Shares == "" {
			l.remove(g, name, s)
		}
	case s.Shares != "":
		fmt.Fprintf(g.stdout, "# %s: starts under [servers.%s], together with %s\n",
			name, tomltext.Key(s.Policy), visible.Text(s.Shares))
	default:
		l.inserting(g, name, s, c.Try)
	}
}

// ownProgram is how a file starts this program: by its name where that finds it, so that a file in a
// repository works for all who have it. Windows looks for a name in the directory of the client
// first, which is the repository. See decision D173.
func ownProgram() string {
	self, err := os.Executable()
	if err != nil {
		return "accessc"
	}
	found, err := exec.LookPath("accessc")
	if err == nil && canonical(found) == canonical(self) && runtime.GOOS != "windows" {
		return "accessc"
	}
	return filepath.Clean(self)
}
