package strictjson

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unsafe"
)

// The bounds of documents that are read as values: the nesting, and the lengths of all lists and objects together, in
// bytes and in lengths of the document. Each list and object is read once for every one around it, so that a long text
// that is nested deep takes as long as many of its length.
const (
	maxValues  = 256
	maxWeight  = 64 << 20
	maxWeights = 8
)

// ErrDeep is the error about a document with more lists and objects in each other than any of its length has.
var ErrDeep = errors.New("too many lists and objects in each other")

// Type is the type of a value. It is Null also where there is no value.
type Type uint8

// The types.
const (
	Null Type = iota
	False
	Number
	String
	True
	JSON // a list or an object
)

// Value is a value of a document whose members are not known in advance. The members are read when they are asked for.
type Value struct {
	Type Type
	// Raw is the value as it was written, empty where there is none. It shares the document's memory.
	Raw string
	// Str is the text of a string, empty for other values.
	Str string
	// Index is the place of Raw in the document.
	Index int
}

// Parse reads a text that is one JSON document. Names may stand twice, and the text need not be UTF-8.
func Parse(text string) (Value, error) {
	d := decoder{data: text, deepest: maxValues, heaviest: maxWeight + maxWeights*len(text)}
	d.pass()
	if d.next(); d.at < len(d.data) {
		d.malformed()
	}
	switch {
	case d.err == nil:
		d.at = 0
		return d.here(), nil
	case (d.deep > d.deepest || d.weight > d.heaviest) && json.Valid([]byte(text)):
		return Value{}, ErrDeep
	}
	return Value{}, errDocument
}

// here reads the next value.
func (d *decoder) here() Value {
	v := Value{Type: typeOf(d.next()), Index: d.at}
	switch v.Type {
	case String:
		v.Str = d.text()
	case JSON:
		d.skip()
	case Null, False, Number, True:
		d.pass()
	}
	v.Raw = d.data[v.Index:d.at]
	return v
}

// skip passes a list or object by, whose bracket comes next. It looks at brackets and quotes alone, since the grammar was
// checked before, and since this is done again for every list and object around one.
func (d *decoder) skip() {
	deep, text := 0, d.data
	for at := d.at; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			deep++
		case '}', ']':
			if deep--; deep == 0 {
				d.at = at + 1
				return
			}
		}
	}
	d.malformed()
}

func typeOf(first byte) Type {
	switch first {
	case '"':
		return String
	case '{', '[':
		return JSON
	case 't':
		return True
	case 'f':
		return False
	case 'n':
		return Null
	}
	return Number
}

// Exists reports whether there is a value.
func (v Value) Exists() bool { return v.Raw != "" }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.Type == JSON && v.Raw != "" && v.Raw[0] == '{' }

// IsArray reports whether the value is a list.
func (v Value) IsArray() bool { return v.Type == JSON && v.Raw != "" && v.Raw[0] == '[' }

// String is the text of a string, nothing for null, and another value as it was written.
func (v Value) String() string {
	switch v.Type {
	case String:
		return v.Str
	case Null:
		return ""
	case False, Number, True, JSON:
	}
	return v.Raw
}

var errEnough = errors.New("enough was read")

// ForEach calls visit with the name and value of each member of an object, or with the elements of a list, until visit
// returns false. Another value has none.
func (v Value) ForEach(visit func(key, value Value) bool) {
	if v.Type != JSON {
		return
	}
	d := decoder{data: v.Raw, deepest: 1}
	object := d.next() == '{'
	if !object && d.next() != '[' {
		return
	}
	d.each(func() {
		var key Value
		if object {
			key = d.key()
		}
		value := d.here()
		key.Index, value.Index = key.Index+v.Index, value.Index+v.Index
		if d.err == nil && !visit(key, value) {
			d.err = errEnough
		}
	})
}

// Array are the elements of a list. Another value is its own only element, and null has none.
func (v Value) Array() []Value {
	if !v.IsArray() && v.Type != Null {
		return []Value{v}
	}
	var out []Value
	v.ForEach(func(_, value Value) bool {
		out = append(out, value)
		return true
	})
	return out
}

// Map are the members of an object by name, of which the last counts.
func (v Value) Map() map[string]Value {
	out := map[string]Value{}
	if v.IsObject() {
		v.ForEach(func(key, value Value) bool {
			out[key.Str] = value
			return true
		})
	}
	return out
}

// Get is the value at the end of a way of names, of which the first counts in each object.
func (v Value) Get(way ...string) Value {
	for _, name := range way {
		var found Value
		v.ForEach(func(key, value Value) bool {
			if key.Type == String && key.Str == name {
				found = value
			}
			return !found.Exists()
		})
		v = found
	}
	return v
}

// Value is the value, none where it is no document.
func (r Raw) Value() Value {
	v, _ := Parse(string(r))
	return v
}

// Get is that of the value, as far as that is a document.
func (r Raw) Get(way ...string) Value { return Value{Type: JSON, Raw: string(r)}.Get(way...) }

// Header returns the members "format", "format_version" and "form" of a document, also of one
// that Unmarshal refuses.
func Header(data []byte) (format string, version int, form string) {
	// Without a copy of the document, which may be long.
	v := Value{Type: JSON, Raw: unsafe.String(unsafe.SliceData(data), len(data))}
	n, _ := strconv.Atoi(v.Get("format_version").Raw)
	return strings.Clone(v.Get("format").String()), n, strings.Clone(v.Get("form").String())
}
