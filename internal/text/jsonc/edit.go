package jsonc

import (
	"bytes"
	"encoding/json"
)

// Append puts an item at the end of an object or list, in the document's own style. The key is
// empty in a list; the value is JSON.
func Append(doc []byte, in *Node, key string, value []byte) []byte {
	s := newStyle(doc)
	at, comma := in.From+1, -1
	if last := len(in.Items) - 1; last >= 0 {
		at = in.Items[last].To
		if comma = s.comma(at, in.To-1); comma < 0 {
			s.put(at, ",")
		} else {
			at = comma + 1
		}
	}
	at, line := s.besides(at)
	outer := s.indent(in.From)
	inner, broken := s.inside(in, outer)
	broken = broken || line
	s.put(at, s.lead(in, inner, broken)+s.item(key, value, inner, broken))
	if comma >= 0 {
		s.put(at, ",")
	}
	if len(in.Items) == 0 && broken && bytes.IndexByte(doc[at:in.To-1], '\n') < 0 {
		s.put(at, s.end()+outer)
	}
	s.put(len(doc), "")
	return s.out
}

// Remove takes an item out of an object or list, with the blanks before it and one comma.
func Remove(doc []byte, in *Node, i int) []byte {
	s, n := newStyle(doc), in.Items[i]
	limit := in.To - 1
	if i+1 < len(in.Items) {
		limit = in.Items[i+1].Begin
	}
	from, to, comma := n.Begin, n.To, s.comma(n.To, limit)
	for isBlank(doc[from-1]) {
		from--
	}
	if comma >= 0 {
		to = comma + 1
	}
	after := bytes.TrimLeft(doc[to:], " \t\r")
	if s.bare[from-1] != doc[from-1] && (len(after) == 0 || after[0] != '\n') {
		// A comment before may go to the end of its line, which has to stay.
		from += bytes.IndexByte(doc[from:n.Begin], '\n') + 1
	}
	if len(in.Items) == 1 && len(bytes.Trim(doc[in.From+1:from], " \t\r\n")) == 0 && len(bytes.Trim(doc[n.To:in.To-1], " \t\r\n,")) == 0 {
		s.put(in.From+1, "")
		s.done = in.To - 1
		s.put(len(doc), "")
		return s.out
	}
	if before := i - 1; comma < 0 && before >= 0 {
		at := s.comma(in.Items[before].To, n.Begin)
		s.put(at, "")
		s.done = at + 1
	}
	s.put(from, "")
	s.done = n.To
	if comma >= 0 {
		s.put(comma, "")
		s.done = comma + 1
	}
	s.put(len(doc), "")
	return s.out
}

// style is how a document is laid out, and the document that is made of it.
type style struct {
	doc, bare, out []byte
	// done is how much of the document out has.
	done int
}

func newStyle(doc []byte) *style {
	text, _ := bare(doc) // a document, so each comment ends
	return &style{doc: doc, bare: text}
}

// put copies the document up to a place, and adds text there.
func (s *style) put(upTo int, text string) {
	s.out = append(append(s.out, s.doc[s.done:upTo]...), text...)
	s.done = upTo
}

// comma is the place of the comma between two places, -1 without one.
func (s *style) comma(from, to int) int {
	i := bytes.IndexByte(s.bare[from:to], ',')
	if i < 0 {
		return -1
	}
	return from + i
}

// besides is the place behind the comments that follow on the same line, and whether the last of
// them goes to its end.
func (s *style) besides(at int) (int, bool) {
	for i := at; i < len(s.doc); {
		rest := s.doc[i:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
		case bytes.HasPrefix(rest, []byte("//")):
			if end := bytes.IndexByte(rest, '\n'); end >= 0 {
				return i + len(bytes.TrimRight(rest[:end], "\r")), true
			}
			return at, false
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/")) + 4 // the star of "/*/" ends no comment
			if bytes.IndexByte(rest[:end], '\n') >= 0 {
				return at, false
			}
			i += end
			at = i
		default:
			return at, false
		}
	}
	return at, false
}

// end is how lines end.
func (s *style) end() string {
	if bytes.Contains(s.doc, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// indent is the indentation of the line of a place.
func (s *style) indent(at int) string {
	line := s.doc[bytes.LastIndexByte(s.doc[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is the indentation of one level: that of the first line that has one.
func (s *style) unit() string {
	for _, line := range bytes.Split(s.bare, []byte("\n")) {
		if own := bytes.TrimLeft(line, " \t"); len(own) < len(line) && len(bytes.TrimSpace(own)) > 0 {
			return string(line[:len(line)-len(own)])
		}
	}
	return "  "
}

// inside is the indentation of items of a container, and whether they have lines of their own.
func (s *style) inside(in *Node, outer string) (string, bool) {
	if len(in.Items) == 0 {
		root := bytes.TrimSpace(s.bare)
		return outer + s.unit(), in.From == bytes.IndexByte(s.bare, '{') || bytes.IndexByte(root, '\n') >= 0
	}
	first := in.Items[0].Begin
	if bytes.IndexByte(s.doc[in.From:first], '\n') < 0 {
		return outer + s.unit(), false
	}
	return s.indent(first), true
}

// lead is the white space in front of a new item.
func (s *style) lead(in *Node, inner string, broken bool) string {
	switch {
	case broken:
		return s.end() + inner
	case len(in.Items) > 0:
		return " "
	default:
		return ""
	}
}

// item is a new item as text.
func (s *style) item(key string, value []byte, inner string, broken bool) string {
	var b bytes.Buffer
	if broken {
		_ = json.Indent(&b, value, inner, s.unit()) // the value is JSON
	} else {
		_ = json.Compact(&b, value)
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(s.end()))
	if key == "" {
		return string(text)
	}
	name, _ := json.Marshal(key) // a text always has a form
	return string(name) + ": " + string(text)
}
