package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/hostview"
	"github.com/accessc/accessc/internal/enforce/kerneltest"
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/review/sides"
	"github.com/accessc/accessc/ir"
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
	if err := checkAccept(c.Accept); err != nil {
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
	run := testRun{cmd: c, g: g, res: res, doc: explain.TestedDocument{Version: explain.FormatVersion, Tests: []explain.TestedDoc{}}}
	for _, t := range tools {
		if err := run.tool(t); err != nil {
			return err
		}
	}
	if err := c.attest(g, opts, run, keys); err != nil {
		return err
	}
	return run.finish()
}

// testRun is one run of the command.
type testRun struct {
	cmd      *testCmd
	g        *globals
	res      *hostfacts.Result
	doc      explain.TestedDocument
	findings diag.List
	// unheld is true where this host could not start a tool.
	unheld bool
}

func (r *testRun) tool(t *ir.Tool) error {
	asked := r.res.Test(t)
	if len(asked) == 0 {
		return nil
	}
	p, err := sides.PolicyOf(t, ir.Facts{Protected: r.res.Protected(t)})
	if err != nil {
		return err
	}
	style := r.g.style(r.g.stdout)
	view := ir.NewView(t, hostfacts.Platform(), r.res.Facts(t))
	var xs []explain.Tested
	kernel := r.cmd.Kernel
	for _, x := range asked {
		out := explain.Tested{Assertion: x.Assertion, Err: x.Err}
		if x.Err == nil {
			out.Answer = &explain.Answer{
				View: view, Question: x.Question, Operation: x.Operation, Verdict: x.Verdict, Considered: x.Considered,
				Ledger: p.Ledger,
			}
		}
		if !x.Holds() {
			r.findings.Add(x.Finding())
		}
		if kernel && x.Err == nil {
			var unheld *start.Error
			if out.Kernel, err = r.kernel(t, out.Answer); errors.As(err, &unheld) {
				fmt.Fprintf(r.g.stderr, "accessc: %s: the kernel was not asked: %v\n", t.Name, unheld)
				kernel, r.unheld = false, true
			} else if err != nil {
				return err
			}
			if x.Holds() && out.KernelFails(style) {
				r.findings.Add(kernelFinding(x, out.Note(style)))
			}
		}
		xs = append(xs, out)
	}
	if r.cmd.Format == "text" {
		fmt.Fprint(r.g.stdout, explain.TestedText(t.Name, xs, style))
	}
	r.doc.Add(t.Name, xs, style)
	return nil
}

// kernel tries one question.
func (r *testRun) kernel(t *ir.Tool, a *explain.Answer) (*explain.KernelAnswer, error) {
	try := kerneltest.Trial{
		Tool: t, Facts: r.res.Facts(t), Lookup: r.res.Lookup(t), Compile: resolved.Artifact, Accept: r.cmd.Accept,
	}
	o, err := try.Ask(a.Question)
	if err != nil {
		return nil, err
	}
	k := &explain.KernelAnswer{Tried: o.Tried, Allowed: o.Allowed, Errno: o.Errno, Why: o.Why, Accepted: slices.Clone(r.cmd.Accept)}
	for _, x := range t.Accept {
		k.Accepted = append(k.Accepted, string(x.Gap))
	}
	if o.Tried {
		k.Asked = &explain.Answer{
			View: o.View, Question: a.Question, Operation: o.Operation, Verdict: o.Verdict,
			Considered: o.View.Trace(o.Operation, o.Verdict), Ledger: a.Ledger,
		}
	}
	return k, nil
}

// kernelFinding is a wrong answer of the kernel as a finding.
func kernelFinding(x hostfacts.Tested, note string) diag.Diagnostic {
	at := x.Assertion.Origin
	d := diag.New(diag.TestFailed, at.Pos, len(x.Assertion.Question)+2)
	d.Path, d.Label = at.Path, "the kernel answers otherwise: "+note
	return d
}

func (r *testRun) finish() error {
	r.findings.Sort()
	switch r.cmd.Format {
	case "json":
		if err := r.g.writeJSON(r.doc); err != nil {
			return err
		}
	default:
		if err := r.g.report(r.cmd.Format, r.findings, r.res.Files, ""); err != nil {
			return err // failed tests are findings
		}
	}
	if r.cmd.Format == "text" && len(r.doc.Tests) == 0 {
		fmt.Fprintln(r.g.stderr, "no tool has access.tests")
	}
	switch {
	case r.doc.Failed > 0:
		return exit(exitFindings)
	case r.unheld:
		return exit(exitUnenforced)
	default:
		return nil
	}
}
