package diag

import (
	"unicode/utf8"

	"github.com/accessc/accessc/ir"
)

// quote finds the lines that findings are about. Findings are sorted by place, so a line is read once, and its columns
// are counted on from the finding before.
type quote struct {
	lines Lines
	file  string
	line  int
	text  string
	ok    bool
	// col is a column of the line, and start the bytes before it.
	col, start int
}

// find returns the line of a place.
func (q *quote) find(at ir.Pos) (string, bool) {
	if q.lines == nil || at.Line < 1 {
		return "", false
	}
	if q.file != at.File || q.line != at.Line {
		q.file, q.line, q.col, q.start = at.File, at.Line, 1, 0
		q.text, q.ok = q.lines.Line(at.File, at.Line)
	}
	return q.text, q.ok
}

// marked returns the bytes of the line that a finding is about: span bytes from a column.
func (q *quote) marked(col, span int) (start, end int) {
	if col < q.col {
		q.col, q.start = 1, 0
	}
	for ; q.col < col && q.start < len(q.text); q.col++ {
		_, size := utf8.DecodeRuneInString(q.text[q.start:])
		q.start += size
	}
	return q.start, min(q.start+span, len(q.text))
}

// head and tail return the first and the last characters of a text, as many as a reader may be shown and more.
func head(s string, most int) string {
	at := 0
	for n := 0; n < most && at < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at]
}

func tail(s string, most int) string {
	at := len(s)
	for n := 0; n < most && at > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}
