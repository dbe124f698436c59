package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/text/plural"
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
	return `Lists your approvals in this workspace: the path of each external rule, its approved target, the date and
the present state. Paths that wait for an approval follow.

  accessc approvals --forget fork     fork has to be approved again before its rules take effect
  accessc approvals --forget-answers  exec asks again about tools that reach sensitive paths`
}

// approvalsDoc is the list for programs.
type approvalsDoc struct {
	Version   int            `json:"format_version"`
	Store     string         `json:"store"`
	Approvals []approvalJSON `json:"approvals"`
}

// approvalJSON is one path. CanonicalTarget and ApprovedAt are empty for a path that was never
// approved, LeadsTo where no external rule has the path.
type approvalJSON struct {
	RulePath        string     `json:"rule_path"`
	CanonicalTarget string     `json:"canonical_target,omitempty"`
	ApprovedAt      *time.Time `json:"approved_at,omitempty"`
	// Status is approved, retargeted, unknown, broken or unused.
	Status  string `json:"status"`
	LeadsTo string `json:"leads_to,omitempty"`
}

// Run implements the command.
func (c *approvalsCmd) Run(g *globals) error {
	if len(c.Forget) > 0 || c.ForgetAnswers {
		return g.forget(c.Forget, c.ForgetAnswers)
	}
	res, err := g.bindings()
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
	rows := approvalRows(store, res.Bindings)
	if c.Format == "json" {
		return g.writeJSON(approvalsDoc{Version: 1, Store: path, Approvals: rows})
	}
	if len(rows) == 0 {
		fmt.Fprintln(g.stderr, "nothing is approved, and no external rule waits for it")
	}
	_, err = fmt.Fprint(g.stdout, fitted(g.stdout, approvalLines(rows)))
	return err
}

// forget takes approvals back, all of them or, when one of the paths has none, nothing.
// It needs no configuration that can be read.
func (g *globals) forget(paths []string, answers bool) error {
	res, err := g.here()
	if err != nil {
		return err
	}
	store, err := res.Approvals()
	if err != nil {
		return fmt.Errorf("%s %w", store, err)
	}
	var forgotten []string
	aside, err := approvals.Update(store, func(s *approvals.Store) error {
		for _, p := range paths {
			named, _ := spellings(res.Resolver.Home, p) // with an error, none is approved
			i := slices.IndexFunc(named, s.Forget)
			if i < 0 {
				fmt.Fprintf(g.stderr, "accessc: %s is not approved; nothing was forgotten\n", visible.Name(p))
				return exit(exitFindings)
			}
			forgotten = append(forgotten, visible.Name(named[i]))
		}
		if answers {
			forgotten = append(forgotten, plural.Count(s.ForgetAnswers(), "answer"))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", store, err)
	}
	g.sayAside(store, aside)
	for _, what := range forgotten {
		fmt.Fprintf(g.stderr, "forgotten: %s\n", what)
	}
	return nil
}

// approvalRows joins the approvals with the targets that the rules lead to, and appends the
// paths that wait for approval. A path that an approval of a directory above covers does not
// wait.
func approvalRows(store approvals.Store, bindings []compiler.Binding) []approvalJSON {
	byPath := map[string]compiler.Binding{}
	for _, b := range bindings {
		byPath[b.RulePath] = b
	}
	rows := []approvalJSON{}
	for _, m := range store.Mounts() {
		r := approvalJSON{RulePath: m.RulePath, CanonicalTarget: m.CanonicalTarget, Status: "unused"}
		if !m.ApprovedAt.IsZero() {
			r.ApprovedAt = &m.ApprovedAt
		}
		if b, ok := byPath[m.RulePath]; ok {
			r.Status, r.LeadsTo = bindingStatus(b), b.Target
		}
		rows = append(rows, r)
	}
	for _, b := range bindings {
		if _, ok := store.Mount(b.RulePath); !ok && !b.Approved {
			rows = append(rows, approvalJSON{RulePath: b.RulePath, Status: bindingStatus(b), LeadsTo: b.Target})
		}
	}
	return rows
}

func bindingStatus(b compiler.Binding) string {
	switch {
	case b.Broken:
		return "broken"
	case b.Approved:
		return approvals.Approved.String()
	case b.Was != "":
		return approvals.Retargeted.String()
	default:
		return approvals.Unknown.String()
	}
}

// approvalLines aligns the list for a terminal.
func approvalLines(rows []approvalJSON) string {
	paths, targets := 0, 0
	for _, r := range rows {
		paths = max(paths, len([]rune(visible.Name(r.RulePath))))
		targets = max(targets, len([]rune(visible.Name(r.shown()))))
	}
	var b strings.Builder
	for _, r := range rows {
		since := "–         "
		if r.ApprovedAt != nil {
			since = r.ApprovedAt.Format(time.DateOnly)
		}
		line := pad(visible.Name(r.RulePath), paths) + " → " + pad(visible.Name(r.shown()), targets)
		line += "  " + since + "  " + r.note()
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// shown is the target that is approved, or the one that waits.
func (r approvalJSON) shown() string {
	if r.CanonicalTarget != "" {
		return r.CanonicalTarget
	}
	return r.LeadsTo
}

// note describes the state of an approval; empty when it is in use.
func (r approvalJSON) note() string {
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

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}
