package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/suggest"
)

// Tree is a value of a document that is JSON or TOML.
type Tree struct {
	// Kind is '{', '[', '"', '0' for a whole number, 't', 'f', and 0 for another value.
	Kind      byte
	Key, Text string
	Items     []*Tree
	Line, Col int
}

// Tree reads a document: JSON where it begins with a brace, which no TOML does.
func (d *Document) Tree() (*Tree, error) {
	if bytes.HasPrefix(bytes.TrimLeft(d.Text, " \t\r\n"), []byte("{")) {
		root, err := jsonc.Parse(d.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		return d.FromJSON(root), nil
	}
	root, wrong := source.Parse(d.Name, d.Text)
	if wrong != nil {
		return nil, &Fault{wrong.At.String() + ": " + wrong.Message}
	}
	return FromTOML(&source.Entry{Value: &source.Value{Kind: source.TableKind, Table: root}}), nil
}

// FromJSON returns a value of JSON as a tree.
func (d *Document) FromJSON(n *jsonc.Node) *Tree {
	out := &Tree{Kind: n.Kind, Key: n.Key, Text: n.String()}
	out.Line, out.Col = d.place(n.Begin)
	if !bytes.ContainsRune([]byte(`{["tf`), rune(n.Kind)) {
		var number json.Number
		if out.Kind = 0; n.Decode(&number) == nil {
			if _, err := number.Int64(); err == nil {
				out.Kind, out.Text = '0', number.String()
			}
		}
	}
	for _, item := range n.Items {
		out.Items = append(out.Items, d.FromJSON(item))
	}
	return out
}

// FromTOML returns the value of a key of TOML as a tree.
func FromTOML(e *source.Entry) *Tree {
	v := e.Value
	out := &Tree{Key: e.Key, Text: v.Text, Line: e.At.Line, Col: e.At.Col}
	switch v.Kind {
	case source.TableKind:
		out.Kind = '{'
		for i := range v.Table.Entries {
			out.Items = append(out.Items, FromTOML(&v.Table.Entries[i]))
		}
	case source.ArrayKind:
		out.Kind = '['
		for _, item := range v.Array {
			out.Items = append(out.Items, FromTOML(&source.Entry{At: item.At, Value: item}))
		}
	case source.StringKind:
		out.Kind = '"'
	case source.IntegerKind:
		out.Kind, out.Text = '0', fmt.Sprint(v.Int)
	case source.BoolKind:
		if out.Kind = 'f'; v.Bool {
			out.Kind = 't'
		}
	case source.FloatKind, source.TimeKind:
	}
	return out
}

// Wrong notes a mistake at a value.
func (d *Document) Wrong(n *Tree, format string, args ...any) {
	d.Faults = append(d.Faults, &Fault{fmt.Sprintf("%s:%d:%d: ", d.Name, n.Line, n.Col) + fmt.Sprintf(format, args...)})
}

// Members reads the members of an object. An unknown one is a mistake. See decision D197.
func (d *Document) Members(n *Tree, what string, known map[string]func(*Tree)) {
	if n.Kind != '{' {
		d.Wrong(n, "%s is no object", what)
		return
	}
	for _, item := range n.Items {
		if read, ok := known[item.Key]; ok {
			read(item)
			continue
		}
		hint := suggest.Hint(item.Key, slices.Sorted(maps.Keys(known)))
		if hint != "" {
			hint = "; " + hint
		}
		d.Wrong(item, "%q is no key of %s in %s%s", item.Key, what, d.Version, hint)
	}
}

// Elements are those of a list that has some, all of one kind.
func (d *Document) Elements(n *Tree, what string, kind byte) []*Tree {
	if n.Kind != '[' || len(n.Items) == 0 ||
		slices.ContainsFunc(n.Items, func(e *Tree) bool { return e.Kind != kind }) {
		d.Wrong(n, "expected a list of %s, and at least one", what)
		return nil
	}
	return n.Items
}

// Noted notes an entry.
func (t *Translation) Noted(d *Document, n *Tree, key, text string) *Entry {
	e := &Entry{File: d.Name, Line: n.Line, Col: n.Col, Key: key, Text: text}
	t.Entries = append(t.Entries, e)
	return e
}

// Member is the member of a name, nil without one.
func (n *Tree) Member(key string) *Tree {
	if n == nil || n.Kind != '{' {
		return nil
	}
	for _, item := range n.Items {
		if item.Key == key {
			return item
		}
	}
	return nil
}
