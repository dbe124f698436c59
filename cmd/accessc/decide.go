package main

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/asked"
	"github.com/accessc/accessc/ruleset"
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
	op, err := c.by().Read(c.Words)
	if err != nil {
		return err
	}
	res, err := c.compile(g)
	if err != nil {
		return err
	}
	s, err := config.Ruleset(res.Rulesets, c.Ruleset)
	if err != nil {
		return err
	}
	host, err := asked.Host(res, c.Tool)
	if err != nil {
		return err
	}
	d := asked.InShell(s, c.Shell).Decide(op, host.Answers())
	switch {
	case c.Format == "json":
		err = g.writeJSON(asked.NewDecision(s.Name, &d))
	case c.Explain:
		err = asked.ExplainDecision(g.stdout, g.style(g.stdout).Color, &d, 0)
	default:
		err = asked.PrintDecision(g.stdout, &d)
	}
	if err == nil && d.Outcome != ruleset.Allow {
		return exit(decideStatus[d.Outcome])
	}
	return err
}

var decideStatus = map[ruleset.Outcome]int{
	ruleset.Allow: exitOK, ruleset.Deny: exitFindings, ruleset.Unknown: exitUndecided, ruleset.Ask: exitUndecided,
}

// by says by what is decided.
func (c *decideCmd) by() asked.DecideBy {
	return asked.DecideBy{Ruleset: c.Ruleset, Tool: c.Tool, Shell: c.Shell, Cwd: c.Cwd, Operation: c.Operation}
}

// compile compiles for questions about rulesets and a tool, and says what is wrong
// with them.
func (c *decideCmd) compile(g *globals) (*hostfacts.Result, error) {
	opts, err := g.asking().options(true)
	if err != nil {
		return nil, err
	}
	opts.Apart = true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{Err: err}
	}
	return res, g.sayRulesets(res, c.Tool)
}

// sayRulesets prints the errors of rulesets and of a tool. The error is a usage status: a mistake
// is no verdict.
func (s *streams) sayRulesets(res *hostfacts.Result, tool string) error {
	l := append(res.AboutRulesets(), res.Concerning(tool)...)
	l = slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	l.Sort()
	if err := s.sayText(l, res.Files, ""); err != nil {
		return exit(exitUsage)
	}
	return nil
}

const decideStreamHelp = `With --stdin, one process answers many operations, each line by one line, in order:

  {"command": "git status", "id": 7}
  {"operation": "read", "paths": ["src/a"], "cwd": "/home/me/project"}

cwd, operation and shell may be left out, as on the command line; id is any value, and comes back; a fetch
has a url. The answer is that of --format json with the number of its line. A line that is no operation is
answered by {"line": N, "error": "..."}, and has no verdict.`

// stream answers the lines of the standard input.
func (c *decideCmd) stream(g *globals) error {
	if len(c.Words) > 0 {
		return usagef("--stdin takes operations from the standard input, found %q as well", strings.Join(c.Words, " "))
	}
	of, err := watch(g)
	if err != nil {
		return err
	}
	if err := g.sayRulesets(of.Result, c.Tool); err != nil {
		return err
	}
	s, err := asked.NewDecider(of, c.by())
	if err != nil {
		return err
	}
	err = asked.Lines(g.stdin, g.stdout, func(line []byte, long bool) (any, bool) { return s.Reply(line, long) })
	return g.answered(err, s)
}
