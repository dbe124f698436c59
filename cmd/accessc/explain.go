package main

import (
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/review/sides"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
)

// explainCmd is "accessc explain".
type explainCmd struct {
	Ledger bool     `help:"Also print how each system enforces each resource, and which calls a supervisor answers on Linux."`
	Why    bool     `help:"Also print each row of the ledger, with its reason; in a comparison, each region."`
	Base   bool     `help:"Also list the base's grants outside of the workspace, and the protected paths of the workspace."`
	Who    string   `placeholder:"QUESTION" help:"List the tools that may do one operation, such as 'update src/main.c'; a question as accessc can takes it."`
	Diff   string   `placeholder:"OLD" help:"Compare permissions: of OLD with those of the argument, or of the work tree. Either is a directory, a git revision or a manifest.json."`
	Runs   string   `placeholder:"DIR" help:"With --diff: judge the runs that exec --trace --record wrote into this directory by both sides, and list what would be refused now and what none used."`
	FailOn []string `enum:"widened,may,settings,any,refused,none" default:"none" placeholder:"WHAT" help:"With --diff, exit 4 if a tool may do more or a ruleset is wider (widened), more can be granted while a tool runs (may), a tool runs something else or has other settings (settings), anything has changed (any), or a recorded run would be refused something (refused, with --runs). Several with commas."`
	Target []string `placeholder:"NAME" help:"Also print how this backend of others says that its program holds each rule, as build --target runs it. Repeatable."`
	HTML   bool     `name:"html" help:"Print one page for a browser, which needs nothing else; also with --diff."`
	Format string   `enum:"text,markdown,json,sarif,github" default:"text" help:"Output format: text, markdown or json; with --diff also sarif or github."`
	Tools  []string `arg:"" optional:"" name:"tool" help:"The tools; all of them by default. With --diff, the new side."`

	others plugins
}

// Help implements kong's detailed help.
func (explainCmd) Help() string {
	return `Prints the effective policy of each tool: the regions of the workspace as a tree, the network, the
environment and the programs, each line with the file and line that set it, and how Linux, macOS and
Windows enforce it. Without TOOL, the rulesets follow.

  accessc explain --html > access.html            a page for a browser, with the ledger and a filter
  accessc explain --who 'update src/main.c'       which tools may change this file, and by which rule
  accessc explain --diff main --format markdown   the permissions that a branch changes, as a comment on a pull request
  accessc explain --diff v1 v2 --fail-on widened  in CI: exit 4 if any tool may do more
  accessc explain --diff main --runs runs/        what recorded runs did that would now be refused

A table lists several tools first, and tools that have the same policy are one entry. The levels
of enforcement:

` + explain.Legend(explain.Style{Width: 78})
}

// Run implements the command.
func (c *explainCmd) Run(g *globals) error {
	switch {
	case c.Diff != "" && c.Who != "":
		return usagef("--diff and --who are different questions")
	case c.HTML && (c.Who != "" || c.Format != "text"):
		return usagef("--html is a format of its own, for policies and --diff")
	case c.Runs != "" && (c.Diff == "" || c.HTML || c.Format == "sarif" || c.Format == "github"):
		return usagef("--runs needs --diff OLD, and is shown as text, markdown or json")
	case c.fails("refused") && c.Runs == "":
		return usagef("--fail-on refused needs --runs DIR")
	case len(c.Target) > 0 && (c.Diff != "" || c.Who != "" || c.HTML || c.Format != "text"):
		return usagef("--target is for policies as text; accessc parity --target has a table, also as JSON")
	case c.Diff != "":
		return c.diff(g)
	case c.gates():
		return usagef("--fail-on needs --diff OLD")
	case c.Format == "sarif" || c.Format == "github":
		return usagef("--format %s needs --diff OLD", c.Format)
	case c.Who != "" && c.Format == "markdown":
		return usagef("--who answers as text or json")
	}
	res, err := c.compile(g)
	if err != nil {
		return err
	}
	tools, err := config.Tools(res.Program, c.Tools)
	if err != nil {
		return err
	}
	if _, c.others, err = selectTargets(c.Target); err != nil {
		return err
	}
	if err := c.others.outside(res.Resolver.Root); err != nil {
		return err
	}
	if c.Who != "" {
		return c.who(g, res, tools)
	}
	if err := g.sayText(res.SensitiveFindings(tools), res.Files, ""); err != nil {
		return err
	}
	if len(tools) == 0 {
		tools = []*ir.Tool{ir.NewTool("default")}
		fmt.Fprintln(g.stderr, "no configuration file defines a tool; this is the policy that every command gets")
	}
	policies, err := sides.Policies(res, tools)
	if err != nil {
		return err
	}
	var sets []*explain.Ruleset
	if len(c.Tools) == 0 {
		for _, s := range res.Rulesets {
			sets = append(sets, explain.NewRuleset(s))
		}
	}
	return c.write(g, policies, sets)
}

