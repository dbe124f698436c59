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

// tree is a value of a document that is JSON or TOML.
type tree struct {
	// kind is '{', '[', '"', '0' for a whole number, 't', 'f', and 0 for another value.
	kind      byte
	key, text string
	items     []*tree
	line, col int
}

// tree reads a document: JSON where it begins with a brace, which no TOML does.
func (d *document) tree() (*tree, error) {
	if bytes.HasPrefix(bytes.TrimLeft(d.text, " \t\r\n"), []byte("{")) {
		root, err := jsonc.Parse(d.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		return d.fromJSON(root), nil
	}
	root, wrong := source.Parse(d.name, d.text)
	if wrong != nil {
		return nil, &fault{wrong.At.String() + ": " + wrong.Message}
	}
	return fromTOML(&source.Entry{Value: &source.Value{Kind: source.TableKind, Table: root}}), nil
}

func (d *document) fromJSON(n *jsonc.Node) *tree {
	out := &tree{kind: n.Kind, key: n.Key, text: n.String()}
	out.line, out.col = d.place(n.Begin)
	if !bytes.ContainsRune([]byte(`{["tf`), rune(n.Kind)) {
		var number json.Number
		if out.kind = 0; n.Decode(&number) == nil {
			if _, err := number.Int64(); err == nil {
				out.kind, out.text = '0', number.String()
			}
		}
	}
	for _, item := range n.Items {
		out.items = append(out.items, d.fromJSON(item))
	}
	return out
}

func fromTOML(e *source.Entry) *tree {
	v := e.Value
	out := &tree{key: e.Key, text: v.Text, line: e.At.Line, col: e.At.Col}
	switch v.Kind {
	case source.TableKind:
		out.kind = '{'
		for i := range v.Table.Entries {
			out.items = append(out.items, fromTOML(&v.Table.Entries[i]))
		}
	case source.ArrayKind:
		out.kind = '['
		for _, item := range v.Array {
			out.items = append(out.items, fromTOML(&source.Entry{At: item.At, Value: item}))
		}
	case source.StringKind:
		out.kind = '"'
	case source.IntegerKind:
		out.kind, out.text = '0', fmt.Sprint(v.Int)
	case source.BoolKind:
		if out.kind = 'f'; v.Bool {
			out.kind = 't'
		}
	case source.FloatKind, source.TimeKind:
	}
	return out
}

// wrong notes a mistake at a value.
func (d *document) wrong(n *tree, format string, args ...any) {
	d.faults = append(d.faults, &fault{fmt.Sprintf("%s:%d:%d: ", d.name, n.line, n.col) + fmt.Sprintf(format, args...)})
}

// members reads the members of an object. An unknown one is a mistake. See decision D197.
func (d *document) members(n *tree, what string, known map[string]func(*tree)) {
	if n.kind != '{' {
		d.wrong(n, "%s is no object", what)
		return
	}
	for _, item := range n.items {
		if read, ok := known[item.key]; ok {
			read(item)
			continue
		}
		hint := suggest.Hint(item.key, slices.Sorted(maps.Keys(known)))
		if hint != "" {
			hint = "; " + hint
		}
		d.wrong(item, "%q is no key of %s in %s%s", item.key, what, d.version, hint)
	}
}

// elements are those of a list that has some, all of one kind.
func (d *document) elements(n *tree, what string, kind byte) []*tree {
	if n.kind != '[' || len(n.items) == 0 || slices.ContainsFunc(n.items, func(e *tree) bool { return e.kind != kind }) {
		d.wrong(n, "expected a list of %s, and at least one", what)
		return nil
	}
	return n.items
}

// noted notes an entry.
func (t *translation) noted(d *document, n *tree, key, text string) *Entry {
	e := &Entry{File: d.name, Line: n.line, Col: n.col, Key: key, Text: text}
	t.entries = append(t.entries, e)
	return e
}

// member is the member of a name, nil without one.
func (n *tree) member(key string) *tree {
	if n == nil || n.kind != '{' {
		return nil
	}
	for _, item := range n.items {
		if item.key == key {
			return item
		}
	}
	return nil
}
