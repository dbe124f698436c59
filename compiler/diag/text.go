package diag

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// Text renders findings for a person. Color wraps words in ANSI sequences. Width is how
// many columns the terminal has, 0 where there is none to fit.
type Text struct {
	Lines Lines // the files that are quoted
	Color bool  // whether to write ANSI sequences
	Width int   // in columns
}

// Write renders every finding, separated by blank lines.
func (t Text) Write(w io.Writer, l List) error {
	var b strings.Builder
	q := &quote{lines: t.Lines}
	for i, d := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.one(&b, q, d)
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
	for _, s := range []Severity{Error, Warning, Note} {
		if n := l.Count(s); n > 0 {
			parts = append(parts, plural.Count(n, s.String()))
		}
	}
	return strings.Join(parts, ", ") + " in " + plural.Count(len(files), "file")
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

func (t Text) one(b *strings.Builder, q *quote, d Diagnostic) {
	color := red
	if d.Severity == Warning {
		color = yellow
	}
	head := fmt.Sprintf("%s[%s]", d.Severity, d.Code)
	fmt.Fprintf(b, "%s: %s\n", t.paint(color, head), t.paint(bold, visible.Line(d.Message)))
	width := len(strconv.Itoa(d.At.Line))
	pad := strings.Repeat(" ", width)
	if d.At.File != "" {
		fmt.Fprintf(b, "%s%s %s\n", pad, t.paint(blue, "-->"), visible.Line(d.At.String()))
	}
	t.snippet(b, q, d, pad, color)
	for _, r := range d.Related {
		at := visible.Line(r.At.String())
		if at != "" {
			at += "   "
		}
		fmt.Fprintf(b, "%s%s %s%s\n", pad, t.paint(blue, ":::"), at, visible.Line(r.Note))
	}
	if d.Path != "" {
		fmt.Fprintf(b, "%s %s at %s\n", pad, t.paint(blue, "="), visible.Line(d.Path))
	}
	t.hint(b, d.Hint, pad)
}

// hint writes what to do, below the mark of a note.
func (t Text) hint(b *strings.Builder, hint, pad string) {
	if hint == "" {
		return
	}
	const word = "hint:"
	first := true
	for line := range strings.SplitSeq(hint, "\n") {
		if first {
			line = word + " " + line
		}
		for _, part := range t.wrap(own(line), len(pad)+3) {
			mark := " "
			if first {
				mark, part = t.paint(blue, "="), t.paint(cyan, word)+strings.TrimPrefix(part, word)
			}
			fmt.Fprintf(b, "%s %s %s\n", pad, mark, part)
			first = false
		}
	}
}

// own is a line of a hint: a line that is to be copied keeps its blanks.
func own(line string) string {
	if strings.HasPrefix(line, " ") {
		return visible.Text(line)
	}
	return visible.Line(line)
}

// wrap breaks text between words where it does not fit behind an indentation. Rules that
// are to be copied are kept as they stand.
func (t Text) wrap(text string, indent int) []string {
	if t.Width == 0 || utf8.RuneCountInString(text) <= t.Width-indent || strings.HasPrefix(text, " ") {
		return []string{text}
	}
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > t.Width-indent {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(out, line)
}

// snippet shows the source line with a caret below what was found. Without a line
// only the label is shown.
func (t Text) snippet(b *strings.Builder, q *quote, d Diagnostic, pad, color string) {
	line, ok := q.find(d.At)
	if !ok {
		if d.Label != "" {
			mark := t.paint(blue, "=")
			for _, part := range t.wrap(visible.Line(d.Label), len(pad)+3) {
				fmt.Fprintf(b, "%s %s %s\n", pad, mark, part)
				mark = " "
			}
		}
		return
	}
	start, end := q.marked(d.At.Col, max(d.Span, 1))
	shown, col, span := t.window(line, start, end, len(pad)+3)
	if t.Width > 0 { // characters of two columns
		shown = visible.Fit(shown, t.Width-len(pad)-3)
		col = min(col, utf8.RuneCountInString(shown))
		span = min(span, max(utf8.RuneCountInString(shown)-col, 1))
	}
	bar := t.paint(blue, "|")
	fmt.Fprintf(b, "%s %s\n", pad, bar)
	fmt.Fprintf(b, "%s %s %s\n", t.paint(blue, strconv.Itoa(d.At.Line)), bar, shown)
	for _, row := range t.carets(col, span, visible.Line(d.Label), len(pad)+3) {
		indent := len(row) - len(strings.TrimLeft(row, " "))
		fmt.Fprintf(b, "%s %s %s\n", pad, bar, row[:indent]+t.paint(color, row[indent:]))
	}
	if len(d.Related) > 0 || d.Path != "" || d.Hint != "" {
		fmt.Fprintf(b, "%s %s\n", pad, bar)
	}
}

// carets are the rows below a source line: the marks, and what is said of them beside, or
// below where that does not fit.
func (t Text) carets(col, span int, label string, indent int) []string {
	marks := strings.Repeat(" ", col) + strings.Repeat("^", span)
	if label == "" {
		return []string{marks}
	}
	if t.Width == 0 || indent+utf8.RuneCountInString(marks+" "+label) <= t.Width {
		return []string{marks + " " + label}
	}
	out := []string{marks}
	// Far to the right there is no room for words.
	at := max(min(col, t.Width-indent-minLabel), 0)
	for _, part := range t.wrap(label, indent+at) {
		out = append(out, strings.Repeat(" ", at)+part)
	}
	return out
}

// minLabel is how much room what is said of a mark has.
const minLabel = 40

// maxShown bounds how much of a long source line is shown, in characters.
const maxShown = 120

// window returns the part of a line that is worth showing, made printable, a tab as a blank and long runs of blanks
// by their number, and where the caret goes in it: its offset and its length in characters.
func (t Text) window(line string, start, end, indent int) (shown string, offset, length int) {
	most := maxShown
	if t.Width > 0 {
		most = min(most, max(t.Width-indent-2, minLabel))
	}
	part := func(s string) string { return visible.Source(strings.ReplaceAll(s, "\t", " ")) }
	// A line may be as long as a file: no more of it is looked at than is shown.
	before, found := part(tail(line[:start], 2*most)), part(head(line[start:end], 2*most))
	after := part(head(line[end:], 2*most))
	offset, length = utf8.RuneCountInString(before), max(utf8.RuneCountInString(found), 1)
	all := []rune(before + found + after)
	if len(all) <= most {
		return string(all), offset, length
	}
	from := 0
	if offset > most/2 {
		from = offset - most/4
	}
	to := min(from+most, len(all))
	shown = string(all[from:to])
	if from > 0 {
		shown, offset = "…"+shown, offset+1
	}
	if to < len(all) {
		shown += "…"
	}
	return shown, offset - from, min(length, max(to-offset, 1))
}
