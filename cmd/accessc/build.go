package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// buildCmd is "accessc build".
type buildCmd struct {
	Out      string   `placeholder:"DIR" help:"Output directory; otherwise access in the workspace, and with --resolve a place in your state directory, where no tool writes."`
	Target   []string `default:"all" placeholder:"TARGET" help:"all, linux, darwin, windows, or a backend such as mxc, which all does not include. Repeatable."`
	Resolve  bool     `help:"Compile for this host: absolute paths, approvals required. Otherwise portable: roots are symbols."`
	Local    bool     `help:"Also compile the layers that are not committed, your own and .accessc/local.toml, into portable artifacts."`
	Check    bool     `help:"Compare with the files on disk, print the difference and write nothing; exit 1 if there is one."`
	Sign     []string `placeholder:"KEY" help:"Also write attestation.json, signed with the private key in this PEM file: Ed25519 or ECDSA on P-256, PKCS #8, readable by you alone. Repeatable."`
	Project  string   `placeholder:"NAME" help:"With --sign: what the policies are for. Signers can be limited to it."`
	Serial   int      `placeholder:"N" help:"With --sign: the number by which a newer attestation is told from an older one; otherwise the seconds since 1970."`
	Format   string   `enum:"text,json,sarif,github" default:"text" help:"Format of findings: text, json, sarif or github."`
	NoPrompt bool     `help:"With --resolve: never prompt, as without a terminal; drop external rules without approval."`
	Tools    []string `arg:"" optional:"" name:"tool" help:"Build these tools and leave the others as they are."`
}

// Help implements kong's detailed help.
func (buildCmd) Help() string {
	return `Writes DIR/TOOL/{context.json,landlock.json,seatbelt.sb,winjob.json} for every local tool and
DIR/manifest.json, which lists each tool's permissions, their enforcement by system, and the hash of every
artifact. The directory is written whole or not at all; files that are up to date are not touched.

  accessc build                     compile the committed layers; commit and review the result
  accessc build --check             in CI: fail if the committed artifacts are not up to date
  accessc build --sign KEY          also sign it; accessc verify --key and exec --require-attestation check that
  accessc build --resolve           compile for this host alone; prints where accessc exec --artifact runs it from`
}

// Run implements the command.
func (c *buildCmd) Run(g *globals) error {
	spare()
	if c.Local && g.Shared {
		return usagef("--local and --shared are opposites")
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
	for _, name := range c.Tools {
		if _, err := findTool(res.Program, name); err != nil {
			return err
		}
	}
	req, dir := c.request(res, bs), c.directory(res)
	if err := c.attest(g, res, &req); err != nil {
		return err
	}
	if c.Check {
		return c.check(g, res, req, dir)
	}
	if req.Attest == nil { // every tool of a signed build is compiled
		req.Memory = memory(res, dir)
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
		g.sayLeftOut(res)
	}
	return nil
}

// memory is the file of the record of the last build of a directory; empty where a tool may write it.
func memory(res *hostfacts.Result, dir string) string {
	abs, err := filepath.Abs(dir)
	if _, unusable := res.Approvals(); err != nil || unusable != nil || res.State == "" {
		return ""
	}
	return res.State.Built(abs)
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
	res, err := g.compileAsking(opts, c.Resolve && !c.Check && !c.NoPrompt, c.Tools...)
	if err != nil {
		return nil, err
	}
	return res, g.report(c.Format, res.Findings, res.Files, "nothing was written")
}

func (c *buildCmd) request(res *hostfacts.Result, bs []backends.Backend) build.Request {
	req := build.Request{
		Program: res.Program, Rulesets: res.Rulesets, Backends: bs, Form: backends.Portable,
		Workspace: filepath.FromSlash(res.Resolver.Root),
	}
	if len(c.Tools) > 0 {
		req.Only = c.Tools
	}
	if c.Resolve {
		req.Form, req.Facts, req.Node = backends.Resolved, res.Facts, res.Node
	}
	return req
}

// backends returns those of --target. A resolved build is for this host alone, so there "all"
// is the host's own system.
func (c *buildCmd) backends() ([]backends.Backend, error) {
	bs, err := selectBackends(c.Target)
	if err != nil || !c.Resolve {
		return bs, err
	}
	host := hostfacts.Platform()
	foreign := func(b backends.Backend) bool { return b.Platform() != 0 && b.Platform() != host }
	if i := slices.IndexFunc(bs, foreign); i >= 0 && !slices.Contains(c.Target, "all") {
		return nil, usagef("--resolve compiles for this host, which runs %s: leave --target out, or build %s without --resolve",
			host, bs[i].Platform())
	}
	return slices.DeleteFunc(bs, foreign), nil
}

// selectBackends turns --target into backends. The Context goes with every choice
// of a system, since every tool gets one.
func selectBackends(targets []string) ([]backends.Backend, error) {
	var out []backends.Backend
	for _, t := range targets {
		n := len(out)
		for _, b := range registry.Every {
			p, isPlatform := ir.ParsePlatform(t)
			optional := slices.Contains(registry.Optional, b)
			if t == b.Name() || !optional && (t == "all" || isPlatform && (b.Platform() == p || b.Platform() == 0)) {
				if !slices.Contains(out, b) {
					out = append(out, b)
				}
				n = -1
			}
		}
		if n == len(out) {
			return nil, usagef("--target %s: there is no such target; the targets are all, linux, darwin, windows, %s",
				t, strings.Join(backendNames(), ", "))
		}
	}
	slices.SortStableFunc(out, func(a, b backends.Backend) int {
		return slices.Index(registry.Every, a) - slices.Index(registry.Every, b)
	})
	return out, nil
}

func backendNames() []string {
	var names []string
	for _, b := range registry.Every {
		names = append(names, b.Name())
	}
	return names
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
	if len(changes) == 0 {
		fmt.Fprintf(g.stderr, "%s is up to date\n", c.Out)
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
	fmt.Fprintf(g.stderr, "%s in %s %s from the configuration; run accessc build\n", plural.Count(len(changes), "file"), c.Out, verb)
	return exit(exitFindings)
}

func (g *globals) summarize(r *build.Report, out string) {
	s := fmt.Sprintf("%s, %s in %s", plural.Count(r.Confined, "tool"), plural.Count(r.Files, "file"), out)
	if r.Others > 0 {
		s += fmt.Sprintf("; %s not run by accessc", plural.Count(r.Others, "tool"))
	}
	switch {
	case len(r.Written)+len(r.Removed) == 0:
		s += "; nothing changed"
	case len(r.Removed) > 0:
		s += fmt.Sprintf("; %d written, %d removed", len(r.Written), len(r.Removed))
	default:
		s += fmt.Sprintf("; %d written", len(r.Written))
	}
	fmt.Fprintln(g.stderr, s)
}

// report prints findings in a format: text on stderr, the formats for programs on stdout.
func (g *globals) report(format string, l diag.List, lines diag.Lines, last string) error {
	var err error
	switch diag.Format(format) {
	case diag.FormatJSON:
		err = diag.WriteJSON(g.stdout, l, lines)
	case diag.FormatSARIF:
		err = diag.WriteSARIF(g.stdout, l, g.places(""))
	case diag.FormatGitHub:
		err = diag.WriteGitHub(g.stdout, l, g.places(""))
	case diag.FormatText:
		return g.sayText(l, lines, last)
	}
	if err == nil && l.Failed() {
		return exit(exitFindings)
	}
	return err
}
