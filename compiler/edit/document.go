package edit

import (
	"bytes"
	"errors"

	"github.com/pelletier/go-toml/v2/unstable"
)

// errShape is a document that does not have the shape that its parser reported.
var errShape = errors.New("the document cannot be edited in place")

// span is a range of bytes, the end not included.
type span struct{ start, end int }

// shape is the way in which a value is written.
type shape uint8

const (
	// scalar has nothing inside that could be edited.
	scalar shape = iota
	// open is a table that a header, a dotted key or a path made: further sections
	// may add to it.
	open
	// braces is an inline table.
	braces
	// brackets is an array written as a value.
	brackets
	// blocks is an array of tables, each with a [[header]].
	blocks
)

// node is a value of the document and where it is written.
type node struct {
	shape shape
	// at is the extent of a value, its brackets included. Open tables and blocks have none.
	at span
	// comma is the position of the comma behind an element or a key of an inline table, or -1.
	comma int
	keys  map[string]*node
	// inner lists the elements of an array, or the parts between braces, in order.
	inner []*node
	// inline is the innermost table in braces around the table, itself included, depth the
	// number of keys that lead to it, and written the number of those in front of its "=".
	inline         *node
	depth, written int
	// pieces are the sections that make an item of blocks, whole lines each.
	pieces []span
	// head is where the line after a table's own header starts, 0 for a table without a header.
	head int
}

// document is a text with the places of its values.
type document struct {
	text    []byte
	parser  unstable.Parser
	root    *node
	section *node
	// inside are the items of blocks that the current section belongs to.
	inside []*node
}

// read finds the places. The text must be valid TOML without a byte order mark.
func read(text []byte) (*document, error) {
	d := &document{text: text, root: newOpen()}
	d.section = d.root
	d.parser.Reset(text)
	for d.parser.NextExpression() {
		if err := d.expression(d.parser.Expression()); err != nil {
			return nil, err
		}
	}
	return d, d.parser.Error()
}

func newOpen() *node { return &node{shape: open, comma: -1, keys: map[string]*node{}} }

func (d *document) expression(n *unstable.Node) error {
	//exhaustive:ignore
	switch n.Kind {
	case unstable.Table:
		return d.header(n, false)
	case unstable.ArrayTable:
		return d.header(n, true)
	case unstable.KeyValue:
		_, err := d.keyValue(d.section, n)
		for _, item := range d.inside {
			last := &item.pieces[len(item.pieces)-1]
			last.end = d.lineEnd(int(n.Raw.Offset + n.Raw.Length))
		}
		return err
	default:
		return errShape
	}
}

// header opens the section of [a.b] or [[a.b]].
func (d *document) header(n *unstable.Node, item bool) error {
	at, line := d.root, span{-1, 0}
	d.inside = d.inside[:0]
	for it := n.Key(); it.Next(); {
		key := it.Node()
		if line.start < 0 {
			off := int(key.Raw.Offset)
			line = span{d.lineStart(off), d.lineEnd(off)}
		}
		next := at.keys[string(key.Data)]
		switch {
		case next == nil && it.IsLast() && item:
			next = &node{shape: blocks, comma: -1, depth: at.depth + 1}
			at.keys[string(key.Data)] = next
		case next == nil:
			next = newOpen()
			next.depth = at.depth + 1
			at.keys[string(key.Data)] = next
		}
		if it.IsLast() && item && next.shape == blocks {
			next.inner = append(next.inner, newOpen())
			next.inner[len(next.inner)-1].depth = next.depth
		}
		if next.shape == blocks {
			next = next.inner[len(next.inner)-1]
			d.inside = append(d.inside, next)
		}
		if at = next; at.shape != open {
			return errShape
		}
	}
	for _, item := range d.inside {
		item.pieces = append(item.pieces, line)
	}
	if !item {
		at.head = line.end
	}
	d.section = at
	return nil
}

