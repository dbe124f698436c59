package main

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/internal/enforce/bundle"
	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/host/consent"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// ociCmd is "accessc oci".
type ociCmd struct {
	Bundle   string   `required:"" placeholder:"DIR" help:"The bundle: a directory with config.json and the image's root file system."`
	Mounts   bool     `help:"Do without accessc inside, by mounts and masks alone, for runtimes whose kernel has no Landlock, such as gVisor. They hold less."`
	Command  bool     `help:"Start the command of config.json under the policy of the tool, in place of the tool's own."`
	Accept   []string `placeholder:"GAP" help:"Start although the host has this gap, such as net.host. Repeatable."`
	NoPrompt bool     `help:"Never prompt, as without a terminal: drop external rules without approval."`
	Tool     string   `arg:"" name:"tool" help:"The tool."`
	Args     []string `arg:"" optional:"" name:"arg" help:"Arguments to add to the command."`
}

// Help implements kong's detailed help.
func (ociCmd) Help() string {
	return `Changes config.json of a bundle (OCI runtime specification) so that its container starts the tool under its
policy: accessc is mounted read-only, applies the policy inside as exec does, and becomes the tool. The workspace and
approved targets are mounted at their own paths; programs and libraries are the image's. Capabilities are dropped.
What contradicts the policy is refused: mounts in the way, hooks that run before the tool, shared namespaces, a seccomp
filter that accessc cannot work under. config.json.orig keeps the bundle's own; a second run begins from it.

  runc spec --bundle DIR && accessc oci --bundle DIR TOOL && runc run --bundle DIR NAME
  accessc oci --bundle DIR --command TOOL        start the image's own command under the policy of TOOL
  accessc oci --bundle DIR --mounts TOOL         by mounts alone; the gaps must be accepted
  accessc build --target oci                     write and review the same as DIR/TOOL/oci.json, with its ledger`
}

// Run implements the command.
func (c *ociCmd) Run(g *globals) error {
	if hostfacts.Platform() != ir.Linux {
		return usagef("containers with accessc inside are Linux's; run it there, or in the machine that runs your " +
			"containers")
	}
	if err := direct.CheckAccept(c.Accept); err != nil {
		return err
	}
	opts, err := g.asking().options(true, ir.Linux)
	if err != nil {
		return err
	}
	res, err := consent.Compile(opts, !c.NoPrompt, g.stderr, c.Tool)
	if err != nil {
		return err
	}
	if err := g.sayErrors(res, c.Tool); err != nil {
		return err
	}
	b, err := bundle.Open(c.Bundle, res.Resolver.Root)
	if err != nil {
		return err
	}
	if err := b.FindRoot(res); err != nil {
		return err
	}
	start := bundle.Start{Tool: c.Tool, Command: c.Command, Args: c.Args, Accept: c.Accept, Mounts: c.Mounts}
	t, err := start.Of(res, b)
	if err != nil {
		return err
	}
	if err := g.unattested(res, t); err != nil {
		return err
	}
	d, err := start.Describe(t, res)
	if err == nil && c.Mounts {
		err = c.agree(g, d)
	}
	if err != nil {
		return err
	}
	if err := b.Write(d); err != nil {
		return fmt.Errorf("%s is as it was: %w", b.File(bundle.ConfigFile), err)
	}
	fmt.Fprintf(g.stderr, "%s starts %s; %s has the configuration before\n", b.File(bundle.ConfigFile), t.Name,
		bundle.OriginalFile)
	return nil
}

// agree refuses gaps that are not accepted.
func (c *ociCmd) agree(g *globals, d *oci.Document) error {
	open, err := bundle.Unmet(d)
	if err != nil || len(open) == 0 {
		return err
	}
	fmt.Fprintf(g.stderr, "accessc: mounts do not meet %s of this policy\n", plural.Count(len(open), "requirement"))
	var names []string
	for _, gap := range open {
		names = append(names, gap.Name)
		fmt.Fprintf(g.stderr, "  %-16s %s\n", gap.Name, gap.Why)
	}
	fmt.Fprintln(g.stderr, "  to do without them: --accept "+strings.Join(names, " --accept "))
	return exit(exitUnenforced)
}
