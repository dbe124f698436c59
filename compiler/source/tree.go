package source

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/accessc/accessc/compiler/diag"
)

// made is the way a table or array was defined, which decides whether it may still be extended
// (https://toml.io/en/v1.0.0#table).
type made uint8

const (
	// byValue is a scalar or an array written as a value: closed.
	byValue made = iota
	// byPath is a table that exists because a header names something below it.
	byPath
	// byHeader is a table with a header of its own.
	byHeader
	// byDots is a table that a dotted key of the current section opened.
	byDots
	// byInline is an inline table: closed.
	byInline
	// byItems is an array of tables.
	byItems
)

// builder assembles the root table from the parser's expressions.
// See decision D97.
type builder struct {
	file    *File
	parser  *unstable.Parser
	root    *Value
	section *Value
}

func (b *builder) expression(n *unstable.Node) *diag.Diagnostic {
	switch n.Kind {
	case unstable.Table:
		return b.header(n, false)
	case unstable.ArrayTable:
		return b.header(n, true)
	case unstable.KeyValue:
		return b.keyValue(b.section, n)
	default:
		return nil
	}
}

// header opens the section of [a.b] or [[a.b]].
func (b *builder) header(n *unstable.Node, item bool) *diag.Diagnostic {
	if err := b.deep(n); err != nil {
		return err
	}
	at := b.root
	for it := n.Key(); it.Next(); {
		key := it.Node()
		if it.IsLast() {
			return b.open(at, key, item)
		}
		next := at.Table.Entry(string(key.Data))
		if next == nil {
			next = at.Table.add(b.entry(key, b.newTable(key, byPath)))
		}
		if at = next.Value.into(); at == nil {
			return b.taken(key, next)
		}
	}
	return nil
}

// open makes the last table of a header the current section.
func (b *builder) open(at *Value, key *unstable.Node, item bool) *diag.Diagnostic {
	old := at.Table.Entry(string(key.Data))
	switch {
	case old == nil && item:
		array := &Value{Kind: ArrayKind, made: byItems}
		e := b.entry(key, array)
		array.At, array.Span = e.At, e.Span
		at.Table.add(e)
		b.section = b.append(array, key)
	case old == nil:
		b.section = b.newTable(key, byHeader)
		at.Table.add(b.entry(key, b.section))
	case item && old.Value.made == byItems:
		b.section = b.append(old.Value, key)
	case !item && old.Value.made == byPath:
		b.section = old.Value
		b.section.made = byHeader
	default:
		return b.taken(key, old)
	}
	return nil
}

func (b *builder) append(array *Value, key *unstable.Node) *Value {
	t := b.newTable(key, byHeader)
	array.Array = append(array.Array, t)
	return t
}

// into returns the table that a header's path continues in: the table itself, the last one of
// an array of tables, nil for a closed value.
func (v *Value) into() *Value {
	switch v.made {
	case byPath, byHeader, byDots:
		return v
	case byItems:
		return v.Array[len(v.Array)-1]
	case byValue, byInline:
		return nil
	default:
		return nil
	}
}

// keyValue adds key = value to a table; a dotted key opens tables on the way,
// which nothing else may have defined.
func (b *builder) keyValue(at *Value, n *unstable.Node) *diag.Diagnostic {
	if err := b.deep(n); err != nil {
		return err
	}
	for it := n.Key(); it.Next(); {
		key := it.Node()
		old := at.Table.Entry(string(key.Data))
		if it.IsLast() {
			if old != nil {
				return b.taken(key, old)
			}
			v, err := b.value(n.Value(), int(key.Raw.Offset+key.Raw.Length))
			if err != nil {
				return err
			}
			at.Table.add(b.entry(key, v))
			return nil
		}
		if old == nil {
			old = at.Table.add(b.entry(key, b.newTable(key, byDots)))
		}
		if old.Value.made != byDots {
			return b.taken(key, old)
		}
		at = old.Value
	}
	return nil
}

// maxParts bounds the parts of a dotted key, each of which opens a table. The parser bounds only arrays and inline
// tables.
const maxParts = 100

// deep reports a key of too many parts.
func (b *builder) deep(n *unstable.Node) *diag.Diagnostic {
	it := n.Key()
	for range maxParts {
		if !it.Next() || it.IsLast() {
			return nil
		}
	}
	if !it.Next() {
		return nil
	}
	d := diag.New(diag.BadTOML, b.file.Pos(int(it.Node().Raw.Offset)), int(it.Node().Raw.Length))
	d.Label = fmt.Sprintf("found a key of more than %d parts", maxParts)
	return &d
}

func (b *builder) newTable(key *unstable.Node, m made) *Value {
	v := &Value{Kind: TableKind, Table: &Table{}, made: m}
	v.At, v.Span = b.file.Pos(int(key.Raw.Offset)), int(key.Raw.Length)
	return v
}

func (b *builder) entry(key *unstable.Node, v *Value) Entry {
	return Entry{Key: string(key.Data), At: b.file.Pos(int(key.Raw.Offset)), Span: int(key.Raw.Length), Value: v}
}

// taken reports a key that is defined twice.
func (b *builder) taken(key *unstable.Node, old *Entry) *diag.Diagnostic {
	d := diag.New(diag.BadTOML, b.file.Pos(int(key.Raw.Offset)), int(key.Raw.Length))
	d.Label = "found " + strings.TrimSpace(string(key.Data)) + " again"
	d.Related = []diag.Related{{At: old.At, Note: "first defined here"}}
	return &d
}
