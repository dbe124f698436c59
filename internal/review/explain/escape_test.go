package explain

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// cells parts a row of a table as cmark-gfm does: a backslash takes the mark behind it, and any other bar ends a cell.
func cells(row string) (out []string) {
	mark := regexp.MustCompile("^\\\\[!-/:-@\\[-`{-~]")
	last := ""
	for row != "" {
		switch two := mark.FindString(row); {
		case two == `\|`:
			last, row = last+"|", row[2:]
		case two != "":
			last, row = last+two, row[2:]
		case row[0] == '|':
			out, last, row = append(out, last), "", row[1:]
		default:
			last, row = last+row[:1], row[1:]
		}
	}
	return append(out, last)
}

// rendered is the text of a cell: escaped marks and characters of HTML as themselves. An active mark is an error.
func rendered(t *testing.T, cell string) string {
	text := ""
	for i := 0; i < len(cell); i++ {
		switch c := cell[i]; {
		case c == '\\' && i+1 < len(cell) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", cell[i+1]) >= 0:
			i++
			text += html.EscapeString(cell[i : i+1])
		case strings.IndexByte("<*_~`[@", c) >= 0:
			t.Errorf("%q has the active mark %c", cell, c)
		default:
			text += string(c)
		}
	}
	return html.UnescapeString(text)
}

// TestMarkdownEscapes: a text stands in a table of Markdown as itself, in one cell, with whatever marks it has: a
// backslash of a name took the escape of the mark behind it.
func TestMarkdownEscapes(t *testing.T) {
	marks := []string{`\`, "|", "*", "_", "~", "`", "[", "]", "<", "&", "&lt;", "@", "a"}
	for _, x := range marks {
		for _, y := range marks {
			for _, z := range marks {
				text := x + y + z
				row := cells(escape(text) + "|" + code(text))
				if len(row) != 2 {
					t.Errorf("%q is %d cells: %s|%s", text, len(row), escape(text), code(text))
					continue
				}
				if got := rendered(t, strings.ReplaceAll(row[0], "|", `\|`)); got != text {
					t.Errorf("%q is shown as %q: %s", text, got, row[0])
				}
				want := "`" + strings.NewReplacer("`", "'", `\|`, `\¦`).Replace(text) + "`"
				if row[1] != want {
					t.Errorf("%q is shown as %q: %s", text, row[1], code(text))
				}
			}
		}
	}
}
