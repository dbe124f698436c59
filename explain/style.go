package explain

import (
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir"
)

// Style is how text is laid out.
type Style struct {
	Color bool
	// ABI is the Landlock ABI version that Linux columns are about.
	ABI int
}

const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s Style) paint(color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// level is the feature level that a platform's column shows: this host's Landlock
// version, the best tier of Windows.
func (s Style) level(p ir.Platform) int {
	switch p {
	case ir.Linux:
		return s.ABI
	case ir.Windows:
		return ir.BestTier
	case ir.Darwin:
		return 0
	default:
		return 0
	}
}

// held colours an enforcement by how much it needs attention.
func (s Style) held(e ir.Enforcement) string {
	switch e {
	case ir.Exact, ir.Brokered:
		return s.paint(green, e.String())
	case ir.Stricter:
		return s.paint(cyan, e.String())
	case ir.Coarser, ir.Cooperative, ir.Unenforced, ir.Unstated:
		return s.paint(yellow, e.String())
	default:
		return e.String()
	}
}

// pad fills text with blanks to a width, counted in characters.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
}

// table lays out rows in columns two blanks apart. The last column is not padded.
func table(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	out := make([]string, 0, len(rows))
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i < len(row)-1 {
				cell = pad(cell, widths[i]+2)
			}
			b.WriteString(cell)
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// clean makes text that came from a configuration safe to print.
func clean(s string) string { return diag.Printable(s) }
