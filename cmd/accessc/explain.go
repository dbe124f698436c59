package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/explain"
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
	HTML   bool     `name:"html" help:"Print one page for a browser, which needs nothing else; also with --diff."`
	Format string   `enum:"text,markdown,json,sarif,github" default:"text" help:"Output format: text, markdown or json; with --diff also sarif or github."`
	Tools  []string `arg:"" optional:"" name:"tool" help:"The tools; all of them by default. With --diff, the new side."`
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
	tools, err := chosen(res.Program, c.Tools)
	if err != nil {
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
	var policies []*explain.Policy
	for _, t := range tools {
		p, err := policyOf(t, ir.Facts{Protected: res.Protected(t), Closed: res.Closed(t)})
		if err != nil {
			return err
		}
		if repo := res.Repository(); repo != nil {
			p.Repository, p.Secret = repo.Parts(), repo.Secret != ""
		}
		p.Program, p.Now = res.ProgramOutside(t), res.NamesNow(t)
		for _, l := range res.RunLater(t, p.View) {
			p.Later = append(p.Later, explain.LaterDoc(l))
		}
		policies = append(policies, p)
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
		return nil, usageError{err}
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

// chosen are the tools of the command line, all without any.
func chosen(p *ir.Program, names []string) ([]*ir.Tool, error) {
	if len(names) == 0 {
		return p.Tools, nil
	}
	var out []*ir.Tool
	for _, name := range names {
		t, err := findTool(p, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
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
	var all []explain.Who
	for _, t := range tools {
		if t.Source.Kind != ir.SourceLocal {
			continue
		}
		a, err := ask(res, t, q, false)
		if err != nil {
			return usagef("--who %s: %v", c.Who, err)
		}
		all = append(all, explain.Who{Tool: t.Name, Answer: a})
	}
	if c.Format == "json" {
		return g.writeJSON(explain.WhoJSON(all, g.style(g.stdout)))
	}
	_, err = fmt.Fprint(g.stdout, explain.WhoText(all, g.style(g.stdout)))
	return err
}

// diff compares two sides.
func (c *explainCmd) diff(g *globals) error {
	if len(c.Tools) > 1 {
		return usagef("--diff takes one new side, found %d", len(c.Tools))
	}
	root, err := g.root()
	if err != nil {
		return err
	}
	if len(c.Tools) == 0 && bare(root) {
		return usagef("%s is a bare repository, which has no work tree to compare with: name both sides", root)
	}
	old, err := g.side(c.Diff)
	if err != nil {
		return err
	}
	new, err := g.side(c.newSide())
	if err != nil {
		return err
	}
	found, err := changes(old, new)
	if err != nil {
		return err
	}
	var replayed []explain.Replayed
	if c.Runs != "" {
		runs, err := recorded.Load(c.Runs)
		if err != nil {
			return usageError{err}
		}
		replayed = explain.Replay(runs, old.views(), new.views())
	}
	if err := c.writeChanges(g, found, replayed); err != nil {
		return err
	}
	switch {
	case c.fails("widened") && explain.Widened(found), c.fails("may") && explain.WidenedLive(found), c.fails("any") && len(explain.Differing(found)) > 0,
		c.fails("settings") && explain.OtherSettings(found), c.fails("refused") && explain.NewlyRefused(replayed):
		return exit(exitWidened)
	default:
		return nil
	}
}

// fails reports whether --fail-on names a change.
func (c *explainCmd) fails(on string) bool { return slices.Contains(c.FailOn, on) }

// gates reports whether it names any.
func (c *explainCmd) gates() bool {
	return slices.ContainsFunc(c.FailOn, func(on string) bool { return on != "none" })
}

// severities are those of annotations: what a gate fails on is an error. Of settings that is so only if the gate names
// them.
func (c *explainCmd) severities() explain.Severities {
	out := explain.Severities{Wider: diag.Warning, Settings: diag.Warning}
	if c.gates() {
		out.Wider = diag.Error
	}
	if c.fails("settings") || c.fails("any") {
		out.Settings = diag.Error
	}
	return out
}

// writeChanges prints a comparison in the format that was asked for.
func (c *explainCmd) writeChanges(g *globals, found []explain.Change, replayed []explain.Replayed) error {
	text, replay := "", ""
	switch {
	case c.HTML:
		return explain.ChangesHTML(g.stdout, found)
	case c.Format == "sarif":
		return explain.ChangesSARIF(g.stdout, found, c.severities(), g.places(c.newSide()))
	case c.Format == "github":
		return explain.ChangesGitHub(g.stdout, found, c.severities(), g.places(c.newSide()))
	case c.Format == "json":
		doc := explain.ChangesJSON(found)
		if c.Runs != "" {
			doc.Replay = explain.ReplayJSON(replayed)
		}
		return g.writeJSON(doc)
	case c.Format == "markdown":
		text, replay = explain.ChangesMarkdown(found), explain.ReplayMarkdown(replayed)
	default:
		style := g.style(g.stdout)
		style.Regions = c.Why
		text, replay = explain.ChangesText(found, style), explain.ReplayText(replayed, style)
	}
	if c.Runs != "" {
		text += replay
	}
	_, err := fmt.Fprint(g.stdout, text)
	return err
}

// newSide is the new side of a comparison; empty for the work tree.
func (c *explainCmd) newSide() string { return strings.Join(c.Tools, "") }

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

// policyOf returns the data that explain shows of a tool, with what facts say of its workspace.
func policyOf(t *ir.Tool, facts ir.Facts) (*explain.Policy, error) {
	p := &explain.Policy{Tool: t, View: ir.NewView(t, hostfacts.Platform(), facts)}
	if t.Source.Kind != ir.SourceLocal {
		return p, nil
	}
	out, _, err := build.Compile(t, registry.All, backends.Target{Form: backends.Portable})
	if err != nil {
		return p, err
	}
	p.Ledger = out.Ledger
	// The loader makes its filter from the same text. See RATIONALE D245.
	spec, err := landlock.Parse(out.Files[landlock.Backend{}.File()])
	if err == nil && spec.Supervision != nil {
		p.Traps = spec.Supervision.Traps
	}
	return p, err
}

// style returns the style of text to w. Where there is no Landlock to ask for, columns about
// Linux show the newest version.
func (g *globals) style(w any) explain.Style {
	abi := start.ABI()
	if hostfacts.Platform() != ir.Linux {
		abi = landlock.MaxABI
	}
	s := explain.Style{ABI: min(abi, landlock.MaxABI)}
	if out, ok := w.(interface{ Write([]byte) (int, error) }); ok {
		s.Color = g.colors(out)
		s.Width = width(out)
	}
	return s
}

// width returns the number of columns of the terminal behind w, 0 if it is none.
func width(w io.Writer) int {
	f, ok := file(w)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
