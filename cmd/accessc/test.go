package main

import (
	"fmt"

	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/review/tested"
)

// testCmd is "accessc test".
type testCmd struct {
	Kernel      bool     `help:"Also try each assertion under the policy, as exec runs the tool, and report both answers. Linux."`
	Accept      []string `placeholder:"GAP" help:"With --kernel: start although this host does not meet a requirement, as exec does. Repeatable."`
	Resolve     bool     `help:"Ask about this host: only approved external rules take effect. Implied by --kernel."`
	Sign        []string `placeholder:"KEY" help:"With --kernel: also write which tests this host's kernel held, signed with the private key in this PEM file. Repeatable."`
	Project     string   `placeholder:"NAME" help:"With --sign: what the policies are for. Signers can be limited to it."`
	Attestation string   `placeholder:"FILE" default:"kernel.attestation.json" help:"With --sign: the file to write."`
	Format      string   `enum:"text,json,sarif,github" default:"text" help:"Output format: text, json, sarif or github."`
	Tools       []string `arg:"" optional:"" name:"tool" help:"The tools; all of them by default."`
}

// Help implements kong's detailed help.
func (testCmd) Help() string {
	return `Asks the questions of access.tests, as accessc build does, and shows for each wrong answer the rules
that led to it:

  [[tools.edit.access.tests]]
  allow = ["update src/main.c"]
  deny = ["read .env", "rename src lib", "connect https://example.com"]

With --kernel each question is tried as well, on a copy of the paths that it and the rules name: nothing of
yours is changed, and no program gets to its first instruction. An answer of the kernel that is not the
wanted one fails, unless the ledger has a row for the difference on this host.

  accessc test --kernel --sign KEY          also attest which tests this kernel held; verify --summary checks that

Exit status: 0 all hold, 1 one fails, 3 this host cannot start a tool.`
}

// Run implements the command.
func (c *testCmd) Run(g *globals) error {
	if err := direct.CheckAccept(c.Accept); err != nil {
		return err
	}
	if c.Kernel && start.ABI() < 1 {
		fmt.Fprintln(g.stderr, "accessc: --kernel needs Linux with Landlock; see accessc doctor")
		return exit(exitUnenforced)
	}
	keys, err := c.keys(g)
	if err != nil {
		return err
	}
	opts, err := g.asking().options(c.Resolve || c.Kernel)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		opts.View = hostview.New()
	}
	res, err := g.compileWith(opts, c.Tools...)
	if err != nil {
		return err
	}
	tools, err := config.Tools(res.Program, c.Tools)
	if err != nil {
		return err
	}
	run := tested.New(res, g.style(g.stdout))
	run.Kernel, run.Accept = c.Kernel, c.Accept
	if c.Format == "text" {
		run.Say = func(text string) { fmt.Fprint(g.stdout, text) }
	}
	run.Unheld = func(tool string, why error) {
		fmt.Fprintf(g.stderr, "accessc: %s: the kernel was not asked: %v\n", tool, why)
	}
	for _, t := range tools {
		if err := run.Tool(t); err != nil {
			return err
		}
	}
	if err := c.attest(g, opts, run, keys); err != nil {
		return err
	}
	return c.finish(g, run)
}

// finish prints the result, and returns its status.
func (c *testCmd) finish(g *globals, run *tested.Run) error {
	run.Findings.Sort()
	switch c.Format {
	case "json":
		if err := g.writeJSON(run.Doc); err != nil {
			return err
		}
	default:
		if err := g.report(c.Format, run.Findings, run.Result.Files, ""); err != nil {
			return err // failed tests are findings
		}
	}
	if c.Format == "text" && len(run.Doc.Tests) == 0 {
		fmt.Fprintln(g.stderr, "no tool has access.tests")
	}
	switch {
	case run.Doc.Failed > 0:
		return exit(exitFindings)
	case run.Missed:
		return exit(exitUnenforced)
	default:
		return nil
	}
}
