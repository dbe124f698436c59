package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/layerfile"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/suggest"
)

//go:embed starter.toml
var starter string

// initCmd is "accessc init".
type initCmd struct {
	Print   bool   `help:"Print the policy instead of writing it."`
	Starter bool   `xor:"text" help:"Write an example with every kind of rule, whatever the repository has."`
	Agent   string `placeholder:"NAME" xor:"text" help:"Write a tool that runs an agent as well, into an accessc.toml that is there at its end: claude-code, codex, gemini or opencode."`
	Login   string `enum:"own,shared" default:"own" help:"The agent's login: own, in its own home, or shared, yours, once you approve it."`
}

// Help implements kong's detailed help.
func (initCmd) Help() string {
	return `Looks at the files of the repository and writes accessc.toml with tools that build and test it, each rule with its
reason: for go.mod, go.work, Cargo.toml, package.json and its lock file, pyproject.toml and requirements.txt, Makefile,
CMakeLists.txt, pom.xml, build.gradle and .git, for members of workspaces and for projects below the top. Says what it
found, and what it has no tool for, also because the tool's program is not in PATH.
It runs nothing, takes over no text of the repository, and touches an existing accessc.toml with --agent alone. Where
it knows nothing it writes an example with every kind of rule.

  accessc init                       write it, then: accessc check, accessc explain, accessc exec TOOL
  accessc approve preset:go          let its tools read the toolchain of your home
  accessc exec go-test               run one of them
  accessc init --agent claude-code   and a tool for the agent, then: accessc exec claude

An agent logs in once, in a home of its own. With --login shared it uses the file of your login instead: the tool gets
a rule on that one file, and a link in its home. Whoever reads the file can use the login anywhere.`
}

// Run implements the command.
func (c *initCmd) Run(g *globals) error {
	dir := cmp.Or(g.Dir, ".")
	agent, err := c.agent(dir)
	if err != nil {
		return err
	}
	link, err := c.share(g, agent)
	if err != nil {
		return err
	}
	found, text, err := c.policy(dir, agent)
	if err != nil {
		return usagef("%s: %v", dir, oserr.Reason(err))
	}
	if c.Print {
		_, err := fmt.Fprint(g.stdout, text)
		return err
	}
	if g.Dir == "" {
		cwd, err := os.Getwd()
		if err != nil {
			return err
		}
		own, _ := userdir.Root() // without any there is none that a tool could write
		if err := g.refused(workspace.Unmarked(cwd, own)); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "accessc.toml")
	if _, err := os.Lstat(path); err == nil && agent != nil {
		return c.add(g, dir, agent, link)
	}
	if err := c.fresh(g, dir, path, text); err != nil {
		return err
	}
	if err := writeNew(path, text, "accessc init --print shows what it would be"); err != nil {
		return err
	}
	fmt.Fprintf(g.stderr, "%s written\n%s", path, survey.Summary(found))
	if err := link(); err != nil {
		return err
	}
	fmt.Fprintf(g.stderr, "next: %s%s\n", c.approvals(g), next(agent, found))
	return nil
}

// next are the commands to go on with; the last of them starts a tool.
func next(agent *survey.Tool, found []survey.Found) string {
	switch {
	case agent == nil:
		return "accessc check, accessc explain, " + firstStart(found)
	case !inPath(agent.Name):
		return "install " + agent.Name + ", which is not in PATH; then accessc exec " + agent.Name
	default:
		return "accessc exec " + agent.Name
	}
}

// firstStart starts the first tool that was found, or the example's.
func firstStart(found []survey.Found) string {
	first := "example"
	if i := slices.IndexFunc(found, func(f survey.Found) bool { return len(f.Tools) > 0 }); i >= 0 {
		first = found[i].Tools[0].Name
	}
	if first == "git" {
		first += " -- status" // it takes a word
	}
	return "accessc exec " + first
}

// agent is the tool for the agent, nil without the flag.
func (c *initCmd) agent(dir string) (*survey.Tool, error) {
	if c.Agent == "" {
		return nil, nil
	}
	t, err := survey.Agent(dir, c.Agent)
	switch {
	case err != nil:
		return nil, usagef("%s: %v", dir, oserr.Reason(err))
	case t == nil:
		if a := registry.Hook(c.Agent); a != nil {
			return nil, usagef("no preset runs %s as a whole; its commands run confined by accessc hook install %s: %s",
				a.Title, a.Name, writesTool(a))
		}
		hint := cmp.Or(suggest.Hint(c.Agent, survey.Agents()), "the agents are "+strings.Join(survey.Agents(), ", "))
		return nil, usagef("there is no agent %q with a preset; %s", c.Agent, hint)
	}
	place(t)
	return t, nil
}