// keyValue adds key = value to a table and returns the value.
func (d *document) keyValue(at *node, n *unstable.Node) (*node, error) {
	depth, inline, from := at.depth, at.inline, at.depth
	for it := n.Key(); it.Next(); {
		key := it.Node()
		depth++
		name := string(key.Data)
		if !it.IsLast() {
			if at.keys[name] == nil {
				at.keys[name] = newOpen()
				at.keys[name].inline, at.keys[name].depth = inline, depth
			}
			at = at.keys[name]
			if at.shape != open {
				return nil, errShape
			}
			continue
		}
		start := d.skipSpace(int(key.Raw.Offset + key.Raw.Length))
		if at.keys[name] != nil || start >= len(d.text) || d.text[start] != '=' {
			return nil, errShape
		}
		v, err := d.value(n.Value(), d.skipSpace(start+1), depth)
		if v != nil {
			v.written = depth - from
		}
		at.keys[name] = v
		return v, err
	}
	return nil, errShape
}

// value reads a value that starts at an offset and that a number of keys leads to.
func (d *document) value(n *unstable.Node, start, depth int) (*node, error) {
	v := &node{shape: scalar, comma: -1, at: span{start, start + 1}, depth: depth}
	//exhaustive:ignore
	switch n.Kind {
	case unstable.Array:
		v.shape = brackets
		return v, d.elements(v, n, '[', ']', func(item *unstable.Node, at int) (*node, error) {
			return d.value(item, at, depth)
		})
	case unstable.InlineTable:
		v.shape, v.keys = braces, map[string]*node{}
		v.inline = v
		return v, d.elements(v, n, '{', '}', func(kv *unstable.Node, at int) (*node, error) {
			if kv.Kind != unstable.KeyValue || int(kv.Raw.Offset) != at {
				return nil, errShape
			}
			x, err := d.keyValue(v, kv)
			if err != nil {
				return nil, err
			}
			return &node{at: span{at, x.at.end}, comma: -1}, nil
		})
	}
	if int(n.Raw.Offset) != start {
		return nil, errShape
	}
	v.at.end = start + int(n.Raw.Length)
	return v, nil
}

// elements reads the elements between two brackets. The parser records the positions of
// scalars, and between two elements there is nothing but space, comments and a comma.
func (d *document) elements(v *node, n *unstable.Node, left, right byte,
	read func(*unstable.Node, int) (*node, error)) error {
	pos := v.at.start
	if pos >= len(d.text) || d.text[pos] != left {
		return errShape
	}
	pos++
	for it := n.Children(); it.Next(); {
		child, err := read(it.Node(), d.skipTrivia(pos))
		if err != nil {
			return err
		}
		v.inner = append(v.inner, child)
		pos = child.at.end
		if i := d.skipTrivia(pos); i < len(d.text) && d.text[i] == ',' {
			child.comma, pos = i, i+1
		}
	}
	pos = d.skipTrivia(pos)
	if pos >= len(d.text) || d.text[pos] != right {
		return errShape
	}
	v.at.end = pos + 1
	return nil
}

// find walks down a path. It returns the last node that is there and how many keys
// lead to it.
func (d *document) find(path []string) (*node, int) {
	at := d.root
	for i, key := range path {
		next := at.keys[key]
		if next == nil {
			return at, i
		}
		at = next
	}
	return at, len(path)
}

// skipSpace returns the offset of the next byte that is no space or tab.
func (d *document) skipSpace(i int) int {
	for i < len(d.text) && (d.text[i] == ' ' || d.text[i] == '\t') {
		i++
	}
	return i
}

// skipTrivia returns the offset of the next byte that is neither space nor comment.
func (d *document) skipTrivia(i int) int {
	for i < len(d.text) {
		switch d.text[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '#':
			i = d.lineEnd(i)
		default:
			return i
		}
	}
	return i
}

// lineStart returns where the line of an offset starts.
func (d *document) lineStart(i int) int { return bytes.LastIndexByte(d.text[:i], '\n') + 1 }

// lineEnd returns where the line after an offset's line starts.
func (d *document) lineEnd(i int) int {
	if n := bytes.IndexByte(d.text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(d.text)
}
