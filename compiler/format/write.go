package format

import (
	"strings"
	"unicode/utf8"
)

// indent stands before a line for each line around it that opens a list or table.
const indent = "  "

// line is a line of the result, or more where a text in it has several.
type line struct {
	// code are the tokens before the comment.
	code, comment string
	// column is where the comment behind the code stood, 0 without.
	column int
}

// wide is how many characters stand before the comment.
func (l *line) wide() int {
	return utf8.RuneCountInString(l.code[strings.LastIndexByte(l.code, '\n')+1:])
}

// both reports whether a comment stands behind code.
func (l *line) both() bool { return l.code != "" && l.comment != "" }

// write lays tokens out.
func write(tokens []token, newline string) []byte {
	lines := layout(tokens)
	align(lines)
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.code)
		if l.both() {
			b.WriteString(strings.Repeat(" ", l.column-l.wide()))
		}
		b.WriteString(l.comment + newline)
	}
	if len(lines) == 0 && len(tokens) > 0 {
		b.WriteString(newline) // blank lines alone
	}
	return []byte(b.String())
}

// layout makes lines of tokens. Of several blank lines one is left, at the ends of the document and of a list none.
func layout(tokens []token) []line {
	var out []line
	var open []int // the numbers of the lines that opened what is open
	blank, number := false, 0
	for from := 0; from < len(tokens); number++ {
		to := from
		for to < len(tokens) && tokens[to].kind != lineEnd {
			to++
		}
		row := tokens[from:to]
		from = to + 1
		if len(row) == 0 {
			blank = len(out) > 0
			continue
		}
		shut := 0
		for shut < len(row) && shut < len(open) && closes(row[shut]) {
			shut++
		}
		depth := distinct(open[:len(open)-shut])
		inside := shut == 0 && (len(open) == 0 || !opened(out[len(out)-1].code))
		if blank && inside {
			out = append(out, line{})
		}
		blank = false
		l := spaced(row)
		if l.code != "" {
			l.code = strings.Repeat(indent, depth) + l.code
		} else {
			l.comment = strings.Repeat(indent, depth) + l.comment
		}
		out = append(out, l)
		for i, t := range row {
			switch {
			case header(row, i):
			case opens(t):
				open = append(open, number)
			case closes(t) && len(open) > 0:
				open = open[:len(open)-1]
			}
		}
	}
	return out
}

// opened reports whether a line of code ends with what opens a list or table.
func opened(code string) bool { return strings.HasSuffix(code, "[") || strings.HasSuffix(code, "{") }

// distinct counts different numbers, which come in order.
func distinct(numbers []int) int {
	n := 0
	for i := range numbers {
		if i == 0 || numbers[i] != numbers[i-1] {
			n++
		}
	}
	return n
}

func opens(t token) bool  { return t.kind == mark && (t.text == "[" || t.text == "{") }
func closes(t token) bool { return t.kind == mark && (t.text == "]" || t.text == "}") }

// header reports whether a token belongs to the header of a table, which is a line of its own.
func header(row []token, i int) bool {
	return len(row) > 1 && opens(row[0]) && (row[1].header || len(row) > 2 && opens(row[1]) && row[2].header) &&
		row[i].kind != comment
}

// spaced joins the tokens of a line.
func spaced(row []token) line {
	var l line
	var b strings.Builder
	for i, t := range row {
		if t.kind == comment {
			l.comment = t.text
			if i > 0 {
				l.column = t.column
			}
			break // nothing stands behind it
		}
		if i > 0 && space(row[i-1], t, header(row, i)) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	l.code = b.String()
	return l
}

// space reports whether a blank stands between two tokens.
func space(a, b token, header bool) bool {
	switch {
	case header, a.text == "." && a.kind == mark, b.text == "." && b.kind == mark:
		return false
	case b.kind == mark && b.text == ",":
		return false
	case a.kind == mark && a.text == "{" && b.kind == mark && b.text == "}":
		return false
	case a.kind == mark && a.text == "[", b.kind == mark && b.text == "]":
		return false
	default:
		return true
	}
}

// align puts the comments of neighbouring lines below each other: where they are if all of them are in one column that
// has room, and otherwise two blanks behind the longest line.
func align(lines []line) {
	for from := 0; from < len(lines); {
		to, widest, stays := from, 0, true
		for ; to < len(lines) && lines[to].both(); to++ {
			widest = max(widest, lines[to].wide())
			stays = stays && lines[to].column == lines[from].column
		}
		stays = stays && to > from && lines[from].column > widest
		for i := from; i < to && !stays; i++ {
			lines[i].column = widest + 2
		}
		from = max(to, from+1)
	}
}
