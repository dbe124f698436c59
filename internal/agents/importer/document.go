package importer

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/suggest"
)

// maxSize is the largest file that is imported, in bytes. Settings are short, and members of an object
// are compared with each other.
const maxSize = 256 << 10

// document is one file.
type document struct {
	// name is the file as the caller names it, path its canonical path.
	name, path string
	text       []byte
	// root is the document as JSON, nil if it is none.
	root *jsonc.Node
	// faults are its mistakes, each with its place.
	faults  []error
	version string
}

// open reads a file of bounded size. It waits for no FIFO.
func open(name string) (*document, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, oserr.Reason(err))
	}
	path, text, err := wholefile.Read(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, oserr.Reason(err))
	case len(text) > maxSize:
		return nil, fmt.Errorf("%s: %w", name, bounded.TooLarge(maxSize))
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%s: not UTF-8", name)
	}
	return &document{name: name, path: filepath.ToSlash(path), text: text}, nil
}

// json parses the document.
func (d *document) json() error {
	root, err := jsonc.Parse(d.text)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	d.root = root
	return nil
}

// place is the line and the column of a byte.
func (d *document) place(at int) (line, col int) {
	before := d.text[:min(at, len(d.text))]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// fault notes a mistake at a byte.
func (d *document) fault(at int, format string, args ...any) {
	line, col := d.place(at)
	d.faults = append(d.faults, fmt.Errorf("%s:%d:%d: %s", d.name, line, col, fmt.Sprintf(format, args...)))
}

// err is all mistakes of the document.
func (d *document) err() error { return errors.Join(d.faults...) }

// fields are the members that an object may have, each with its reader.
type fields map[string]func(n *jsonc.Node)

// object reads the members of an object. An unknown one is a mistake: it may make the policy narrow.
// See decision D197.
func (d *document) object(n *jsonc.Node, what string, known fields) {
	if n == nil {
		return
	}
	if n.Kind != '{' {
		d.fault(n.From, "%s is no object", what)
		return
	}
	for _, item := range n.Items {
		read, ok := known[item.Key]
		if !ok {
			hint := suggest.Hint(item.Key, slices.Sorted(maps.Keys(known)))
			if hint != "" {
				hint = "; " + hint
			}
			d.fault(item.Begin, "%q is no key of %s in %s%s", item.Key, what, d.version, hint)
			continue
		}
		read(item)
	}
}

// list reads the elements of a list of texts.
func (d *document) list(n *jsonc.Node, what string, read func(item *jsonc.Node, text string)) {
	if n.Kind != '[' {
		d.fault(n.From, "%s is no list", what)
		return
	}
	for _, item := range n.Items {
		if item.Kind != '"' {
			d.fault(item.From, "an element of %s is no text", what)
			continue
		}
		read(item, item.String())
	}
}

// truth reads true or false.
func (d *document) truth(n *jsonc.Node, what string) bool {
	if n.Kind != 't' && n.Kind != 'f' {
		d.fault(n.From, "%s is neither true nor false", what)
	}
	return n.True()
}

// entry is a part of the document for the report.
func (d *document) entry(n *jsonc.Node, key, text string) *Entry {
	line, col := d.place(n.Begin)
	return &Entry{File: d.name, Line: line, Col: col, Key: key, Text: text}
}

// clean reports whether a text has no character that could pass for another one in a path.
func clean(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
}
