package main

import (
	"fmt"

	"github.com/accessc/accessc/internal/start"
)

// doctorCmd is "accessc doctor".
type doctorCmd struct {
	Format string `enum:"text,json" default:"text" help:"Output format: text or json."`
}

// Help implements kong's detailed help.
func (doctorCmd) Help() string {
	return `Asks the running system, by trying where it can be tried, and changes nothing. Exit status 3 if tools
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
	report := start.Examine()
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
