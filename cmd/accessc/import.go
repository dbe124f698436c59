package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"text/tabwriter"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// importCmd is "accessc import".
type importCmd struct {
	From     string   `placeholder:"FORMAT" help:"The format: ${formats}. Without it the file's name and keys tell."`
	Tool     string   `default:"agent" placeholder:"NAME" help:"The tool that gets rules for files, hosts and variables."`
	Ruleset  string   `default:"agent" placeholder:"NAME" help:"The ruleset that gets rules for command lines."`
	Patterns string   `enum:"refuse,existing,close" default:"refuse" help:"What becomes of patterns that deny, such as **/.env: refuse the import, deny the names that are existing now, or close the directory that they look in."`
	Denies   string   `enum:"refuse,ask" default:"refuse" help:"What becomes of denied commands of which no rule can say a part: refuse the import, or leave them to a person."`
	Output   string   `short:"o" placeholder:"FILE" help:"Write FILE, which must not exist, instead of standard output."`
	Files    []string `arg:"" name:"file" help:"The settings."`
}

// Help implements kong's detailed help.
func (importCmd) Help() string {
	return `Writes a configuration from the settings of another program, for the workspace:

  srt           settings of the sandbox runtime (srt --settings)
  claude-code   .claude/settings.json: permissions and sandbox; several files are one configuration
  codex         config.toml of Codex: the permission profile or the sandbox mode that is in force, and servers
  codex-rules   Codex' *.rules: prefix_rule with literal words; several files are one configuration
  fence         fence.json: network, filesystem, command
  nono          a profile of nono: filesystem, workdir, network, environment
  devcontainer  devcontainer.json: mounts, containerEnv, remoteEnv, runArgs
  landlockconfig  JSON or TOML of landlockconfig: raw rights by path and port
  mcp           lists of servers, of Claude, VS Code, Zed, opencode and others: those that are commands
  opencode      opencode.json: the permissions of the agent that it starts with
  gemini        policies/*.toml of Gemini CLI: rules for commands; several files of one directory are one configuration
  gemini-settings  settings.json of Gemini CLI: the lists of tools
  vscode        settings.json of VS Code: the commands that are approved unasked
  cursor        sandbox.json of Cursor: what commands in the sandbox may do

The result permits nothing that the settings do not: it is compiled and compared with an evaluation of
the settings, and written only if that holds. Standard error lists what became of each entry: carried
over, narrowed, denied in part or left out, and why. A key that is not known is an error.

  accessc import .claude/settings.json
  accessc import --tool build --patterns existing -o accessc.toml srt-settings.json
  accessc import --from mcp servers.json`
}

// Run implements the command.
func (c *importCmd) Run(g *globals) error {
	root, err := g.root()
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return usagef("there is no home directory: %v", err)
	}
	reserved, secrets := c.places(g, root)
	res, err := importer.Import(importer.Request{
		Files: c.Files, Formats: registry.Formats(), From: c.From, Tool: c.Tool, Ruleset: c.Ruleset, Patterns: importer.Patterns(c.Patterns),
		Denies:   importer.Denies(c.Denies),
		Reserved: reserved, Secrets: secrets,
		Dir: filepath.ToSlash(canonical(root)), Home: filepath.ToSlash(canonical(home)),
	})
	if err != nil {
		fmt.Fprintf(g.stderr, "accessc: %s\n", visible.Message(err.Error()))
		return exit(exitFindings)
	}
	if err := c.write(g, res.Text); err != nil {
		return err
	}
	c.report(g, res)
	return nil
}

// places tells why no rule on a place is written, and which sensitive places are below a directory, by the other
// layers of the workspace.
func (c *importCmd) places(g *globals, root string) (reserved func(string) string, secrets func(string) ([]string, bool)) {
	const probe = "imported-servers"
	planner := sync.OnceValues(func() (*allow.Planner, error) {
		opts, err := g.asking().options(true, hostfacts.Platform())
		if err != nil {
			return nil, err
		}
		l := &adoptLayer{base: canonical(root), dir: ".", file: "accessc.toml"}
		text := []byte("[" + ir.ServersTable + "." + probe + "]\n")
		return allow.Begin(allow.Request{Compile: l.edited(opts, text), Layer: ir.LayerWorkspace, Tool: probe})
	})
	reserved = func(at string) string {
		p, err := planner()
		if err != nil {
			return "the layers of the workspace do not compile: accessc check"
		}
		return p.Reserved(filepath.ToSlash(at))
	}
	secrets = func(at string) ([]string, bool) {
		p, err := planner()
		if err != nil {
			return nil, false
		}
		return p.Secrets(filepath.ToSlash(at))
	}
	return reserved, secrets
}

// write puts the configuration out.
func (c *importCmd) write(g *globals, text string) error {
	if c.Output == "" {
		_, err := fmt.Fprint(g.stdout, text)
		return err
	}
	return writeNew(c.Output, text, "import never replaces a file")
}

// report lists the fate of each entry, those that carried over last.
func (c *importCmd) report(g *globals, res *importer.Result) {
	w := tabwriter.NewWriter(g.stderr, 0, 0, 2, ' ', 0)
	count := map[importer.Fate]int{}
	for _, fate := range []importer.Fate{importer.LeftOut, importer.DeniedInPart, importer.Narrowed, importer.Carried} {
		for _, e := range res.Entries {
			if e.Fate != fate {
				continue
			}
			count[fate]++
			place := ""
			if e.Line > 0 {
				place = e.Place()
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", fate, visible.Text(place), visible.Text(e.Key), visible.Text(e.Text), visible.Text(e.Why))
		}
	}
	_ = w.Flush() // the reader has gone away
	part := ""
	if n := count[importer.DeniedInPart]; n > 0 {
		part = fmt.Sprintf(", %d denied in part", n)
	}
	fmt.Fprintf(g.stderr, "%s: %d carried over, %d narrowed%s, %d left out\n",
		res.Format, count[importer.Carried], count[importer.Narrowed], part, count[importer.LeftOut])
	if res.Proof.Files > 0 {
		fmt.Fprintln(g.stderr, "nothing is wider: asked about files, hosts and variables, one of each kind that either side tells apart")
	}
	if res.Proof.Calls > 0 {
		fmt.Fprintf(g.stderr, "nothing is wider: asked about %s of servers\n", plural.Count(res.Proof.Calls, "call"))
	}
	if res.Proof.Lines > 0 {
		fmt.Fprintf(g.stderr, "nothing is wider: asked about %d examples of command lines; cd below the directory needs no rule\n", res.Proof.Lines)
	}
}
