package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/artifact"
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/explain"
	"github.com/accessc/accessc/ir"
)

// canCmd is "accessc can".
type canCmd struct {
	Format string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	System bool     `help:"Ask as the kernel is asked: absolute paths are judged where they are instead of being refused as a tool's argument."`
	Tool   string   `arg:"" name:"tool" help:"The tool."`
	Words  []string `arg:"" passthrough:"" name:"question" help:"What to ask: read src/a, connect https://example.com, env HOME, run git status, rename a b."`
}

// Help implements kong's detailed help.
func (canCmd) Help() string {
	return "Questions:\n\n  " + strings.Join(resolve.Verbs(), "\n  ") + `

Prints the verdict, the rule that won and its line, the rules that lost and why, and how each system
holds it. Exit status 0 if allowed, 1 if denied, 2 for a question that cannot be asked.`
}

// Run implements the command.
func (c *canCmd) Run(g *globals) error {
	q, err := resolve.ParseQuestion(c.Words)
	switch {
	case err != nil && slices.ContainsFunc(c.Words, func(w string) bool { return strings.HasPrefix(w, "-") }):
		return usageError{fmt.Errorf("%w; flags stand before the name of the tool", err)}
	case err != nil:
		return usageError{err}
	}
	res, err := g.asking().compile(true)
	if err != nil {
		return err
	}
	t, err := findTool(res.Program, c.Tool)
	if err != nil {
		return err
	}
	if t.Source.Kind != ir.SourceLocal {
		return usagef("%s has no policy: its source is %s", t.Name, t.Source)
	}
	answer, err := ask(res, t, q, c.System)
	if err != nil {
		return usageError{err}
	}
	if c.Format == "json" {
		err = g.writeJSON(answer.JSON(g.style(g.stdout)))
	} else {
		_, err = fmt.Fprint(g.stdout, answer.Text(g.style(g.stdout)))
	}
	if err == nil && !answer.Verdict.Allowed() {
		return exit(exitFindings)
	}
	return err
}

// ask puts a question to a tool's policy on this host.
func ask(res *compiler.Result, t *ir.Tool, q resolve.Question, kernel bool) (*explain.Answer, error) {
	facts := res.Facts(t)
	asker := resolve.Asker{
		Resolver: res.Resolver, Bindings: facts.Bindings, Kernel: kernel, Lookup: res.Lookup(t),
	}
	op, err := asker.Operation(q)
	if err != nil {
		return nil, err
	}
	view := ir.NewView(t, compiler.HostPlatform(), facts)
	a := &explain.Answer{View: view, Question: q, Operation: op, Verdict: view.Decide(op)}
	a.Considered = view.Trace(op, a.Verdict)
	if a.Verdict.Reason == ir.ReasonAbsolute {
		a.System, err = ask(res, t, q, true)
		if err != nil {
			return nil, err
		}
	}
	out, _, err := artifact.Compile(t, registry.All, backends.Target{Form: backends.Portable})
	a.Ledger = out.Ledger
	return a, err
}
