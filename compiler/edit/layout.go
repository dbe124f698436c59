package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/tomltext"
)

// newline is the line ending of the document, taken from its first line.
func (d *document) newline() string {
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// appendSection adds a block at the end of the document, behind a blank line.
func (d *document) appendSection(path []string, item Item, notes []string) []change {
	return d.appendText(item.block(path, d.newline(), notes))
}

// appendText adds lines at the end of the document, behind a blank line.
func (d *document) appendText(text string) []change {
	nl, end := d.newline(), len(d.text)
	switch {
	case end == 0:
	case d.text[end-1] != '\n':
		text = nl + nl + text
	case !d.blank(d.lineStart(end - 1)):
		text = nl + text
	}
	return []change{insert(end, text)}
}

// appendBlock adds a block behind the last block of its list, and behind the comments that follow
// it without a blank line, unless they belong to the next block.
func (d *document) appendBlock(list *node, path []string, item Item, notes []string) []change {
	pieces := list.inner[len(list.inner)-1].pieces
	end := pieces[len(pieces)-1].end
	at := end
	for d.comment(at) {
		at = d.lineEnd(at)
	}
	if at < len(d.text) && !d.blank(at) {
		at = end
	}
	nl := d.newline()
	text := nl + item.block(path, nl, notes)
	if at > 0 && d.text[at-1] != '\n' {
		text = nl + text
	}
	if at < len(d.text) && !d.blank(at) {
		text += nl
	}
	return []change{insert(at, text)}
}

// appendKey adds a key to an open table: behind the last of its keys that is written with a value,
// on a line like that key's, behind the table's header, or in a section of its own.
func (d *document) appendKey(at *node, path []string, field Field, notes []string) []change {
	var last *node
	for _, v := range at.keys {
		if v.shape != open && v.shape != blocks && (last == nil || v.at.start > last.at.start) {
			last = v
		}
	}
	nl, value := d.newline(), " = "+field.Value
	switch line := comments("", nl, notes) + tomltext.Key(field.Key) + value + nl; {
	case last != nil:
	case field.Value != "{}" && at.head > 0 && d.text[at.head-1] != '\n':
		return []change{insert(at.head, nl+line)}
	case field.Value != "{}" && at.head > 0:
		return []change{insert(at.head, line)}
	case field.Value != "{}":
		return d.appendText("[" + dotted(path) + "]" + nl + line)
	default:
		return d.appendText(comments("", nl, notes) + "[" + dotted(append(slices.Clone(path), field.Key)) + "]" + nl)
	}
	full := append(slices.Clone(path), field.Key)
	start := d.lineStart(last.at.start)
	indent := string(d.text[start:d.skipSpace(start)])
	line := comments(indent, nl, notes) + indent + dotted(full[len(full)-last.written:]) + value
	end := d.lineEnd(last.at.end)
	if d.text[end-1] != '\n' {
		return []change{insert(end, nl+line+nl)}
	}
	return []change{insert(end, line+nl)}
}

// comment reports whether the line that starts at an offset is only a comment.
func (d *document) comment(i int) bool {
	i = d.skipSpace(i)
	return i < len(d.text) && d.text[i] == '#'
}

// blank reports whether the line that starts at an offset is blank.
func (d *document) blank(i int) bool { return strings.TrimSpace(string(d.text[i:d.lineEnd(i)])) == "" }

// removeBlock takes the lines of a block out, and a blank line with each piece where
// there would be two, or a blank line at an end of the document.
func (d *document) removeBlock(item *node) []change {
	var out []change
	for _, p := range item.pieces {
		before, after := -1, p.end == len(d.text) || d.blank(p.end)
		if p.start > 0 {
			before = d.lineStart(p.start - 1)
		}
		switch {
		case before >= 0 && after && d.blank(before):
			p.start = before
		case before < 0 && p.end < len(d.text) && after:
			p.end = d.lineEnd(p.end)
		}
		out = append(out, change{p, ""})
	}
	return out
}

// appendElement adds an element behind the last element between two brackets: on a line of its own if that element has
// a line of its own, or if there are notes.
func (d *document) appendElement(list *node, text string, notes ...string) []change {
	closing := list.at.end - 1
	if len(list.inner) == 0 {
		return []change{insert(closing, d.noted(list, text, notes))}
	}
	last := list.inner[len(list.inner)-1]
	end := last.at.end
	if last.comma >= 0 {
		end, text = last.comma+1, text+","
	}
	comma := func(at int) []change {
		if last.comma >= 0 {
			return nil
		}
		return []change{insert(at, ",")}
	}
	start := d.lineStart(last.at.start)
	indent := string(d.text[start:d.skipSpace(start)])
	if d.skipSpace(start) != last.at.start {
		if len(notes) == 0 {
			return append(comma(end), insert(end, " "+text))
		}
		indent += "  "
	}
	nl := d.newline()
	line := nl + comments(indent, nl, notes) + indent + text
	// A comment behind the element stays with it.
	if eol := d.lineEnd(end); d.skipTrivia(end) >= eol {
		eol -= len("\n")
		if d.text[eol-1] == '\r' {
			eol--
		}
		return append(comma(last.at.end), insert(eol, line))
	}
	return append(comma(last.at.end), insert(end, line))
}

// removeElement takes an element out, with the comma that goes with it, and with its
// lines if it has them to itself.
func (d *document) removeElement(list *node, index int) []change {
	item := list.inner[index]
	at := item.at
	var out []change
	switch {
	case item.comma >= 0 && d.skipSpace(at.end) == item.comma:
		at.end = item.comma + 1
	case item.comma >= 0:
		out = append(out, change{span{item.comma, item.comma + 1}, ""})
	case index > 0:
		c := list.inner[index-1].comma
		out = append(out, change{span{c, c + 1}, ""})
	}
	start, end := d.lineStart(at.start), d.lineEnd(at.end)
	if d.skipSpace(start) == at.start && d.skipTrivia(at.end) >= end {
		return append(out, change{span{start, end}, ""})
	}
	after := d.skipSpace(at.end)
	if after == list.at.end-1 {
		// The last element: the space in front of it goes, up to a comment.
		before := bytes.TrimRight(d.text[:at.start], " \t")
		if lines := bytes.TrimRight(before, " \t\r\n"); index > 0 && len(lines) == list.inner[index-1].comma+1 {
			before = lines
		}
		at.start = len(before)
	} else {
		at.end = after
	}
	return append(out, change{at, ""})
}
