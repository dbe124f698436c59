package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/agents/hook/settings"
	"github.com/accessc/accessc/internal/gate/seat"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/visible"
)

// hookPlace is the place of the settings that a command is about.
type hookPlace struct {
	Agent   string `arg:"" help:"The agent: claude-code, codex, copilot, cursor, gemini, opencode or windsurf."`
	User    bool   `xor:"place" help:"Your own settings, for all workspaces. This is the default."`
	Project bool   `xor:"place" help:"The settings in the workspace."`
}

// hookEntry are the flags that the hook gets.
type hookEntry struct {
	Tool      string `placeholder:"NAME" help:"The tool of the configuration whose policy judges, and under which commands run."`
	Ruleset   string `placeholder:"NAME" help:"The ruleset that judges commands."`
	Undecided string `enum:"confined,ask,deny" default:"confined" help:"A command that no rule decides runs confined under the tool's policy, is asked about, or is refused."`
	JudgeOnly bool   `help:"Leave commands as they are: no kernel holds what was judged."`
	Log       string `placeholder:"FILE" help:"Append a line of JSON for every event and its verdict."`
}

// hookPrintCmd is "accessc hook print".
type hookPrintCmd struct {
	hookPlace
	hookEntry
}

// hookInstallCmd is "accessc hook install".
type hookInstallCmd struct {
	hookPlace
	hookEntry
}

// hookUninstallCmd is "accessc hook uninstall".
type hookUninstallCmd struct{ hookPlace }

// Help implements kong's detailed help.
func (hookInstallCmd) Help() string {
	return `Puts the hook into the agent's settings. Comments, order, formatting and other hooks stay, and the file as
it was is kept beside it. A second installation changes the flags of the first.

The settings of a workspace have the path of accessc on this machine: do not commit them.

  accessc hook install claude-code --tool coder
  accessc hook install codex --project --ruleset dev`
}

// Run implements the command.
func (c *hookPrintCmd) Run(g *globals) error {
	a, path, err := c.find(g)
	if err != nil {
		return err
	}
	e, err := c.entry(g)
	if err == nil {
		err = e.Check()
	}
	if err != nil {
		return usageError{Err: err}
	}
	fmt.Fprintf(g.stderr, "for %s:\n", visible.Text(path))
	_, err = g.stdout.Write(a.New(e))
	return err
}

// Run implements the command.
func (c *hookInstallCmd) Run(g *globals) error {
	a, path, err := c.find(g)
	if err != nil {
		return err
	}
	chosen, err := c.choose(g, a)
	if err != nil {
		return err
	}
	e, err := c.entry(g)
	if err != nil {
		return usageError{Err: err}
	}
	if err := c.judges(g); err != nil {
		return err
	}
	r, err := a.Install(path, e)
	switch {
	case err != nil:
		return usagef("%s: %v; nothing was changed", path, oserr.Reason(err))
	case !r.Changed:
		fmt.Fprintf(g.stdout, "%s has the hook already\n", visible.Text(path))
		return nil
	}
	fmt.Fprintf(g.stdout, "%s has the hook\n", visible.Text(path))
	if r.Backup != "" {
		fmt.Fprintf(g.stdout, "%s has the file as it was\n", visible.Text(r.Backup))
	}
	for _, note := range append(c.notes(a, e), chosen, a.Step) {
		if note != "" {
			fmt.Fprintf(g.stderr, "note: %s\n", note)
		}
	}
	fmt.Fprintf(g.stderr, "accessc hook doctor %s tries it; accessc hook uninstall %s%s takes it back\n", a.Name, a.Name, c.flag())
	return nil
}

// choose takes the tool that runs the agent's program where no flag names a tool, and says
// how the hook judges.
// See decision D146.
func (c *hookInstallCmd) choose(g *globals, a *settings.Agent) (string, error) {
	program := a.Program
	if c.Tool != "" {
		return "", nil
	}
	var names []string
	if res, err := g.here(); err == nil {
		if res.Program == nil {
			return "", g.mistaken(res, "the layers have these mistakes; nothing was changed")
		}
		for _, t := range res.Program.Tools {
			if t.Command != nil && !t.Command.Shell && filepath.Base(t.Command.Program) == program {
				names = append(names, t.Name)
			}
		}
	}
	const without = "without --tool the default policy refuses, commands run under it and a person is asked about them; " +
		"file tools are held to no rules of a tool"
	switch {
	case len(names) == 0:
		return without + ". " + writesTool(a), nil
	case len(names) > 1:
		return without + ". Tools that run it: " + strings.Join(names, ", "), nil
	}
	c.Tool = names[0]
	out := "it judges by the tool " + c.Tool + ", which runs " + program
	if !c.Project {
		out += "; a workspace without a tool of this name is refused everything, and --project installs it for this one alone"
	}
	return out, nil
}

// writesTool is how a person gets a tool for an agent.
func writesTool(a *settings.Agent) string {
	if slices.Contains(survey.Agents(), a.Name) {
		return "accessc init --agent " + a.Name + " writes a tool for it; then install the hook again"
	}
	return "accessc init has no tool for " + a.Title + ": write a [tools.NAME] with command = \"" + a.Program +
		"\" and access.fs, as docs/agents.md has it; then install the hook again"
}

// judges refuses a tool or ruleset that the workspace does not have: the hook would refuse every event.
func (c *hookInstallCmd) judges(g *globals) error {
	if c.Tool == "" && c.Ruleset == "" {
		return nil
	}
	cwd, err := os.Getwd()
	if err == nil {
		_, _, err = seat.Policies{Config: g.asking().config(), Tool: c.Tool, Ruleset: c.Ruleset}.Judge(cwd)
	}
	if err != nil {
		return usagef("%w; nothing was changed", err)
	}
	return nil
}