// compile compiles what the command is about. A question is about this host, as with accessc can; of a policy, this
// host's objections are said as by accessc check, save that nothing is at a place yet.
func (c *explainCmd) compile(g *globals) (*hostfacts.Result, error) {
	opts, err := g.asking().options(c.Who != "")
	if err != nil {
		return nil, err
	}
	opts.Places, opts.Apart = c.Who == "", len(c.Tools) > 0
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{Err: err}
	}
	findings := res.Findings
	if opts.Apart {
		findings = res.Concerning(c.Tools...)
	}
	findings = slices.DeleteFunc(slices.Clone(findings), func(d diag.Diagnostic) bool {
		return d.Code == diag.NothingThere
	})
	return res, g.sayText(findings, res.Files, "")
}

// write prints policies and rulesets in the format that was asked for.
func (c *explainCmd) write(g *globals, policies []*explain.Policy, sets []*explain.Ruleset) error {
	switch {
	case c.HTML:
		return explain.HTML(g.stdout, explain.Groups(policies), sets, g.style(g.stdout))
	case c.Format == "json":
		doc, err := explain.JSON(policies, sets)
		if err != nil {
			return err
		}
		return g.writeJSON(doc)
	}
	groups := explain.Groups(policies)
	s := g.style(g.stdout)
	several := len(policies) > 1
	if several && c.Format == "markdown" {
		fmt.Fprint(g.stdout, explain.IndexMarkdown(groups))
	} else if several {
		fmt.Fprint(g.stdout, explain.IndexText(groups, s))
	}
	for _, group := range groups {
		if several && !group.Confined() {
			continue // the table says all of it
		}
		if several {
			fmt.Fprintln(g.stdout)
		}
		c.print(g, group, s)
		if err := c.printOthers(g, group, s); err != nil {
			return err
		}
	}
	for _, r := range sets {
		text := r.Text(s)
		if c.Format == "markdown" {
			text = r.Markdown()
		}
		fmt.Fprint(g.stdout, "\n"+text)
	}
	if c.Format == "text" && (c.Ledger || c.Why) {
		fmt.Fprint(g.stdout, "\n"+explain.Legend(s))
	}
	return nil
}

// who puts one question to many tools. Those that accessc does not confine have no answer.
func (c *explainCmd) who(g *globals, res *hostfacts.Result, tools []*ir.Tool) error {
	words, err := split.Words(c.Who)
	if err != nil {
		return usagef("--who %s: %v", c.Who, err)
	}
	q, err := resolve.ParseQuestion(words)
	if err != nil {
		return usagef("--who %s: %v", c.Who, err)
	}
	all, err := sides.Answers(res, tools, q)
	if err != nil {
		return usagef("--who %s: %v", c.Who, err)
	}
	if c.Format == "json" {
		return g.writeJSON(explain.WhoJSON(all, g.style(g.stdout)))
	}
	_, err = fmt.Fprint(g.stdout, explain.WhoText(all, g.style(g.stdout)))
	return err
}

// printOthers prints how programs of others hold the rules, with the reasons.
func (c *explainCmd) printOthers(g *globals, p *explain.Group, s explain.Style) error {
	if len(c.others) == 0 || p.Tool.Source.Kind != ir.SourceLocal {
		return nil
	}
	table, err := explain.NewParity(p.Tool, c.others.columns(), s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(g.stdout, "\n"+table.Text(s, true))
	return err
}

func (c *explainCmd) print(g *globals, p *explain.Group, s explain.Style) {
	if c.Format == "markdown" {
		fmt.Fprint(g.stdout, p.Markdown(s))
		return
	}
	fmt.Fprint(g.stdout, p.Text(s))
	if p.Tool.Source.Kind != ir.SourceLocal {
		return
	}
	if c.Base {
		fmt.Fprint(g.stdout, "\n"+explain.BaseText(p.View, s))
	}
	if c.Ledger || c.Why {
		fmt.Fprint(g.stdout, "\n"+p.LedgerText(s)+"\n"+p.TrapsText(s))
	}
	if c.Why {
		fmt.Fprint(g.stdout, "\n"+p.CellsText(s))
	}
}
