package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/consent"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// buildCmd is "accessc build".
type buildCmd struct {
	Out      string   `placeholder:"DIR" help:"Output directory; otherwise access in the workspace, and with --resolve a place in your state directory, where no tool writes."`
	Target   []string `default:"all" placeholder:"TARGET" help:"all, linux, darwin, windows, or a backend such as mxc, which all does not include. Any other name is that of a program accessc-backend-NAME in PATH, or its path. Repeatable."`
	Resolve  bool     `help:"Compile for this host: absolute paths, approvals required. Otherwise portable: roots are symbols."`
	Local    bool     `help:"Also compile the layers that are not committed, your own and .accessc/local.toml, into portable artifacts."`
	Check    bool     `help:"Compare with the files on disk, print the difference and write nothing; exit 1 if there is one."`
	Certify  bool     `help:"Also write certificate.json: that the artifacts mean the policies."`
	Sign     []string `placeholder:"KEY" help:"Also write attestation.json, signed with the private key in this PEM file: Ed25519 or ECDSA on P-256, PKCS #8, readable by you alone. Repeatable."`
	Project  string   `placeholder:"NAME" help:"With --sign: what the policies are for. Signers can be limited to it."`
	Serial   int      `placeholder:"N" help:"With --sign: the number by which a newer attestation is told from an older one; otherwise the seconds since 1970."`
	Format   string   `enum:"text,json,sarif,github" default:"text" help:"Format of findings: text, json, sarif or github."`
	NoPrompt bool     `help:"With --resolve: never prompt, as without a terminal; drop external rules without approval."`
	Tools    []string `arg:"" optional:"" name:"tool" help:"Build these tools and leave the others as they are."`

	others plugins
}

// Help implements kong's detailed help.
func (buildCmd) Help() string {
	return `Writes DIR/TOOL/{context.json,landlock.json,seatbelt.sb,winjob.json} for every local tool and
DIR/manifest.json, which lists each tool's permissions, their enforcement by system, and the hash of every
artifact. The directory is written whole or not at all; files that are up to date are not touched.

  accessc build                     compile the committed layers; commit and review the result
  accessc build --check             in CI: fail if the committed artifacts are not up to date
  accessc build --certify           also show that each artifact means its policy; verify --certificate checks that
  accessc build --sign KEY          also sign it; accessc verify --key and exec --require-attestation check that
  accessc build --resolve           compile for this host alone; prints where accessc exec --artifact runs it from`
}

// Run implements the command.
func (c *buildCmd) Run(g *globals) error {
	spare()
	if c.Local && g.Shared {
		return usagef("--local and --shared are opposites")
	}
	if c.Resolve && c.Certify {
		return usagef("--certify is for portable builds: what --resolve writes depends on this host")
	}
	if !c.Resolve && !c.Local {
		// What is committed holds for everybody.
		g = g.committed()
	}
	bs, err := c.backends()
	if err != nil {
		return err
	}
	res, err := c.compile(g, bs)
	if err != nil {
		return err
	}
	if err := c.others.outside(res.Resolver.Root); err != nil {
		return err
	}
	for _, name := range c.Tools {
		if _, err := config.Tool(res.Program, name); err != nil {
			return err
		}
	}
	req, dir := build.Of(res, bs, c.Resolve, c.Tools...), c.directory(res)
	req.External, req.Certify = c.others.builders(), c.Certify
	if err := c.attest(g, res, &req); err != nil {
		return err
	}
	if c.Check {
		return c.check(g, res, req, dir)
	}
	if req.Attest == nil { // every tool of a signed build is compiled
		req.Memory = build.Memory(res, dir)
	}
	report, findings, err := build.Write(req, dir)
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	if len(findings) > 0 {
		return g.report(c.Format, findings, res.Files, "nothing was written")
	}
	g.summarize(report, c.Out)
	if g.Shared {
		sayLeftOut(g, res)
	}
	return nil
}

// backends are those of --target, which for a resolved build are this host's.
func (c *buildCmd) backends() ([]backends.Backend, error) {
	bs, others, err := selectTargets(c.Target)
	if c.others = others; err != nil || !c.Resolve {
		return bs, err
	}
	if len(others) > 0 {
		return nil, usagef("--resolve compiles for accessc exec, which starts nothing by %s: build it without --resolve", others[0].Name())
	}
	return build.Here(bs, c.Target)
}

