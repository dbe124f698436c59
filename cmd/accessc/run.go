package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/text/tomltext"
)

// runCmd is "accessc run".
type runCmd struct {
	Under  string   `name:"tool" placeholder:"NAME" help:"Run it under the policy of this tool, in place of the default one."`
	Preset []string `placeholder:"NAME" help:"Add the rules of this preset, such as rust. Repeatable."`
	Read   []string `sep:"none" placeholder:"PATH" help:"It may read this, and not write it. Repeatable."`
	Write  []string `sep:"none" placeholder:"PATH" help:"It may read and write this. Repeatable."`
	Exec   []string `sep:"none" placeholder:"PATH" help:"It may read this, and start programs there. Repeatable."`
	Deny   []string `sep:"none" placeholder:"PATH" help:"It may not even read this. Repeatable."`
	Host   []string `sep:"none" placeholder:"HOST" help:"It may connect to HOST, HOST:PORT or SCHEME://HOST. Repeatable."`
	Env    []string `sep:"none" placeholder:"NAME" help:"It gets this variable. Repeatable."`
	Accept []string `placeholder:"GAP" help:"Start although this host has this gap; accessc exec --help lists them. Repeatable."`
	Report string   `placeholder:"FILE" help:"Write a line of JSON for every denial that the supervisor sees; - is standard output."`
	evidenceFlags
	Trace     bool     `help:"Show every refusal, also those that the kernel makes by itself. Slower."`
	Undo      bool     `help:"Keep what it changes, for accessc changes and accessc undo. Linux."`
	NoSummary bool     `help:"Print nothing about refusals after the end."`
	NoPrompt  bool     `help:"Never prompt, as without a terminal."`
	Print     bool     `help:"Print the policy of these flags as TOML, to keep in accessc.toml, and run nothing."`
	Words     []string `arg:"" name:"program" passthrough:"partial" help:"The program and its arguments. Flags of accessc stand before it."`
}

// Help implements kong's detailed help.
func (runCmd) Help() string {
	return `Without a flag the default policy holds: the workspace is the program's to read, write and start programs
in; files outside, other processes' and the network are not. Flags change that for this run.

  accessc run make -j4
  accessc run --read . --write out -- npm test         the workspace read-only, but for out
  accessc run --deny .env --host example.com -- curl https://example.com
  accessc run --preset claude-code,npm-registry --deny .env claude
  accessc run --deny .env --print claude               the same as a tool of accessc.toml

Exit status: the program's own; 125 accessc failed and the program did not start, 126 the program was found
but cannot run, 127 it was not found.`
}

// Run implements the command. It returns only when the program did not start.
func (c *runCmd) Run(g *globals) error {
	words := c.Words
	if words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return notStarted(usagef("expected a program behind --"))
	}
	root, err := g.root()
	if err != nil {
		return notStarted(err)
	}
	further := config.Further{
		Read: c.Read, Write: c.Write, Exec: c.Exec, Deny: c.Deny, Hosts: c.Host, Env: c.Env, Default: c.Under == "",
	}
	lists, err := further.Lists(root)
	if err != nil {
		return notStarted(err)
	}
	if c.Print {
		return c.print(g, lists, words)
	}
	e := execCmd{
		Command: true, Under: c.Under, Preset: c.Preset, Accept: c.Accept, Means: meansLandlock, Report: c.Report,
		Trace: c.Trace, Undo: c.Undo, evidenceFlags: c.evidenceFlags,
		NoSummary: c.NoSummary, NoPrompt: c.NoPrompt, Tool: words[0], Args: words[1:], lists: lists,
	}
	return e.Run(g)
}

// print writes the policy as the table of a tool that runs the program.
func (c *runCmd) print(g *globals, lists []config.List, words []string) error {
	var b strings.Builder
	name := cmp.Or(c.Under, filepath.Base(words[0]))
	fmt.Fprintf(&b, "[tools.%s]\n", tomltext.Key(name))
	if c.Under == "" {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = tomltext.String(w)
		}
		fmt.Fprintf(&b, "source = \"local\"\ncommand = { program = %s, args = [%s] }\n", quoted[0],
			strings.Join(quoted[1:], ", "))
	}
	if len(c.Preset) > 0 {
		_, sets, err := config.Extending(c.Preset, name, nil)
		if err != nil {
			return err
		}
		_, value, _ := strings.Cut(sets[len(sets)-1], "=")
		fmt.Fprintf(&b, "access.extends = %s\n", value)
	}
	for _, l := range lists {
		fmt.Fprintf(&b, "access.%s = [\n", l.Key)
		for _, r := range l.Rules {
			fmt.Fprintf(&b, "  %s,\n", r)
		}
		b.WriteString("]\n")
	}
	_, err := fmt.Fprint(g.stdout, b.String())
	return err
}
