package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
)

// canCmd is "accessc can".
type canCmd struct {
	Format string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Why    bool     `help:"Print how every system enforces the answer, and why; without it, how this one does."`
	On     string   `name:"platform" enum:",linux,darwin,windows" default:"" placeholder:"SYSTEM" help:"Print how one system enforces the answer, and why: linux, darwin (macOS) or windows."`
	System bool     `help:"Answer for a system call instead of a tool's argument: absolute paths are allowed, and judged where they lead."`
	Stdin  bool     `help:"Read questions as lines of JSON, and answer each by one line of JSON. The policy is read again when it has changed."`
	Tool   string   `arg:"" optional:"" name:"tool" help:"The tool; with --stdin, the one of lines that name none."`
	Words  []string `arg:"" optional:"" passthrough:"" name:"question" help:"The question: read src/a, connect https://example.com, env HOME, run git status, rename a b."`
}

// Help implements kong's detailed help.
func (canCmd) Help() string {
	return "Questions:\n\n  " + strings.Join(resolve.Verbs(), "\n  ") + `

A created path that ends in a slash is a directory, any other one a file. "connect" without a method is
about those that no rule names; tcp://HOST:PORT is a stream whose bytes are not looked at.

Prints the verdict, the rule that won and its line, the rules that lost and why, and how this system
enforces it; --why adds the others and the reasons. Exit status 0 if allowed, 1 if denied, 2 for a question that cannot be asked.

` + streamHelp
}

// Run implements the command.
func (c *canCmd) Run(g *globals) error {
	if c.Stdin {
		return c.stream(g)
	}
	if c.Tool == "" {
		return usagef("expected a tool and a question, such as: accessc can TOOL read src/a; or --stdin")
	}
	if len(c.Words) > 1 && c.Words[1] == "--" {
		// As exec takes it: what follows is the program's.
		c.Words = slices.Delete(c.Words, 1, 2)
	}
	q, err := resolve.ParseQuestion(c.Words)
	switch {
	case err != nil && slices.ContainsFunc(c.Words, func(w string) bool { return strings.HasPrefix(w, "-") }):
		return usageError{fmt.Errorf("%w; flags stand before the name of the tool", err)}
	case err != nil:
		return usageError{err}
	}
	res, err := g.compileFor(c.Tool)
	if err != nil {
		return err
	}
	t, err := askable(res, c.Tool)
	if err != nil {
		return err
	}
	answer, err := ask(res, t, q, c.System)
	if err != nil {
		return usageError{err}
	}
	if c.Format == "json" {
		err = g.writeJSON(answer.JSON(g.style(g.stdout)))
	} else {
		_, err = fmt.Fprint(g.stdout, answer.Text(g.style(g.stdout), c.Why || c.On != "", c.systems()...))
	}
	if err == nil && !answer.Verdict.Allowed() {
		return exit(exitFindings)
	}
	return err
}

// systems are those that the text of an answer is about.
func (c *canCmd) systems() []ir.Platform {
	switch p, named := ir.ParsePlatform(c.On); {
	case named:
		return []ir.Platform{p}
	case c.Why:
		return ir.Platforms[:]
	default:
		return []ir.Platform{hostfacts.Platform()}
	}
}

// askable finds a tool that has a policy.
func askable(res *hostfacts.Result, name string) (*ir.Tool, error) {
	if res.Wrong(name) {
		return nil, usagef("%s has mistakes: accessc check shows them", name)
	}
	t, err := findTool(res.Program, name)
	if err == nil && t.Source.Kind != ir.SourceLocal {
		err = usagef("%s has no policy: its source is %s", t.Name, t.Source)
	}
	return t, err
}

// judging is the tool whose policy judges operations besides a ruleset: the one of a name, and
// without a name one with the default policy.
func judging(res *hostfacts.Result, name string) (*ir.Tool, error) {
	if name == "" {
		return ir.NewTool("command"), nil
	}
	return askable(res, name)
}

// ask puts a question to a tool's policy on this host.
func ask(res *hostfacts.Result, t *ir.Tool, q resolve.Question, kernel bool) (*explain.Answer, error) {
	a, err := prepare(res, t)
	if err != nil {
		return nil, err
	}
	return a.answer(q, kernel)
}

// asked is a tool's policy, ready for questions.
type asked struct {
	asker  resolve.Asker
	view   *ir.View
	ledger ir.Ledger
	// live is set where operations can be granted while the tool runs.
	live *ir.Live
}

func prepare(res *hostfacts.Result, t *ir.Tool) (*asked, error) {
	facts := res.Facts(t)
	out, _, err := build.Compile(t, registry.All, backends.Target{Form: backends.Portable})
	a := &asked{
		asker:  resolve.Asker{Resolver: res.Resolver, Bindings: facts.Bindings, Program: facts.Program, Lookup: res.Lookup(t)},
		view:   ir.NewView(t, hostfacts.Platform(), facts),
		ledger: out.Ledger,
	}
	if len(t.May)+len(t.MayNet) > 0 {
		a.live = ir.NewLive(t, hostfacts.Platform(), facts)
	}
	return a, err
}

func (a *asked) answer(q resolve.Question, kernel bool) (*explain.Answer, error) {
	asker := a.asker
	asker.Kernel = kernel
	op, err := asker.Operation(q)
	if err != nil {
		return nil, err
	}
	out := &explain.Answer{View: a.view, Question: q, Operation: op, Verdict: a.view.Decide(op), Ledger: a.ledger}
	out.Considered = a.view.Trace(op, out.Verdict)
	out.Live = a.live
	asTool := []ir.Reason{ir.ReasonAbsolute, ir.ReasonOutside, ir.ReasonEscape}
	if !kernel && slices.Contains(asTool, out.Verdict.Reason) {
		if out.System, err = a.answer(q, true); err == nil && slices.Contains(asTool, out.System.Verdict.Reason) {
			out.System = nil // no path at all
		}
	}
	return out, err
}
