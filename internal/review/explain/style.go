package explain

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Style is the layout of text.
type Style struct {
	Color bool
	// Width is the number of columns of the terminal, 0 if there is none to fit.
	Width int
	// ABI is the Landlock ABI version that Linux columns are about.
	ABI int
	// Regions has a comparison spell out the regions that one line stands for.
	Regions bool
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
func (s Style) held(e ir.Enforcement) string { return s.paint(heldColor(e), e.String()) }

func heldColor(e ir.Enforcement) string {
	switch e {
	case ir.Exact, ir.Supervised:
		return green
	case ir.Stricter, ir.Assumed:
		return cyan
	case ir.Weaker, ir.Advisory, ir.Unenforced, ir.Unstated:
		return yellow
	default:
		return yellow
	}
}

// pad fills text with blanks to a width, counted in characters.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
}

// block lays out rows below a head, indented, wrapped to the width.
func (s Style) block(rows [][]string) string {
	var b strings.Builder
	wrapped, first := s.fit(rows, 2)
	for i, l := range table(wrapped) {
		if i < first {
			l = s.paint(bold, l)
		}
		b.WriteString(strings.TrimRight("  "+l, " ") + "\n")
	}
	return b.String()
}

// minColumn is the least width of a column.
const minColumn = 12

// fit wraps the words of the widest columns until rows of a table are as wide as the terminal
// at most. A row becomes several; head is how many the first row became. Words are never cut,
// so that they can be copied.
func (s Style) fit(rows [][]string, indent int) (out [][]string, head int) {
	widths := s.narrow(rows, indent)
	for i, row := range rows {
		lines := 1
		cells := make([][]string, len(row))
		for j, cell := range row {
			cells[j] = wrap(clean(cell), widths[j])
			lines = max(lines, len(cells[j]))
		}
		for n := range lines {
			part := make([]string, len(row))
			for j := range row {
				if n < len(cells[j]) {
					part[j] = cells[j][n]
				}
			}
			out = append(out, part)
		}
		if i == 0 {
			head = lines
		}
	}
	return out, head
}

// narrow are the widths that columns of a table may have.
func (s Style) narrow(rows [][]string, indent int) []int {
	widths, least := columns(rows), make([]int, len(columns(rows)))
	for _, row := range rows {
		for i, cell := range row {
			for _, word := range strings.Fields(cell) {
				least[i] = max(least[i], utf8.RuneCountInString(word))
			}
		}
	}
	for s.Width > 0 {
		over, widest := indent-2-s.Width, -1
		for i, w := range widths {
			over += w + 2
			if w > max(least[i], minColumn) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if over <= 0 || widest < 0 {
			break
		}
		widths[widest] = max(least[widest], minColumn, widths[widest]-over)
	}
	return widths
}

// wrap breaks text between words.
func wrap(text string, width int) []string {
	if utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			out = append(out, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}

// reason is a numbered reason.
func (s Style) reason(n int, text string) string {
	return s.reasonAs("["+strconv.Itoa(n)+"]", text)
}

// reasonAs is a reason with another label.
func (s Style) reasonAs(label, text string) string {
	var b strings.Builder
	width := 1 << 20
	if s.Width > 0 {
		width = max(s.Width-7, minColumn)
	}
	for _, l := range wrap(clean(text), width) {
		b.WriteString("  " + s.paint(dim, pad(label, 5)) + l + "\n")
		label = ""
	}
	return b.String()
}

// columns are the widths of a table.
func columns(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// table lays out rows in columns two blanks apart. The last column is not padded.
func table(rows [][]string) []string {
	widths := columns(rows)
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
func clean(s string) string { return visible.Line(s) }
