package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// decideCmd is "accessc decide".
type decideCmd struct {
	Ruleset   string   `placeholder:"NAME" help:"The ruleset; without it, the only one, or the one named default."`
	Tool      string   `placeholder:"TOOL" help:"The tool by whose file rules redirections are judged; without it, the default policy."`
	Cwd       string   `placeholder:"DIR" help:"The directory in which the command would run; without it, the current one."`
	Shell     string   `placeholder:"NAME" help:"The shell that would run it; without it, that of the ruleset."`
	Operation string   `default:"execute" placeholder:"KIND" help:"The kind of operation: execute, read, edit, delete, move, search, fetch, think, switch_mode, other."`
	Format    string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Explain   bool     `help:"Print how each part of the command line is judged."`
	Stdin     bool     `help:"Read operations as lines of JSON, and answer each by one line of JSON. The rulesets are read again when they have changed."`
	Words     []string `arg:"" optional:"" name:"operation" help:"The command line, as one word; for other operations, the paths, or the URL of a fetch."`
}

// Help implements kong's detailed help.
func (decideCmd) Help() string {
	return `Prints the verdict, the part of the command line that decided, and the rule. Nothing is run.
Exit status 0 if allowed, 1 if denied, 3 if a rule asks, none decides, or something is not understood, 2 for mistakes.

  accessc decide -- 'git status && go test ./...'
  accessc decide --explain -- 'cd src && make | tee log'
  accessc decide --operation read -- src/a.go

` + decideStreamHelp
}

// Run implements the command.
func (c *decideCmd) Run(g *globals) error {
	if c.Stdin {
		return c.stream(g)
	}
	op, err := c.operation()
	if err != nil {
		return err
	}
	res, err := g.compileRulesets(c.Tool)
	if err != nil {
		return err
	}
	s, err := chooseRuleset(res.Rulesets, c.Ruleset)
	if err != nil {
		return err
	}
	host, err := newDecideHost(res, c.Tool)
	if err != nil {
		return err
	}
	d := inShell(s, c.Shell).Decide(op, host.Answers())
	switch {
	case c.Format == "json":
		err = g.writeJSON(decisionDoc(s.Name, &d))
	case c.Explain:
		err = explainDecision(g.stdout, g.style(g.stdout).Color, &d, 0)
	default:
		err = printDecision(g.stdout, &d)
	}
	if err == nil && d.Outcome != ruleset.Allow {
		return exit(decideStatus[d.Outcome])
	}
	return err
}

var decideStatus = map[ruleset.Outcome]int{
	ruleset.Allow: exitOK, ruleset.Deny: exitFindings, ruleset.Unknown: exitUndecided, ruleset.Ask: exitUndecided,
}

// operation reads the operation of the command line.
func (c *decideCmd) operation() (ruleset.Operation, error) {
	kind, ok := ruleset.ParseKind(c.Operation)
	if !ok {
		return ruleset.Operation{}, usagef("found operation %q, expected one of %s", c.Operation, strings.Join(ruleset.KindNames(), ", "))
	}
	dir, err := filepath.Abs(c.Cwd)
	if err != nil {
		return ruleset.Operation{}, err
	}
	op := ruleset.Operation{Kind: kind, Dir: filepath.ToSlash(dir)}
	switch {
	case kind == ruleset.Execute && len(c.Words) != 1:
		return op, usagef("expected one command line in quotes, such as: accessc decide -- 'git status'; found %d words", len(c.Words))
	case kind == ruleset.Execute:
		op.Command = c.Words[0]
	case kind == ruleset.Fetch && len(c.Words) != 1:
		return op, usagef("expected one URL, found %d words", len(c.Words))
	case kind == ruleset.Fetch:
		op.URL = c.Words[0]
	default:
		op.Paths = c.Words
	}
	return op, nil
}

// newDecideHost prepares a tool's policy; the default one if the name is empty.
func newDecideHost(res *hostfacts.Result, name string) (*action.Host, error) {
	t, err := judging(res, name)
	if err != nil {
		return nil, err
	}
	facts := res.Facts(t)
	return &action.Host{View: ir.NewView(t, hostfacts.Platform(), facts), Roots: facts.Bindings, Disk: res.Resolver.Disk}, nil
}

// compileRulesets compiles for questions about rulesets and a tool, and says what is wrong
// with them.
func (g *globals) compileRulesets(tool string) (*hostfacts.Result, error) {
	opts, err := g.asking().options(true)
	if err != nil {
		return nil, err
	}
	opts.Apart = true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{err}
	}
	return res, g.sayRulesets(res, tool)
}

// sayRulesets prints the errors of rulesets and of a tool. The error is a usage status: a mistake
// is no verdict.
func (g *globals) sayRulesets(res *hostfacts.Result, tool string) error {
	l := append(res.AboutRulesets(), res.Concerning(tool)...)
	l = slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	l.Sort()
	if err := g.sayText(l, res.Files, ""); err != nil {
		return exit(exitUsage)
	}
	return nil
}

// chooseRuleset finds a ruleset by name.
func chooseRuleset(sets []*ruleset.Set, name string) (*ruleset.Set, error) {
	if name == "" && len(sets) == 1 {
		return sets[0], nil
	}
	want := name
	if want == "" {
		want = "default"
	}
	var names []string
	for _, s := range sets {
		if s.Name == want {
			return s, nil
		}
		names = append(names, s.Name)
	}
	switch {
	case len(sets) == 0:
		return nil, usagef("there is no ruleset: no layer has [[rulesets.NAME.rules]]")
	case name == "":
		return nil, usagef("expected --ruleset with one of %s", strings.Join(names, ", "))
	}
	if near := suggest.Hint(name, names); near != "" {
		return nil, usagef("there is no ruleset %q; %s", name, near)
	}
	return nil, usagef("there is no ruleset %q; the rulesets are %s", name, strings.Join(names, ", "))
}

// inShell returns the ruleset for the command lines of a shell; empty means its own.
func inShell(s *ruleset.Set, name string) *ruleset.Set {
	if name == "" {
		return s
	}
	out := *s
	out.Shell = shell.DialectOf(name)
	return &out
}
