package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Kind is the TOML type of a value.
type Kind uint8

// The kinds of value.
const (
	TableKind Kind = iota + 1
	ArrayKind
	StringKind
	IntegerKind
	FloatKind
	BoolKind
	TimeKind
)

// String names the kind the way a message does, with its article.
func (k Kind) String() string {
	switch k {
	case TableKind:
		return "a table"
	case ArrayKind:
		return "an array"
	case StringKind:
		return "a string"
	case IntegerKind:
		return "an integer"
	case FloatKind:
		return "a float"
	case BoolKind:
		return "a boolean"
	case TimeKind:
		return "a date or time"
	default:
		return "nothing"
	}
}

// Value is a value of a layer. Text is the contents of a string, the written
// form of every other scalar.
type Value struct {
	Kind Kind   // of the value
	At   ir.Pos // its first character
	// Span is the number of bytes to mark in messages.
	Span int
	Text string // of a scalar
	// Int, Bool, Table and Array are set only for values of these kinds.
	Int   int64
	Bool  bool
	Table *Table
	Array []*Value

	// how the table or array came to be; see tree.go.
	made made
}

// Table is a table of a layer, its entries in the order in which they were
// written.
type Table struct {
	Entries []Entry // as written
	index   map[string]int
}

// Entry is a key of a table.
type Entry struct {
	Key string // unquoted
	At  ir.Pos // its first character
	// Span is the length of the written key in bytes.
	Span  int
	Value *Value // never nil
}

// Get returns the value of a key, nil if there is none.
func (t *Table) Get(key string) *Value {
	if e := t.Entry(key); e != nil {
		return e.Value
	}
	return nil
}

// Entry returns the entry of a key, nil if there is none.
func (t *Table) Entry(key string) *Entry {
	if t == nil {
		return nil
	}
	if i, ok := t.index[key]; ok {
		return &t.Entries[i]
	}
	return nil
}

// HasAny reports whether the table has one of some keys.
func (t *Table) HasAny(keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return t.Entry(k) != nil })
}

func (t *Table) add(e Entry) *Entry {
	if t.index == nil {
		t.index = make(map[string]int)
	}
	t.index[e.Key] = len(t.Entries)
	t.Entries = append(t.Entries, e)
	return &t.Entries[len(t.Entries)-1]
}

// NewTable returns a table of entries with different keys.
func NewTable(entries ...Entry) *Table {
	t := &Table{}
	for _, e := range entries {
		t.add(e)
	}
	return t
}

// Without returns a copy of the table that lacks some keys.
func (t *Table) Without(keys ...string) *Table {
	named := func(e Entry) bool { return slices.Contains(keys, e.Key) }
	return NewTable(slices.DeleteFunc(slices.Clone(t.Entries), named)...)
}

// Key returns a canonical form of v, independent of its place and of the order of its keys: two
// values are equal if their keys are.
func (v *Value) Key() string {
	var b strings.Builder
	v.key(&b)
	return b.String()
}

func (v *Value) key(b *strings.Builder) {
	switch v.Kind {
	case TableKind:
		keys := make([]string, 0, len(v.Table.Entries))
		for _, e := range v.Table.Entries {
			keys = append(keys, e.Key)
		}
		slices.Sort(keys)
		b.WriteByte('{')
		for _, k := range keys {
			b.WriteString(strconv.Quote(k))
			b.WriteByte('=')
			v.Table.Get(k).key(b)
		}
		b.WriteByte('}')
	case ArrayKind:
		b.WriteByte('[')
		for _, item := range v.Array {
			item.key(b)
		}
		b.WriteByte(']')
	case IntegerKind:
		b.WriteString("i" + strconv.FormatInt(v.Int, 10) + ";")
	case BoolKind:
		b.WriteString("b" + strconv.FormatBool(v.Bool) + ";")
	case StringKind:
		b.WriteString(strconv.Quote(v.Text))
	case FloatKind, TimeKind:
		b.WriteString("s" + v.Text + ";")
	}
}
