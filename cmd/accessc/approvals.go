package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/consent"
	"github.com/accessc/accessc/internal/text/visible"
)

// approvalsCmd is "accessc approvals".
type approvalsCmd struct {
	Forget        []string `placeholder:"RULE_PATH" sep:"none" help:"Withdraw the approval of a rule path. Repeatable."`
	ForgetAnswers bool     `help:"Forget the answers about sensitive paths."`
	Format        string   `enum:"text,json" default:"text" help:"Output format: text or json."`
}

// Help implements kong's detailed help.
func (approvalsCmd) Help() string {
	return `Lists your approvals in this workspace: the path of each external rule, its approved target, when and by
whom on which host it was approved, and the present state. Paths that wait for an approval follow.

  accessc approvals --forget fork     fork has to be approved again before its rules take effect
  accessc approvals --forget-answers  exec asks again about tools that reach sensitive paths`
}

// approvalsDoc is the list for programs.
type approvalsDoc struct {
	Version   int                `json:"format_version"`
	Store     string             `json:"store"`
	Approvals []consent.Approval `json:"approvals"`
}

// Run implements the command.
func (c *approvalsCmd) Run(g *globals) error {
	if len(c.Forget) > 0 || c.ForgetAnswers {
		return c.forget(g)
	}
	res, err := bindings(g)
	if err != nil {
		return err
	}
	path, err := res.Approvals()
	var store approvals.Store
	if err == nil {
		store, err = approvals.Load(path)
	}
	if err != nil {
		return fmt.Errorf("%s counts as empty: %w", path, err)
	}
	rows := consent.Approvals(store, res.Bindings)
	if c.Format == "json" {
		return g.writeJSON(approvalsDoc{Version: 1, Store: path, Approvals: rows})
	}
	if len(rows) == 0 {
		fmt.Fprintln(g.stderr, "nothing is approved, and no external rule waits for it")
	}
	_, err = fmt.Fprint(g.stdout, fitted(g.stdout, approvalLines(rows)))
	return err
}

// forget takes approvals back.
func (c *approvalsCmd) forget(g *globals) error {
	res, err := g.here()
	if err != nil {
		return err
	}
	forgotten, unknown, err := consent.Forget(res, c.Forget, c.ForgetAnswers, g.stderr)
	switch {
	case err != nil:
		return err
	case unknown != "":
		fmt.Fprintf(g.stderr, "accessc: %s is not approved; nothing was forgotten\n", visible.Name(unknown))
		return exit(exitFindings)
	}
	for _, what := range forgotten {
		fmt.Fprintf(g.stderr, "forgotten: %s\n", what)
	}
	return nil
}

// approvalLines aligns the list for a terminal.
func approvalLines(rows []consent.Approval) string {
	paths, targets, givens := 0, 0, len(time.DateOnly)
	for _, r := range rows {
		paths = max(paths, len([]rune(visible.Name(r.RulePath))))
		targets = max(targets, len([]rune(visible.Name(shown(r)))))
		givens = max(givens, len([]rune(given(r))))
	}
	var b strings.Builder
	for _, r := range rows {
		line := visible.Pad(visible.Name(r.RulePath), paths) + " → " + visible.Pad(visible.Name(shown(r)), targets)
		line += "  " + visible.Pad(given(r), givens) + "  " + note(r)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// given says when and by whom a path was approved.
func given(r consent.Approval) string {
	out := "–"
	if r.ApprovedAt != nil {
		out = r.ApprovedAt.Format(time.DateOnly)
	}
	if r.ApprovedBy != "" {
		out += " by " + visible.Name(r.ApprovedBy)
	}
	return out
}

// shown is the target that is approved, or the one that waits.
func shown(r consent.Approval) string {
	if r.CanonicalTarget != "" {
		return r.CanonicalTarget
	}
	return r.LeadsTo
}

// note describes the state of an approval; empty when it is in use.
func note(r consent.Approval) string {
	switch r.Status {
	case "retargeted":
		return "leads to " + visible.Name(r.LeadsTo) + " now, which is not approved"
	case "unknown":
		return "not approved"
	case "broken":
		return "nothing is there"
	case "unused":
		return "no external rule has this path"
	default:
		return ""
	}
}
