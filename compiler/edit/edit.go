package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
)

// Field is a key of an item; Value is TOML.
type Field struct {
	Key, Value string // the key as written, and its value
}

// String is a field with a string.
func String(key, value string) Field { return Field{key, tomltext.String(value)} }

// Bool is a field with a boolean.
func Bool(key string, value bool) Field { return Field{key, strconv.FormatBool(value)} }

// Item is a table of a list, its fields in the order in which they are written.
type Item []Field

// inline writes the item as an inline table.
func (it Item) inline() string { return "{ " + it.String() + " }" }

// String is the fields in a line.
func (it Item) String() string { return strings.Join(it.lines(), ", ") }

// lines are the fields as TOML.
func (it Item) lines() []string {
	fields := make([]string, 0, len(it))
	for _, f := range it {
		fields = append(fields, tomltext.Key(f.Key)+" = "+f.Value)
	}
	return fields
}

// block writes the item below a header of its own.
func (it Item) block(path []string, newline string, notes []string) string {
	lines := append([]string{"[[" + dotted(path) + "]]"}, it.lines()...)
	return comments("", newline, notes) + strings.Join(lines, newline) + newline
}

func dotted(path []string) string {
	keys := make([]string, 0, len(path))
	for _, k := range path {
		keys = append(keys, tomltext.Key(k))
	}
	return strings.Join(keys, ".")
}

// Append returns the document with an item at the end of the list at a path. A missing list is
// made: as [[headers]] at the end of the document, or as an array where the table around it is
// in braces. The notes become comments above the item. The error gives the reason why the document
// cannot be edited so; there is no partial result.
func Append(text []byte, path []string, item Item, notes ...string) ([]byte, error) {
	return edit(text, appended(item).at(path), func(d *document) ([]change, error) {
		at, n := d.find(path)
		switch {
		case n == len(path) && at.shape == blocks:
			return d.appendBlock(at, path, item, notes), nil
		case n == len(path) && at.shape == brackets:
			return d.appendElement(at, item.inline(), notes...), nil
		case n < len(path) && at.inline != nil:
			list := "[" + d.within(at.inline, item, notes) + "]"
			return d.appendElement(at.inline, dotted(path[at.inline.depth:])+" = "+list), nil
		case n < len(path) && at.shape == open:
			return d.appendSection(path, item, notes), nil
		default:
			return nil, fmt.Errorf("%s is not a list", dotted(path[:n]))
		}
	})
}

// Remove returns the document without an item of the list at a path. index counts the
// items from 0.
func Remove(text []byte, path []string, index int) ([]byte, error) {
	return edit(text, removed(index).at(path), func(d *document) ([]change, error) {
		at, n := d.find(path)
		if n < len(path) || at.shape != blocks && at.shape != brackets || index < 0 || index >= len(at.inner) {
			return nil, fmt.Errorf("%s has no item %d", dotted(path), index)
		}
		if at.shape == blocks {
			return d.removeBlock(at.inner[index]), nil
		}
		return d.removeElement(at, index), nil
	})
}

// Extend returns the document with further fields in an item of the list at a path. index counts
// the items from 0. A field that the item has is an error. The notes become comments above the item.
func Extend(text []byte, path []string, index int, fields Item, notes ...string) ([]byte, error) {
	return edit(text, extended(path, index, fields), func(d *document) ([]change, error) {
		at, n := d.find(path)
		if n < len(path) || at.shape != blocks && at.shape != brackets || index < 0 || index >= len(at.inner) {
			return nil, fmt.Errorf("%s has no item %d", dotted(path), index)
		}
		item := at.inner[index]
		if at.shape == blocks {
			end, nl := item.pieces[0].end, d.newline()
			lines := strings.Join(fields.lines(), nl) + nl
			if d.text[end-1] != '\n' {
				lines = nl + lines
			}
			return append(d.above(item.pieces[0].start, notes), insert(end, lines)), nil
		}
		if item.shape != braces {
			return nil, fmt.Errorf("an item of %s is no table", dotted(path))
		}
		return append(d.above(item.at.start, notes), d.appendElement(item, strings.Join(fields.lines(), ", "))...), nil
	})
}

// Set returns the document with a further key in the table at a path; the value is TOML. A missing
// table is made. A key that the table has is an error. The notes become comments above the key, or
// above the line of a table in braces.
func Set(text []byte, path []string, field Field, notes ...string) ([]byte, error) {
	return edit(text, keyed(path, field), func(d *document) ([]change, error) {
		at, n := d.find(path)
		key := tomltext.Key(field.Key)
		switch {
		case n == len(path) && at.shape == braces:
			return append(d.above(at.inline.at.start, notes), d.appendElement(at, key+" = "+field.Value)...), nil
		case at.inline != nil && at.shape == open || n < len(path) && at.shape == braces:
			return append(d.above(at.inline.at.start, notes),
				d.appendElement(at.inline, dotted(path[at.inline.depth:])+"."+key+" = "+field.Value)...), nil
		case at.shape != open:
			return nil, fmt.Errorf("%s is not a table", dotted(path[:n]))
		case n == len(path):
			return d.appendKey(at, path, field, notes), nil
		default:
			nl := d.newline()
			return d.appendText(comments("", nl, notes) + "[" + dotted(path) + "]" + nl + key + " = " +
				field.Value + nl), nil
		}
	})
}

// change replaces a range by a text.
type change struct {
	at   span
	text string
}

func insert(at int, text string) change { return change{span{at, at}, text} }

// edit applies changes to the text, and compares the content before and after.
// See decision D97.
func edit(text []byte, met check, changes func(*document) ([]change, error)) ([]byte, error) {
	before, finding := source.Parse("", text)
	if finding != nil {
		return nil, fmt.Errorf("%s: %s", finding.At, finding.Label)
	}
	body, mark := bytes.CutPrefix(text, bom)
	d, err := read(body)
	if err != nil {
		return nil, err
	}
	list, err := changes(d)
	if err != nil {
		return nil, err
	}
	out := apply(body, list)
	if mark {
		out = append(slices.Clone(bom), out...)
	}
	after, finding := source.Parse("", out)
	if finding != nil || !met(before, after) {
		return nil, errShape
	}
	return out, nil
}

// bom is the byte order mark that editors on Windows write before UTF-8.
var bom = []byte("\xef\xbb\xbf")

// apply makes changes. Bytes that two of them leave out are left out once.
func apply(text []byte, changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.start - b.at.start })
	var out []byte
	pos := 0
	for _, c := range changes {
		out = append(out, text[pos:max(pos, c.at.start)]...)
		out = append(out, c.text...)
		pos = max(pos, c.at.end)
	}
	return append(out, text[pos:]...)
}