// directory returns the output directory, and sets Out to its name. A resolved build is trusted
// by its place, so it goes where no tool writes.
func (c *buildCmd) directory(res *hostfacts.Result) string {
	switch {
	case c.Out == "" && c.Resolve:
		c.Out = res.State.Builds()
	case c.Out == "" || c.Out == "access":
		c.Out = "access"
		return res.Resolver.Root + "/" + c.Out
	}
	return c.Out
}

// compile reports findings in the format that was asked for.
func (c *buildCmd) compile(g *globals, bs []backends.Backend) (*hostfacts.Result, error) {
	var platforms []ir.Platform
	for _, b := range bs {
		if b.Platform() != 0 {
			platforms = append(platforms, b.Platform())
		}
	}
	opts, err := g.options(c.Resolve, platforms...)
	if err != nil {
		return nil, err
	}
	opts.Sensitive = true
	res, err := consent.Compile(opts, c.Resolve && !c.Check && !c.NoPrompt, g.stderr, c.Tools...)
	if err != nil {
		return nil, err
	}
	return res, g.report(c.Format, res.Findings, res.Files, "nothing was written")
}

// check prints the changes that a build would make.
func (c *buildCmd) check(g *globals, res *hostfacts.Result, req build.Request, dir string) error {
	changes, findings, err := build.Diff(req, dir)
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		return g.report(c.Format, findings, res.Files, "nothing was written")
	}
	there := func(ch build.Change) bool { return ch.Old != nil }
	manifest := func(ch build.Change) bool { return ch.Path == build.ManifestFile }
	if slices.ContainsFunc(changes, manifest) && !slices.ContainsFunc(changes, there) {
		fmt.Fprintf(g.stderr, "nothing is built in %s: run accessc build, and commit the directory\n", c.Out)
		return exit(exitFindings)
	}
	unexplained, err := c.others.readBack(g, res, c.Tools)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		fmt.Fprintf(g.stderr, "%s is up to date\n", c.Out)
		if unexplained > 0 {
			return exit(exitFindings)
		}
		return nil
	}
	for _, ch := range changes {
		if err := writeDiff(g.stdout, c.Out+"/"+ch.Path, ch.Old, ch.New); err != nil {
			return err
		}
	}
	verb := "differ"
	if len(changes) == 1 {
		verb = "differs"
	}
	fmt.Fprintf(g.stderr, "%s in %s %s from the configuration; run accessc build\n",
		plural.Count(len(changes), "file"), c.Out, verb)
	return exit(exitFindings)
}

func (s *streams) summarize(r *build.Report, out string) {
	text := fmt.Sprintf("%s, %s in %s", plural.Count(r.Confined, "tool"), plural.Count(r.Files, "file"), out)
	if r.Others > 0 {
		text += fmt.Sprintf("; %s not run by accessc", plural.Count(r.Others, "tool"))
	}
	switch {
	case len(r.Written)+len(r.Removed) == 0:
		text += "; nothing changed"
	case len(r.Removed) > 0:
		text += fmt.Sprintf("; %d written, %d removed", len(r.Written), len(r.Removed))
	default:
		text += fmt.Sprintf("; %d written", len(r.Written))
	}
	fmt.Fprintln(s.stderr, text)
}

// report prints findings in a format: text on stderr, the formats for programs on stdout.
func (g *globals) report(format string, l diag.List, lines diag.Lines, last string) error {
	var err error
	switch diag.Format(format) {
	case diag.FormatJSON:
		err = diag.WriteJSON(g.stdout, l, lines)
	case diag.FormatSARIF:
		err = diag.WriteSARIF(g.stdout, l, g.config().Places(""))
	case diag.FormatGitHub:
		err = diag.WriteGitHub(g.stdout, l, g.config().Places(""))
	case diag.FormatText:
		return g.sayText(l, lines, last)
	}
	if err == nil && l.Failed() {
		return exit(exitFindings)
	}
	return err
}

// sayLeftOut names the layers that there are and that a compilation left out.
func sayLeftOut(g *globals, res *hostfacts.Result) {
	var names []string
	for path, name := range map[string]string{
		userdir.UserConfig(): "your own layer",
		res.LocalPath():      ".accessc/local.toml",
	} {
		if _, err := os.Stat(path); err == nil && !(res.Tracked && path == res.LocalPath()) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		fmt.Fprintf(g.stderr, "left out, since not committed: %s; --local compiles them as well\n",
			strings.Join(names, ", "))
	}
}
