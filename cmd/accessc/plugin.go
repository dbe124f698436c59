package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/plugin"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// plugins are backends of others that a command line names.
type plugins []*plugin.Program

// selectTargets turns --target into backends, and into programs of others where it names none.
func selectTargets(targets []string) (bs []backends.Backend, others plugins, err error) {
	bs, unknown := registry.Select(targets)
	for _, t := range unknown {
		if err := others.add(t); errors.Is(err, plugin.ErrNone) {
			return nil, nil, usagef("--target %s: there is no such target, and %v; the targets are %s", t, err,
				"all, linux, darwin, windows, "+strings.Join(registry.Names(), ", "))
		} else if err != nil {
			return nil, nil, usagef("--target %s: %v", t, err)
		}
	}
	return bs, others, nil
}

// add finds the program that a word of --target means, and adds it unless it is there.
func (ps *plugins) add(target string) error {
	var reserved []string
	for _, b := range registry.Every {
		reserved = append(reserved, b.File())
	}
	p, err := plugin.Find(target, os.Getenv("PATH"), reserved)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(*ps, func(o *plugin.Program) bool { return o.Name() == p.Name() }) {
		return nil
	}
	_, platform := ir.ParsePlatform(p.Name())
	if platform || p.Name() == "all" || slices.Contains(registry.Names(), p.Name()) {
		return fmt.Errorf("accessc has a target %s of its own", p.Name())
	}
	*ps = append(*ps, p)
	return nil
}

// outside is an error for a program that a repository's writers would choose: of any workspace or work tree around a
// directory, or around the current directory.
func (ps plugins) outside(dir string) error {
	if len(ps) == 0 {
		return nil
	}
	own, _ := userdir.Root() // without any no workspace has it
	roots := append(workspace.Surrounding(dir, own), filepath.FromSlash(dir))
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	roots = append(roots, workspace.Surrounding(here, own)...)
	for _, p := range ps {
		err = errors.Join(err, p.Outside(roots...))
	}
	if err != nil {
		return usagef("%v", err)
	}
	return nil
}

// builders are the programs as a build and its verification use them.
func (ps plugins) builders() []build.External {
	out := make([]build.External, len(ps))
	for i, p := range ps {
		out[i] = p
	}
	return out
}

// columns are the programs as a table of rules and targets has them.
func (ps plugins) columns() []backends.Backend {
	out := make([]backends.Backend, len(ps))
	for i, p := range ps {
		out[i] = column{p}
	}
	return out
}

// column is a program whose rows are shown.
type column struct{ program *plugin.Program }

// Name implements backends.Backend.
func (c column) Name() string { return c.program.Name() }

// File implements backends.Backend. The program's files are not shown.
func (column) File() string { return "" }

// Platform implements backends.Backend. Rows say it.
func (column) Platform() ir.Platform { return 0 }

// Compile implements backends.Backend.
func (c column) Compile(t *ir.Tool, _ backends.Target) (backends.Output, error) {
	out, err := c.program.Compile(t)
	if err != nil {
		return backends.Output{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return backends.Output{Elsewhere: out.Ledger, Refusals: out.Refusals}, nil
}

// readBack has each program read its files back, asks them the tools' own tests, and returns how many answers differ
// from the policy's without a row that says so.
func (ps plugins) readBack(g *globals, res *hostfacts.Result, only []string) (int, error) {
	differ := 0
	for _, t := range res.Program.Tools {
		if t.Source.Kind != ir.SourceLocal || len(only) > 0 && !slices.Contains(only, t.Name) {
			continue
		}
		asked := slices.DeleteFunc(res.Test(t), func(x hostfacts.Tested) bool { return x.Err != nil })
		for _, p := range ps {
			said, err := differences(p, ir.NewView(t, hostfacts.Platform(), res.Facts(t)), asked)
			if err != nil {
				return 0, fmt.Errorf("%s: %s: %w", p.Name(), t.Name, err)
			}
			for _, line := range said {
				fmt.Fprintf(g.stderr, "%s: %s\n", t.Name, line)
			}
			differ += len(said)
		}
	}
	if differ > 0 {
		fmt.Fprintf(g.stderr, "%s of backends of others: rows are missing, or their artifacts are wrong\n",
			plural.Count(differ, "unexplained answer"))
	}
	return differ, nil
}

// differences are the answers of a program, about what it has made of a tool, that no row explains.
func differences(p *plugin.Program, view *ir.View, asked []hostfacts.Tested) ([]string, error) {
	made, err := p.Compile(view.Tool)
	if err != nil {
		return nil, err
	}
	var ops []external.Operation
	var about []hostfacts.Tested
	for _, x := range asked {
		if op, ok := external.NewOperation(x.Assertion.Question, x.Operation); ok {
			ops, about = append(ops, op), append(about, x)
		}
	}
	if len(made.Refusals) > 0 || len(ops) == 0 {
		return nil, nil
	}
	verdicts, err := p.Decide(made.Files, ops)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, v := range verdicts {
		x := &about[i]
		a := explain.Answer{
			View: view, Operation: x.Operation, Verdict: x.Verdict, Considered: x.Considered, Ledger: made.Ledger,
		}
		allowed, known := v == external.Allow, v != external.Unknown
		if known && allowed == x.Verdict.Allowed() || a.Declared(made.Platform, allowed, known) != "" {
			continue
		}
		const text = "%s answers %s to %q, and the policy %s"
		out = append(out, fmt.Sprintf(text, p.Name(), v, x.Assertion.Question, x.Verdict.Effect))
	}
	return out, nil
}