// share lets the tool of an agent use the user's login, and returns how to make the link in the tool's home.
// See RATIONALE D435.
func (c *initCmd) share(g *globals, t *survey.Tool) (link func() error, err error) {
	switch {
	case c.Login != "shared":
		return func() error { return nil }, nil
	case t == nil:
		return nil, usagef("--login shared takes --agent")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, usagef("--login shared: %v", err)
	}
	name := t.Share()
	login := filepath.Join(home, filepath.FromSlash(name))
	if info, err := os.Stat(login); err != nil || !info.Mode().IsRegular() {
		return nil, usagef("%s has no login in %s; log in first, or leave out --login shared. Nothing was changed",
			c.Agent, login)
	}
	return func() error {
		dir, err := g.state()
		if err == nil {
			err = dir.LinkHome(t.Name, name, login)
		}
		if err != nil {
			return usagef("the link in the home of %s: %v; accessc home clear %s makes room, then call this again",
				t.Name, oserr.Reason(err), t.Name)
		}
		return nil
	}, nil
}

// place tells the tool of an agent where its program is, if that is below the user's home.
func place(t *survey.Tool) {
	program, err := exec.LookPath(t.Name)
	home, err2 := os.UserHomeDir()
	file, err3 := filepath.EvalSymlinks(program)
	if errors.Join(err, err2, err3) != nil {
		return // there is none yet, or the home is unknown
	}
	link, err := filepath.Rel(home, program)
	rest, err2 := filepath.Rel(home, file)
	if err == nil && err2 == nil && filepath.IsLocal(link) && filepath.IsLocal(rest) {
		t.Place(filepath.ToSlash(link), filepath.ToSlash(rest))
	}
}

// add writes the tool for the agent behind the text of the policy that is there.
// See RATIONALE D389.
func (c *initCmd) add(g *globals, dir string, agent *survey.Tool, link func() error) error {
	const name = "accessc.toml"
	root, err := os.OpenRoot(dir)
	if err != nil {
		return usagef("%s: %v", dir, oserr.Reason(err))
	}
	defer root.Close()
	f, err := layerfile.Open(root, ".", name)
	if err != nil {
		return usagef("%s: %v", name, oserr.Reason(err))
	}
	defer f.Close()
	old, err := layerfile.Parse(name, f.Data)
	switch {
	case err != nil:
		return usagef("%w; nothing was changed", err)
	case slices.Contains(old.Tools(), agent.Name) && c.Login == "shared" && agent.Reads(string(f.Data)):
		if err := link(); err != nil {
			return err
		}
		fmt.Fprintf(g.stderr, "the home of %s has a link to your login\nnext: %s%s\n",
			agent.Name, c.approvals(g), next(agent, nil))
		return nil
	case slices.Contains(old.Tools(), agent.Name):
		return usagef("%s has a tool %s already; nothing was changed. Next: accessc exec %s", name, agent.Name, agent.Name)
	}
	text := append(bytes.TrimRight(f.Data, "\n"), '\n')
	text = append(text, agent.Block(c.Agent)...)
	if _, err := layerfile.Parse(name, text); err != nil {
		return usagef("%w; nothing was changed. Its tools have to be tables of their own, such as [tools.NAME]", err)
	}
	if err := c.fits(g, dir, text, []string{agent.Name}); err != nil {
		return err
	}
	if err := f.Write(text); err != nil {
		return usagef("%s: %v", name, oserr.Reason(err))
	}
	fmt.Fprintf(g.stderr, "%s has the tool %s at its end\n", filepath.Join(dir, name), agent.Name)
	if err := link(); err != nil {
		return err
	}
	fmt.Fprintf(g.stderr, "next: %s%s\n", c.approvals(g), next(agent, nil))
	return nil
}

// policy is the text of the file, and the files of the repository that it is for.
func (c *initCmd) policy(dir string, agent *survey.Tool) ([]survey.Found, string, error) {
	if c.Starter {
		return nil, starter, nil
	}
	found, err := survey.Look(dir, inPath)
	if agent != nil {
		found = append(found, survey.Found{File: c.Agent, Tools: []survey.Tool{*agent}})
	}
	return found, cmp.Or(survey.Text(found, hostfacts.Platform()), starter), err
}

// inPath reports whether PATH has a program.
func inPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// writeNew writes a file that is not there yet, and leaves none after an error. hint is for a user who has one.
func writeNew(path, text, hint string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usagef("%s is there already; %s", path, hint)
	}
	if err == nil {
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return usagef("%s: %v", path, oserr.Reason(err))
	}
	return nil
}

// approvals is the command that approves the places of presets and rules on this host, empty where none waits.
func (c *initCmd) approvals(g *globals) string {
	res, err := g.here()
	if err != nil {
		return "" // check reports the mistake
	}
	var names []string
	for _, b := range pendingOf(res.Bindings, nil) {
		for _, grant := range b.Grants {
			name, _, _ := strings.Cut(grant.Preset, "@")
			if !strings.HasPrefix(name, source.Preset) {
				name = grant.RulePath
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "accessc approve " + strings.Join(names, " ") + ", "
}
