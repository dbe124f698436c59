package importer

import (
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
)

// tomlReader reads the tables of a document.
type tomlReader struct {
	t *translation
	d *document
}

// tables are the keys that a table may have, each with its reader.
type tables map[string]func(*source.Entry)

// table reads the keys of a table.
func (r *tomlReader) table(n *source.Table, what string, known tables) {
	for i := range n.Entries {
		e := &n.Entries[i]
		if read, ok := known[e.Key]; ok {
			read(e)
			continue
		}
		var names []string
		for k := range known {
			names = append(names, k)
		}
		slices.Sort(names)
		hint := suggest.Hint(e.Key, names)
		if hint != "" {
			hint = "; " + hint
		}
		r.wrong(e, "no key of %s in %s%s", what, r.d.version, hint)
	}
}

func (r *tomlReader) wrong(e *source.Entry, format string, args ...any) {
	r.d.faults = append(r.d.faults, &fault{e.At.String() + ": " + e.Key + ": " + fmt.Sprintf(format, args...)})
}

// array is the elements of a list of texts.
func (r *tomlReader) array(e *source.Entry) []*source.Value {
	if e.Value.Kind != source.ArrayKind || slices.ContainsFunc(e.Value.Array, func(v *source.Value) bool { return v.Kind != source.StringKind }) {
		r.wrong(e, "expected a list of texts")
	}
	return e.Value.Array
}

// truth is true or false.
func (r *tomlReader) truth(e *source.Entry) bool {
	if e.Value.Kind != source.BoolKind {
		r.wrong(e, "expected true or false")
	}
	return e.Value.Bool
}

// add notes an entry.
func (r *tomlReader) add(e *source.Entry, key, text string) *Entry {
	out := &Entry{File: e.At.File, Line: e.At.Line, Col: e.At.Col, Key: key, Text: text}
	r.t.entries = append(r.t.entries, out)
	return out
}
