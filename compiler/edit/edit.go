package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/tomltext"
)

// Field is one key of an item; Value is TOML.
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
func (it Item) inline() string {
	fields := make([]string, 0, len(it))
	for _, f := range it {
		fields = append(fields, tomltext.Key(f.Key)+" = "+f.Value)
	}
	return "{ " + strings.Join(fields, ", ") + " }"
}

// block writes the item below a header of its own.
func (it Item) block(path []string, newline string) string {
	lines := []string{"[[" + dotted(path) + "]]"}
	for _, f := range it {
		lines = append(lines, tomltext.Key(f.Key)+" = "+f.Value)
	}
	return strings.Join(lines, newline) + newline
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
// in braces. The error gives the reason why the document cannot be edited so; there is no
// partial result.
func Append(text []byte, path []string, item Item) ([]byte, error) {
	return edit(text, path, appended(item), func(d *document) ([]change, error) {
		at, n := d.find(path)
		switch {
		case n == len(path) && at.shape == blocks:
			return d.appendBlock(at, path, item), nil
		case n == len(path) && at.shape == brackets:
			return d.appendElement(at, item.inline()), nil
		case n < len(path) && at.inline != nil:
			return d.appendElement(at.inline, dotted(path[at.inline.depth:])+" = ["+item.inline()+"]"), nil
		case n < len(path) && at.shape == open:
			return d.appendSection(path, item), nil
		default:
			return nil, fmt.Errorf("%s is not a list", dotted(path[:n]))
		}
	})
}

// Remove returns the document without one item of the list at a path. index counts the
// items from 0.
func Remove(text []byte, path []string, index int) ([]byte, error) {
	return edit(text, path, removed(index), func(d *document) ([]change, error) {
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

// change replaces a range by a text.
type change struct {
	at   span
	text string
}

func insert(at int, text string) change { return change{span{at, at}, text} }

// edit applies changes to the text, and compares the content before and after.
// See RATIONALE D33.
func edit(text []byte, path []string, want expectation, changes func(*document) ([]change, error)) ([]byte, error) {
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
	if finding != nil || !want.met(before, after, path) {
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
