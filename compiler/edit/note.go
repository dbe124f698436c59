package edit

import (
	"strings"

	"github.com/accessc/accessc/internal/text/visible"
)

// comments are the lines of notes. Hidden characters, some of which a comment may not have and others would
// reorder for its reader, are written as escapes.
func comments(indent, newline string, notes []string) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(indent + "# " + visible.Text(n) + newline)
	}
	return b.String()
}

// above puts notes above the line of an offset.
func (d *document) above(at int, notes []string) []change {
	if len(notes) == 0 {
		return nil
	}
	start := d.lineStart(at)
	return []change{insert(start, comments(string(d.text[start:d.skipSpace(start)]), d.newline(), notes))}
}

// noted is the text of the first element between two brackets, on lines of its own if it has notes.
func (d *document) noted(list *node, text string, notes []string) string {
	if len(notes) == 0 {
		return text
	}
	start, nl := d.lineStart(list.at.start), d.newline()
	outer := string(d.text[start:d.skipSpace(start)])
	return nl + comments(outer+"  ", nl, notes) + outer + "  " + text + nl + outer
}

// within is the only item of a new list in a table in braces.
func (d *document) within(table *node, item Item, notes []string) string {
	return d.noted(table, item.inline(), notes)
}
