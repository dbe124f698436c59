package visible

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A person decides by what a question shows. A terminal begins a new line where one is full, so a name with enough
// blanks, or of enough characters, could put a text of its own at the left edge, where accessc's stand.

const (
	// longestName is how many characters of a name a question shows; of longer names the beginning and the
	// end.
	longestName = 400
	nameStart   = 200
	nameEnd     = 150
)

// Line is Text for a sentence or a row with texts of a configuration: three blanks or more are escaped, which would be
// taken for layout and fill a line.
func Line(s string) string { return filling(Text(s)) }

// filling escapes three blanks or more.
func filling(s string) string {
	if !strings.Contains(s, "   ") {
		return s
	}
	return runs(s, 2, func(n int) string { return strings.Repeat(`\x20`, n) })
}

// runs is a text in which runs of more than so many blanks are spelled otherwise.
func runs(s string, most int, spell func(n int) string) string {
	var b strings.Builder
	for s != "" {
		rest := strings.TrimLeft(s, " ")
		if n := len(s) - len(rest); n > most {
			b.WriteString(spell(n))
		} else {
			b.WriteString(s[:n])
		}
		n := strings.IndexByte(rest, ' ')
		if n < 0 {
			n = len(rest)
		}
		b.WriteString(rest[:n])
		s = rest[n:]
	}
	return b.String()
}

// longestRun is how many blanks in a row of a source line are shown: an indentation or a column of comments has no
// more.
const longestRun = 20

// Source is Text for a line of a file that is quoted: a run of blanks that could fill a line of the terminal is
// counted.
func Source(s string) string {
	return runs(Text(s), longestRun, func(n int) string { return fmt.Sprintf("…(%d blanks)…", n) })
}

// Fit is the beginning of a line that has room in so many columns, with a mark where that is not all of it.
func Fit(line string, columns int) string {
	used, most := 0, columns-Columns('…')
	for i, r := range line {
		if used += Columns(r); used > most && (used > columns || i+utf8.RuneLen(r) < len(line)) {
			return line[:i] + "…"
		}
	}
	return line
}

// Name is Text for a name that a person decides about: blanks that a reader would take for layout are escaped, and the
// middle of a name that is too long to be read is left out.
func Name(s string) string {
	s = blanks(Text(s))
	if n := utf8.RuneCountInString(s); n > longestName {
		all := []rune(s)
		head, tail := string(all[:nameStart]), string(all[n-nameEnd:])
		return fmt.Sprintf("%s…(%d characters left out)…%s", head, n-nameStart-nameEnd, tail)
	}
	return s
}

// blanks escapes blanks at the ends of a text and beside others.
func blanks(s string) string {
	if !strings.HasPrefix(s, " ") && !strings.HasSuffix(s, " ") && !strings.Contains(s, "  ") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ' || s[i+1] == ' ') {
			b.WriteString(`\x20`)
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// further begins the lines that continue a line of a question.
const further = "      … " // of less than half of the columns, so that each line takes some of the rest

// Question is Lines for a question on a terminal that is so many columns wide: accessc itself begins the new lines, so
// that none but its own stand at the left edge.
func Question(s string, columns int) string {
	most := max(columns-1, 2*len(further)) // at the last column terminals differ
	var out []string
	for line := range strings.SplitSeq(Lines(s), "\n") {
		for {
			head, rest := split(line, most)
			out = append(out, head)
			if rest == "" {
				break
			}
			line = further + rest
		}
	}
	return strings.Join(out, "\n")
}

// split divides a line before the part that has no room in so many columns, at a blank if its second half has
// a blank.
func split(line string, most int) (head, rest string) {
	used, blank := 0, 0
	for i, r := range line {
		if used += Columns(r); used > most {
			if blank > 0 {
				return line[:blank-1], line[blank:]
			}
			return line[:i], line[i:]
		}
		if r == ' ' && used > most/2 {
			blank = i + 1
		}
	}
	return line, ""
}

// Columns is how many columns a character has at most.
func Columns(r rune) int {
	switch {
	case r == '\t':
		return 8
	case r < utf8.RuneSelf:
		return 1
	}
	return 2
}
