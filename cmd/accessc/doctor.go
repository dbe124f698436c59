package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/accessc/accessc/internal/artifact/evidence"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// doctorCmd is "accessc doctor".
type doctorCmd struct {
	Format  string `enum:"text,json" default:"text" help:"Output format: text or json."`
	Prepare bool   `help:"On Windows, as an administrator, before the report: open NUL and the look of the directories above this one to AppContainers. NUL needs it after every start of the system."`
}

// Help implements kong's detailed help.
func (doctorCmd) Help() string {
	return `Asks the running system, by trying where it can be tried, and changes nothing without --prepare. Exit status 3 if tools
cannot be confined here by the system's own means, as accessc exec does unless --means says otherwise.`
}

// doctorVersion is the version of the JSON form.
const doctorVersion = 1

// doctorDoc is the JSON form.
type doctorDoc struct {
	Version int `json:"format_version"`
	start.Report
}

// Run implements the command.
func (c *doctorCmd) Run(g *globals) error {
	if c.Prepare {
		opened, err := start.Prepare()
		for _, name := range opened {
			fmt.Fprintf(g.stderr, "opened %s\n", visible.Message(name))
		}
		if errors.Is(err, errors.ErrUnsupported) {
			return usagef("--prepare is for Windows")
		}
		if err != nil {
			return fmt.Errorf("--prepare: %w", err)
		}
	}
	report := start.Examine()
	if p, ok := ir.ParsePlatform(runtime.GOOS); ok && p != ir.Linux {
		report.Findings = append(report.Findings, seenOn(p, evidence.Committed()))
	}
	if c.Format == "json" {
		if err := g.writeJSON(doctorDoc{Version: doctorVersion, Report: report}); err != nil {
			return err
		}
	} else {
		c.print(g, report)
	}
	if !report.Confines {
		return exit(exitUnenforced)
	}
	return nil
}

// seenOn says on which machines of a platform the claims of the ledger were tried. On Linux every
// test run tries them.
func seenOn(p ir.Platform, d *evidence.Document) start.Finding {
	machines := d.Machines(p)
	if len(machines) == 0 {
		return start.Finding{Name: "evidence", State: start.Partial, Detail: "no claim of the ledger has been tried on a real machine of this system: docs/platforms"}
	}
	return start.Finding{Name: "evidence", State: start.Present, Detail: "the claims of the ledger were tried on " + strings.Join(machines, "; ")}
}

func (c *doctorCmd) print(g *globals, r start.Report) {
	style := g.style(g.stdout)
	wide := 0
	for _, f := range r.Findings {
		wide = max(wide, len(f.Name))
	}
	fmt.Fprintln(g.stdout, r.System)
	for _, f := range r.Findings {
		mark := paint(style.Color, "32", "yes ")
		switch {
		case f.State == start.Missing:
			mark = paint(style.Color, "31", "no  ")
		case f.State == start.Unneeded:
			mark, f.Detail = "-   ", "not needed: "+f.Detail
		case f.State == start.Partial:
			mark = paint(style.Color, "33", "part")
		}
		text := fmt.Sprintf("  %s  %-*s  %s\n", mark, wide, f.Name, f.Detail)
		if f.Fix != "" {
			text += fmt.Sprintf("        %-*s  fix: %s\n", wide, "", f.Fix)
		}
		fmt.Fprint(g.stdout, style.Hang(text, 10+wide))
	}
	fmt.Fprintln(g.stdout, r.Summary)
}

func paint(color bool, code, text string) string {
	if !color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