// notes are about the program that the settings name, and about the agent's own sandbox.
func (c *hookInstallCmd) notes(a *settings.Agent, e settings.Entry) []string {
	var out []string
	if temporary(e.Program) {
		out = append(out, e.Program+" is a temporary file: once it is gone, the hook does not start. Install accessc, and then the hook again")
	}
	if !c.JudgeOnly {
		out = append(out, a.Box)
	}
	if c.Project {
		out = append(out, "the file has the path of accessc on this machine; do not commit it")
	}
	return out
}

// temporary reports whether a program is one that go run or go test has made.
func temporary(program string) bool {
	return strings.Contains(filepath.ToSlash(program), "/go-build") || workspace.Within(program, os.TempDir())
}

// Run implements the command.
func (c *hookUninstallCmd) Run(g *globals) error {
	a, path, err := c.find(g)
	if err != nil {
		return err
	}
	r, err := a.Uninstall(path)
	switch {
	case err != nil:
		return usagef("%s: %v; nothing was changed", path, oserr.Reason(err))
	case !r.Changed:
		fmt.Fprintf(g.stdout, "%s has no hook of accessc\n", visible.Text(path))
	case r.Removed && r.Backup != "":
		fmt.Fprintf(g.stdout, "%s is gone; it had changed since the installation, and %s has it as it was\n", visible.Text(path), visible.Text(r.Backup))
	case r.Removed:
		fmt.Fprintf(g.stdout, "%s is gone, as before the installation\n", visible.Text(path))
	case r.Backup != "":
		fmt.Fprintf(g.stdout, "%s has no hook any more, and the later changes; %s has the file as it was\n", visible.Text(path), visible.Text(r.Backup))
	default:
		fmt.Fprintf(g.stdout, "%s has no hook any more\n", visible.Text(path))
	}
	return nil
}

// find returns the agent and the file of its settings.
func (c *hookPlace) find(g *globals) (*settings.Agent, string, error) {
	a, err := findAgent(c.Agent)
	if err != nil {
		return nil, "", err
	}
	places, err := ownPlaces()
	if err != nil {
		return nil, "", err
	}
	if path := places.User(a); !c.Project {
		if err := owned(filepath.Dir(path), quietRoot(g)); err != nil {
			return nil, "", usageError{Err: err}
		}
		return a, path, nil
	}
	root, err := g.root()
	if err != nil {
		return nil, "", err
	}
	if places.Workspace, err = filepath.Abs(root); err != nil {
		return nil, "", err
	}
	path := places.Project(a)
	if err := inside(filepath.Dir(path), places.Workspace); err != nil {
		return nil, "", usageError{Err: err}
	}
	return a, path, nil
}

// ownPlaces are those of the user.
func ownPlaces() (settings.Places, error) {
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.Abs(home)
	}
	if err != nil {
		return settings.Places{}, usageError{Err: err}
	}
	return settings.Places{Home: home, Getenv: os.Getenv}, nil
}

// inside reports a directory of a workspace that lies behind a symlink, which a repository may bring.
func inside(dir, root string) error {
	for at := dir; at != root && workspace.Within(at, root); at = filepath.Dir(at) {
		to, err := os.Readlink(at)
		if err == nil {
			return fmt.Errorf("%s is a symlink to %s, and no settings of a workspace behind a symlink are edited; nothing was changed", at, to)
		}
	}
	return nil
}

// owned reports a directory of the user's settings that a symlink leads to another user's files, or into the
// workspace of the root, empty for none. Users keep their settings elsewhere, so other symlinks are followed.
func owned(dir, root string) error {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); errors.Is(err, os.ErrNotExist) && at != filepath.Dir(at) {
			continue
		}
		to, err := filepath.EvalSymlinks(at)
		if err != nil || to == at {
			return err
		}
		info, err := os.Stat(to)
		switch {
		case err != nil:
			return err
		case !seat.Owned(info) || runtime.GOOS != "windows" && info.Mode()&0o002 != 0:
			return fmt.Errorf("%s leads to %s, which others can change; nothing was changed", at, to)
		case root != "" && !workspace.Within(at, root) && workspace.Within(to, canonical(root)):
			return fmt.Errorf("%s leads into the workspace, to %s; nothing was changed", at, to)
		}
		return nil
	}
}

// flag is the flag of the place, with a blank before it.
func (c *hookPlace) flag() string {
	if c.Project {
		return " --project"
	}
	return ""
}

// entry is how the settings start this program.
func (c *hookEntry) entry(g *globals) (settings.Entry, error) {
	self, err := ownPath(quietRoot(g))
	if err != nil {
		return settings.Entry{}, err
	}
	e := settings.Entry{Program: self, Args: []string{}}
	add := func(flag, value string) {
		if value != "" {
			e.Args = append(e.Args, flag, value)
		}
	}
	add("--tool", c.Tool)
	add("--ruleset", c.Ruleset)
	if c.Undecided != string(hook.UndecidedConfined) {
		add("--undecided", c.Undecided)
	}
	if c.JudgeOnly {
		e.Args = append(e.Args, "--judge-only")
	}
	if c.Log != "" {
		log, err := filepath.Abs(c.Log)
		if err != nil {
			return e, err
		}
		add("--log", log)
	}
	return e, nil
}

// ownPath is the path of this program: the one in PATH if it leads to this program and lies outside
// of the workspace, since that path stays valid after an update, or else the program's own.
func ownPath(root string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath("accessc")
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err == nil && canonical(found) == canonical(self) && (root == "" || !workspace.Within(found, root)) {
		return found, nil
	}
	return filepath.Clean(self), nil
}
