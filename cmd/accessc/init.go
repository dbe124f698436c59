package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/host/consent"
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
	link, err := c.link(g, agent)
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
	f := survey.File{Dir: dir, Config: g.asking().config()}
	if _, err := os.Lstat(f.Path()); err == nil && agent != nil {
		return c.add(g, f, agent, link)
	}
	if err := f.Write(text); err != nil {
		return g.refused(err)
	}
	fmt.Fprintf(g.stderr, "%s written\n%s", f.Path(), survey.Summary(found))
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
		return "accessc check, accessc explain, " + survey.FirstStart(found)
	case !survey.InPath(agent.Name):
		return "install " + agent.Name + ", which is not in PATH; then accessc exec " + agent.Name
	default:
		return "accessc exec " + agent.Name
	}
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
	t.Find()
	return t, nil
}

// link returns how the tool of an agent gets at the user's login.
func (c *initCmd) link(g *globals, t *survey.Tool) (func() error, error) {
	if c.Login != "shared" {
		return func() error { return nil }, nil
	}
	link, err := survey.Login(t, c.Agent)
	if err != nil {
		return nil, err
	}
	return func() error {
		dir, err := g.state()
		if err != nil {
			return usagef("the link in the home of %s: %v; accessc home clear %s makes room, then call this again",
				t.Name, oserr.Reason(err), t.Name)
		}
		return link(dir)
	}, nil
}

// add writes the tool for the agent behind the text of the policy that is there.
func (c *initCmd) add(g *globals, f survey.File, agent *survey.Tool, link func() error) error {
	added, err := f.Add(agent, c.Agent, c.Login == "shared")
	if err != nil {
		return g.refused(err)
	}
	if added {
		fmt.Fprintf(g.stderr, "%s has the tool %s at its end\n", f.Path(), agent.Name)
	}
	if err := link(); err != nil {
		return err
	}
	if !added {
		fmt.Fprintf(g.stderr, "the home of %s has a link to your login\n", agent.Name)
	}
	fmt.Fprintf(g.stderr, "next: %s%s\n", c.approvals(g), next(agent, nil))
	return nil
}

// policy is the text of the file, and the files of the repository that it is for.
func (c *initCmd) policy(dir string, agent *survey.Tool) ([]survey.Found, string, error) {
	if c.Starter {
		return nil, starter, nil
	}
	found, err := survey.Look(dir, survey.InPath)
	if agent != nil {
		found = append(found, survey.Found{File: c.Agent, Tools: []survey.Tool{*agent}})
	}
	return found, cmp.Or(survey.Text(found, hostfacts.Platform()), starter), err
}

// approvals is the command that approves the places of presets and rules on this host, empty where none waits.
func (c *initCmd) approvals(g *globals) string {
	res, err := g.here()
	if err != nil {
		return "" // check reports the mistake
	}
	var names []string
	for _, b := range consent.Pending(res.Bindings, nil) {
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
