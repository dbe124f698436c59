package importer

import (
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
)

// TOMLReader reads the tables of a document.
type TOMLReader struct {
	T *Translation
	D *Document
}

// Tables are the keys that a table may have, each with its reader.
type Tables map[string]func(*source.Entry)

// Table reads the keys of a table.
func (r *TOMLReader) Table(n *source.Table, what string, known Tables) {
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
		r.Wrong(e, "no key of %s in %s%s", what, r.D.Version, hint)
	}
}

// Wrong notes a mistake in the value of a key.
func (r *TOMLReader) Wrong(e *source.Entry, format string, args ...any) {
	r.D.Faults = append(r.D.Faults, &Fault{e.At.String() + ": " + e.Key + ": " + fmt.Sprintf(format, args...)})
}

// Array is the elements of a list of texts.
func (r *TOMLReader) Array(e *source.Entry) []*source.Value {
	if e.Value.Kind != source.ArrayKind ||
		slices.ContainsFunc(e.Value.Array, func(v *source.Value) bool { return v.Kind != source.StringKind }) {
		r.Wrong(e, "expected a list of texts")
	}
	return e.Value.Array
}

// Truth is true or false.
func (r *TOMLReader) Truth(e *source.Entry) bool {
	if e.Value.Kind != source.BoolKind {
		r.Wrong(e, "expected true or false")
	}
	return e.Value.Bool
}

// Add notes an entry.
func (r *TOMLReader) Add(e *source.Entry, key, text string) *Entry {
	out := &Entry{File: e.At.File, Line: e.At.Line, Col: e.At.Col, Key: key, Text: text}
	r.T.Entries = append(r.T.Entries, out)
	return out
}
