package explain

import (
	"strings"
	"unicode/utf8"
)

// margin is where the second column of a policy starts, pathColumn how wide the paths in it
// are where there is room.
const margin, pathColumn = 12, 26

// layout renders lines as a table. Where the terminal is narrow, the grants at a path are
// wrapped between words, and an origin or a note that does not fit stands below its line.
func layout(lines []line, s Style) string {
	var rows [][]string
	lines = cleaned(lines)
	for _, l := range newSheet(lines, s).split(lines) {
		rows = append(rows, []string{"  " + pad(l.head, 8), l.body, l.origin, l.note})
	}
	var b strings.Builder
	for i, row := range fold(rows, s.Width) {
		note := rows[i][3]
		if s.Width > 0 && utf8.RuneCountInString(row) > s.Width {
			row = strings.TrimRight(strings.TrimSuffix(row, note), " ")
			for _, part := range wrap(note, max(s.Width-margin-2, minColumn)) {
				row += "\n" + strings.Repeat(" ", margin+2) + s.paint(yellow, part)
			}
		} else if note != "" {
			row = strings.TrimSuffix(row, note) + s.paint(yellow, note)
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// cleaned are lines whose texts are safe to print, before they are laid out by blanks.
func cleaned(lines []line) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		if l.at != nil {
			l.at = &placed{l.at.branches, clean(l.at.path), l.at.caps}
		}
		l.body, l.origin, l.note = clean(l.body), clean(l.origin), clean(l.note)
		if l.word != "" {
			l.body = pad(l.word, 5) + "  " + l.body
		}
		out[i] = l
	}
	return out
}

// fold is a table whose third column stands below the second where it does not fit.
func fold(rows [][]string, width int) []string {
	below := make([]string, len(rows))
	before := margin + columns(rows)[1] + 2
	for i, row := range rows {
		if width > 0 && before+utf8.RuneCountInString(row[2]) > width {
			below[i], rows[i][2] = row[2], ""
		}
	}
	out := table(rows)
	for i, origin := range below {
		if origin != "" {
			note := rows[i][3]
			row := strings.TrimRight(strings.TrimSuffix(out[i], note), " ") +
				"\n" + strings.Repeat(" ", margin+2) + origin
			out[i] = strings.TrimRight(row+"  "+note, " ")
		}
	}
	return out
}

// sheet is how wide the parts of a policy's second column are; 0 is as wide as they get.
type sheet struct{ body, path, caps int }

// newSheet finds the widths. An origin that would leave too little for the others does not
// count; it is folded.
func newSheet(lines []line, s Style) sheet {
	out := sheet{path: pathColumn}
	if s.Width == 0 {
		return out
	}
	origins, paths, caps := 0, 0, 0
	for _, l := range lines {
		if n := utf8.RuneCountInString(l.origin); n <= (s.Width-margin)/2 {
			origins = max(origins, n)
		}
		if l.at != nil {
			paths = max(paths, utf8.RuneCountInString(l.at.branches+l.at.path))
			caps = max(caps, utf8.RuneCountInString(l.at.caps.String()))
		}
	}
	out.body = max(s.Width-margin-2-origins, 2*minColumn)
	if pathColumn+2+caps > out.body {
		out.path = paths
	}
	out.caps = max(out.body-out.path-2, minColumn)
	return out
}

// split turns lines into rows of text: a line that is too long becomes several.
func (w sheet) split(lines []line) []line {
	var out []line
	for _, l := range lines {
		for i, part := range w.parts(l) {
			row := line{body: part}
			if i == 0 {
				row.head, row.origin, row.note = l.head, l.origin, l.note
			}
			out = append(out, row)
		}
	}
	return out
}

func (w sheet) parts(l line) []string {
	if l.at == nil {
		return wrapIf(l.body, w.body)
	}
	var out []string
	name, under := l.at.branches+l.at.path, continued.Replace(l.at.branches)
	for _, caps := range wrapIf(l.at.caps.String(), w.caps) {
		out = append(out, pad(name, w.path)+"  "+caps)
		name = under
	}
	return out
}

// continued are the branches beside further lines of a node.
var continued = strings.NewReplacer("├─ ", "│  ", "└─ ", "   ")

// wrapIf is wrap where there is a width.
func wrapIf(text string, width int) []string {
	if width == 0 {
		return []string{text}
	}
	return wrap(text, width)
}

// room is the width that a terminal leaves beside some text, at most as much as would do.
func (s Style) room(most int, beside string) int {
	if s.Width == 0 {
		return most
	}
	return min(most, max(s.Width-utf8.RuneCountInString(beside), minColumn))
}

// Hang wraps text whose lines begin with an indentation of their own, by which the rest of
// each is indented as well. Sequences that colour take no room.
func (s Style) Hang(text string, indent int) string {
	if s.Width == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(s.hangLine(strings.TrimSuffix(line, "\n"), indent) + "\n")
	}
	return b.String()
}

func (s Style) hangLine(line string, indent int) string {
	if shown(line) <= s.Width {
		return line
	}
	head := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(line[len(head):], " ") {
		switch n := shown(word); {
		case i == 0:
			b.WriteString(head + word)
			at = len(head) + n
		case at+1+n > s.Width && word != "":
			b.WriteString("\n" + strings.Repeat(" ", indent) + word)
			at = indent + n
		default:
			b.WriteString(" " + word)
			at += 1 + n
		}
	}
	return b.String()
}

// shown is how many columns text takes.
func shown(text string) int {
	n := 0
	for {
		before, after, coloured := strings.Cut(text, "\x1b[")
		n += utf8.RuneCountInString(before)
		if !coloured {
			return n
		}
		_, text, _ = strings.Cut(after, "m")
	}
}
