package diag

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/visible"
)

// Text renders findings for a terminal. Color wraps words in ANSI sequences.
type Text struct {
	Lines Lines
	Color bool
}

// Write renders every finding, separated by blank lines.
func (t Text) Write(w io.Writer, l List) error {
	var b strings.Builder
	for i, d := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.one(&b, d)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary counts the findings and their files: "2 errors in 2 files".
func Summary(l List) string {
	var files []string
	for _, d := range l {
		if !slices.Contains(files, d.At.File) {
			files = append(files, d.At.File)
		}
	}
	var parts []string
	for _, s := range []Severity{Error, Warning} {
		if n := l.Count(s); n > 0 {
			parts = append(parts, plural(n, s.String()))
		}
	}
	return strings.Join(parts, ", ") + " in " + plural(len(files), "file")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

const (
	bold   = "1"
	red    = "1;31"
	yellow = "1;33"
	blue   = "34"
	cyan   = "36"
)

func (t Text) paint(color, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (t Text) one(b *strings.Builder, d Diagnostic) {
	color := red
	if d.Severity == Warning {
		color = yellow
	}
	head := fmt.Sprintf("%s[%s]", d.Severity, d.Code)
	fmt.Fprintf(b, "%s: %s\n", t.paint(color, head), t.paint(bold, visible.Text(d.Message)))
	width := len(strconv.Itoa(d.At.Line))
	pad := strings.Repeat(" ", width)
	if d.At.File != "" {
		fmt.Fprintf(b, "%s%s %s\n", pad, t.paint(blue, "-->"), visible.Text(d.At.String()))
	}
	t.snippet(b, d, pad, color)
	for _, r := range d.Related {
		at := visible.Text(r.At.String())
		if at != "" {
			at += "   "
		}
		fmt.Fprintf(b, "%s%s %s%s\n", pad, t.paint(blue, ":::"), at, visible.Text(r.Note))
	}
	note := func(s string) { fmt.Fprintf(b, "%s %s %s\n", pad, t.paint(blue, "="), s) }
	if d.Path != "" {
		note("at " + visible.Text(d.Path))
	}
	if d.Hint != "" {
		for i, line := range strings.Split(d.Hint, "\n") {
			if i == 0 {
				note(t.paint(cyan, "hint:") + " " + visible.Text(line))
			} else {
				fmt.Fprintf(b, "%s   %s\n", pad, visible.Text(line))
			}
		}
	}
}

// snippet shows the source line with a caret below the offending text. Without a line the label
// alone is shown.
func (t Text) snippet(b *strings.Builder, d Diagnostic, pad, color string) {
	line, ok := "", false
	if t.Lines != nil && d.At.Line > 0 {
		line, ok = t.Lines.Line(d.At.File, d.At.Line)
	}
	if !ok {
		if d.Label != "" {
			fmt.Fprintf(b, "%s %s %s\n", pad, t.paint(blue, "="), visible.Text(d.Label))
		}
		return
	}
	shown, col, span := window(line, d.At.Col, d.Span)
	bar := t.paint(blue, "|")
	fmt.Fprintf(b, "%s %s\n", pad, bar)
	fmt.Fprintf(b, "%s %s %s\n", t.paint(blue, strconv.Itoa(d.At.Line)), bar, shown)
	caret := strings.Repeat(" ", col) + t.paint(color, strings.TrimRight(strings.Repeat("^", span)+" "+visible.Text(d.Label), " "))
	fmt.Fprintf(b, "%s %s %s\n", pad, bar, caret)
	if len(d.Related) > 0 || d.Path != "" || d.Hint != "" {
		fmt.Fprintf(b, "%s %s\n", pad, bar)
	}
}

// maxShown bounds how much of a long source line is shown, in characters.
const maxShown = 120

// window returns the part of a line that is worth showing, made printable, and
// where the caret goes in it: its offset and its length in characters.
func window(line string, col, span int) (shown string, offset, length int) {
	start, end := marked(line, col, max(span, 1))
	before, found, after := visible.Text(line[:start]), visible.Text(line[start:end]), visible.Text(line[end:])
	offset, length = utf8.RuneCountInString(before), max(utf8.RuneCountInString(found), 1)
	all := []rune(before + found + after)
	if len(all) <= maxShown {
		return string(all), offset, length
	}
	from := 0
	if offset > maxShown/2 {
		from = offset - maxShown/4
	}
	to := min(from+maxShown, len(all))
	shown = string(all[from:to])
	if from > 0 {
		shown, offset = "…"+shown, offset+1
	}
	if to < len(all) {
		shown += "…"
	}
	return shown, offset - from, min(length, max(to-offset, 1))
}

// marked returns the bytes of a line that a finding is about: span bytes from a column.
func marked(line string, col, span int) (start, end int) {
	for n := 1; n < col && start < len(line); n++ {
		_, size := utf8.DecodeRuneInString(line[start:])
		start += size
	}
	return start, min(start+span, len(line))
}
