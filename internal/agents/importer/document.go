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

// Document is one file.
type Document struct {
	// Name is the file as the caller names it, path its canonical path.
	Name, Path string
	Text       []byte
	// Root is the document as JSON, nil if it is none.
	Root *jsonc.Node
	// Faults are its mistakes, each with its place.
	Faults  []error
	Version string
}

// OpenDocument reads a file of bounded size. It waits for no FIFO.
func OpenDocument(name string) (*Document, error) {
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
	return &Document{Name: name, Path: filepath.ToSlash(path), Text: text}, nil
}

// JSON parses the document.
func (d *Document) JSON() error {
	root, err := jsonc.Parse(d.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	d.Root = root
	return nil
}

// place is the line and the column of a byte.
func (d *Document) place(at int) (line, col int) {
	before := d.Text[:min(at, len(d.Text))]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// Fault notes a mistake at a byte.
func (d *Document) Fault(at int, format string, args ...any) {
	line, col := d.place(at)
	d.Faults = append(d.Faults, fmt.Errorf("%s:%d:%d: %s", d.Name, line, col, fmt.Sprintf(format, args...)))
}

// Err is all mistakes of the document.
func (d *Document) Err() error { return errors.Join(d.Faults...) }

// Fields are the members that an object may have, each with its reader.
type Fields map[string]func(n *jsonc.Node)

// Object reads the members of an object. An unknown one is a mistake: it may make the policy narrow.
// See decision D197.
func (d *Document) Object(n *jsonc.Node, what string, known Fields) {
	if n == nil {
		return
	}
	if n.Kind != '{' {
		d.Fault(n.From, "%s is no object", what)
		return
	}
	for _, item := range n.Items {
		read, ok := known[item.Key]
		if !ok {
			hint := suggest.Hint(item.Key, slices.Sorted(maps.Keys(known)))
			if hint != "" {
				hint = "; " + hint
			}
			d.Fault(item.Begin, "%q is no key of %s in %s%s", item.Key, what, d.Version, hint)
			continue
		}
		read(item)
	}
}

// List reads the elements of a list of texts.
func (d *Document) List(n *jsonc.Node, what string, read func(item *jsonc.Node, text string)) {
	if n.Kind != '[' {
		d.Fault(n.From, "%s is no list", what)
		return
	}
	for _, item := range n.Items {
		if item.Kind != '"' {
			d.Fault(item.From, "an element of %s is no text", what)
			continue
		}
		read(item, item.String())
	}
}

// Truth reads true or false.
func (d *Document) Truth(n *jsonc.Node, what string) bool {
	if n.Kind != 't' && n.Kind != 'f' {
		d.Fault(n.From, "%s is neither true nor false", what)
	}
	return n.True()
}

// Entry is a part of the document for the report.
func (d *Document) Entry(n *jsonc.Node, key, text string) *Entry {
	line, col := d.place(n.Begin)
	return &Entry{File: d.Name, Line: line, Col: col, Key: key, Text: text}
}

// Clean reports whether a text has no character that could pass for another one in a path.
func Clean(text string) bool {
	return text != "" && !strings.ContainsFunc(text,
		func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
}
