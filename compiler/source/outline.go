package source

import (
	"bytes"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Key is a written part of a key, with its extent in bytes.
type Key struct {
	Text  string // unquoted
	Start int    // of what is written
	End   int    // behind it
}

// Item is a header or a value of a text, for what shows its structure and decides nothing. Offsets are in bytes.
type Item struct {
	Header bool // [a.b] or [[a.b]]
	List   bool // [[a.b]]
	// Keys are the parts that are written in front of a value, or in a header; none for an element of an array.
	Keys  []Key
	Start int  // of the keys, or of the value without any
	From  int  // the start of the value
	End   int  // behind it
	Kind  Kind // of the value, zero for a header
	// Text is that of a string.
	Text string
	// Inner are the elements of an array, or the fields of a table in braces.
	Inner []Item
}

// maxMistakes bounds the lines that Outline passes over.
const maxMistakes = 200

// Outline returns the headers and the values of a text, which may have mistakes: a line that begins no expression is
// passed over.
func Outline(text []byte) []Item {
	o := outline{text: text}
	for base, mistakes := 0, 0; base < len(text) && mistakes < maxMistakes; mistakes++ {
		o.base = base
		o.parser.Reset(text[base:])
		for o.parser.NextExpression() {
			item, ok := o.expression(o.parser.Expression())
			if !ok {
				return o.items
			}
			o.items = append(o.items, item)
			base = item.End
		}
		if o.parser.Error() == nil {
			break
		}
		base = o.lineEnd(o.trivia(base))
	}
	return o.items
}

type outline struct {
	text   []byte
	parser unstable.Parser
	base   int // where the text of the parser begins
	items  []Item
}

func (o *outline) expression(n *unstable.Node) (Item, bool) {
	if n.Kind == unstable.KeyValue {
		return o.keyValue(n)
	}
	item := Item{Header: true, List: n.Kind == unstable.ArrayTable, Keys: o.keys(n)}
	if len(item.Keys) == 0 {
		return item, false
	}
	item.Start = bytes.LastIndexByte(o.text[:item.Keys[0].Start], '[')
	if item.List {
		item.Start--
	}
	last := item.Keys[len(item.Keys)-1].End
	item.End = last + bytes.IndexByte(o.text[last:], ']') + 1
	if item.List {
		item.End++
	}
	item.From = item.End
	return item, item.Start >= 0 && item.End <= len(o.text)
}

func (o *outline) keys(n *unstable.Node) (out []Key) {
	for it := n.Key(); it.Next(); {
		k := it.Node()
		start := o.base + int(k.Raw.Offset)
		out = append(out, Key{string(k.Data), start, start + int(k.Raw.Length)})
	}
	return out
}

func (o *outline) keyValue(n *unstable.Node) (Item, bool) {
	keys := o.keys(n)
	if len(keys) == 0 {
		return Item{}, false
	}
	last := keys[len(keys)-1].End
	equals := bytes.IndexByte(o.text[last:], '=')
	if equals < 0 {
		return Item{}, false
	}
	item, ok := o.value(n.Value(), o.trivia(last+equals+1))
	item.Keys, item.Start = keys, keys[0].Start
	return item, ok
}

// value reads a value that begins at an offset.
func (o *outline) value(n *unstable.Node, at int) (item Item, ok bool) {
	item = Item{Start: at, From: at, End: at + int(n.Raw.Length)}
	//exhaustive:ignore
	switch n.Kind {
	case unstable.Array:
		item.Kind = ArrayKind
		ok = o.elements(&item, n, ']', o.value)
	case unstable.InlineTable:
		item.Kind = TableKind
		ok = o.elements(&item, n, '}', func(kv *unstable.Node, _ int) (Item, bool) { return o.keyValue(kv) })
	case unstable.String:
		item.Kind, item.Text, ok = StringKind, string(n.Data), true
	case unstable.Bool:
		item.Kind, ok = BoolKind, true
	case unstable.Integer:
		item.Kind, ok = IntegerKind, true
	case unstable.Float:
		item.Kind, ok = FloatKind, true
	default:
		item.Kind, ok = TimeKind, true
	}
	return item, ok && item.End <= len(o.text)
}

// elements reads what stands between two brackets: values, commas, and what says nothing.
func (o *outline) elements(item *Item, n *unstable.Node, end byte, read func(*unstable.Node, int) (Item, bool)) bool {
	at := item.From + 1
	for it := n.Children(); it.Next(); {
		inner, ok := read(it.Node(), o.trivia(at))
		if !ok {
			return false
		}
		item.Inner = append(item.Inner, inner)
		if at = o.trivia(inner.End); at < len(o.text) && o.text[at] == ',' {
			at++
		}
	}
	at = o.trivia(at)
	item.End = at + 1
	return at < len(o.text) && o.text[at] == end
}

// trivia returns the offset of the next byte that is neither blank nor in a comment.
func (o *outline) trivia(at int) int {
	for at < len(o.text) {
		switch o.text[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case '#':
			at = o.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

// lineEnd returns where the line after an offset's line starts.
func (o *outline) lineEnd(at int) int {
	if n := bytes.IndexByte(o.text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(o.text)
}
