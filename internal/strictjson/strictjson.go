// Package strictjson reads a JSON document into a value: every member must be a field of it,
// spelled as in its tag and present at most once, and nothing may follow the document.
//
// It is for documents that are read at the start of a tool. encoding/json prepares itself for
// every type that it meets, for reading and for writing, which takes a short process longer
// than the rest of its work on a document. Documents that both accept give equal values; this
// package refuses more (numbers with fractions, names in another case, text that is not UTF-8). The members of an embedded
// struct are those of the struct around it.
package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxDepth bounds the nesting of lists and objects. The validation calls itself for each.
const maxDepth = 100

// Unmarshal reads data into the value that to points to, which is undefined after an error.
// See RATIONALE D102.
func Unmarshal(data []byte, to any) error {
	text := string(data)
	switch {
	case !utf8.ValidString(text):
		return errors.New("not UTF-8") // encoding/json replaces the rest, so that readers would differ
	case depth(text) > maxDepth:
		return fmt.Errorf("more than %d lists and objects in each other", maxDepth)
	case !gjson.Valid(text):
		return errors.New("not a JSON document, or more than one")
	}
	return Raw(text).Unmarshal(to)
}

// Raw is a value of a document that has been read, as it stands there. It shares the document's memory, which a
// json.RawMessage copies.
type Raw string

// Unmarshal reads the value as the function does.
func (r Raw) Unmarshal(to any) error {
	d := decoder{data: string(r), fields: map[reflect.Type][]field{}}
	d.value(reflect.ValueOf(to).Elem())
	return d.err
}

// Each calls read with each item of a list, until it returns an error. No value and null are empty lists.
func (r Raw) Each(read func(item Raw) error) error {
	d := decoder{data: string(r)}
	switch {
	case r == "" || d.next() == 'n':
	case d.next() == '[':
		d.each(func() { d.err = read(Raw(d.raw())) })
	default:
		d.refuse("%.40s where a list should be", d.raw())
	}
	return d.err
}

// Header returns the members "format", "format_version" and "form" of a document, also of one
// that Unmarshal refuses.
func Header(data []byte) (format string, version int, form string) {
	r := gjson.GetManyBytes(data, "format", "format_version", "form") // the first of each, without a copy of the document
	return r[0].String(), int(r[1].Int()), r[2].String()
}

// depth is how deep brackets stand in each other outside of strings.
func depth(text string) int {
	deepest, now := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = closing(text, i)
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// closing is the place of the quote that ends a string, whose own quote is at a place; the length of the text if none does.
func closing(text string, at int) int {
	for {
		n := strings.IndexByte(text[at+1:], '"')
		if n < 0 {
			return len(text)
		}
		from := at + 1
		at = from + n
		escapes := 0
		for at-escapes > from && text[at-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}

// decoder reads a document that is known to be one, from its beginning to its end. It keeps the
// first mistake, and then reads no further.
type decoder struct {
	data string // strings of the value share its memory
	at   int
	err  error
	// fields are the names of the fields of each struct that was met.
	fields map[reflect.Type][]field
}

// field is a member of an object: its name, and the way to the field of the struct.
type field struct {
	name string
	way  []int
}

func (d *decoder) refuse(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// octet is the type of the elements of json.RawMessage, whatever that is called; opaque is that of Raw.
var octet, opaque = reflect.TypeFor[byte](), reflect.TypeFor[Raw]()

// value reads the next value into v. As in encoding/json, null changes nothing but pointers, lists
// and maps.
func (d *decoder) value(v reflect.Value) {
	first := d.next()
	switch t := v.Type(); {
	case t.Kind() == reflect.Slice && t.Elem() == octet:
		v.SetBytes([]byte(d.raw()))
	case t == opaque:
		v.SetString(d.raw())
	case first == 'n':
		d.raw()
		v.SetZero()
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.value(v.Elem())
	case t.Kind() == reflect.Struct && first == '{':
		d.object(v)
	case t.Kind() == reflect.Map && first == '{':
		d.table(v)
	case t.Kind() == reflect.Slice && first == '[':
		d.list(v)
	case t.Kind() == reflect.String && first == '"':
		v.SetString(d.text())
	case t.Kind() == reflect.Bool && (first == 't' || first == 'f'):
		d.raw()
		v.SetBool(first == 't')
	case first == '-' || '0' <= first && first <= '9':
		d.number(v)
	default:
		d.refuse("%.40s where %s should be", d.raw(), t)
	}
}

// next is the first byte of the next value or bracket, after blanks, commas and colons: where those
// stand is known.
func (d *decoder) next() byte {
	for ; ; d.at++ {
		switch c := d.data[d.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
		default:
			return c
		}
	}
}

// raw passes the next value by, and returns its text.
func (d *decoder) raw() string {
	first := d.next()
	from := d.at
	switch first {
	case '"':
		d.quoted()
	case '{', '[':
		for open := 0; ; {
			switch c := d.data[d.at]; c {
			case '"':
				d.quoted()
				continue
			case '{', '[':
				open++
			case '}', ']':
				open--
			}
			if d.at++; open == 0 {
				return d.data[from:d.at]
			}
		}
	default:
		for d.at < len(d.data) && strings.IndexByte(" \t\n\r,:}]", d.data[d.at]) < 0 {
			d.at++
		}
	}
	return d.data[from:d.at]
}

// quoted passes a string by, and reports whether it has escapes.
func (d *decoder) quoted() bool {
	from := d.at + 1
	d.at = closing(d.data, d.at) + 1
	return strings.IndexByte(d.data[from:d.at-1], '\\') >= 0
}

// text returns the next value, a string. Surrogates, paired or lone, are left to encoding/json.
func (d *decoder) text() string {
	d.next()
	from := d.at
	if !d.quoted() {
		return d.data[from+1 : d.at-1]
	}
	r := gjson.Parse(d.data[from:d.at])
	var s string
	if (strings.Contains(r.Raw, `\ud`) || strings.Contains(r.Raw, `\uD`)) && json.Unmarshal([]byte(r.Raw), &s) == nil {
		return s
	}
	return r.Str
}

// each passes the next bracket by, and calls read before each of its members until a mistake or the
// end.
func (d *decoder) each(read func()) {
	d.next()
	for d.at++; d.err == nil; read() {
		if c := d.next(); c == '}' || c == ']' {
			d.at++
			return
		}
	}
}

func (d *decoder) object(v reflect.Value) {
	fields, known := d.fields[v.Type()]
	if !known {
		fields = fieldsOf(v.Type())
		d.fields[v.Type()] = fields
	}
	seen := make([]bool, len(fields))
	d.each(func() {
		name := d.text()
		switch i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); {
		case i < 0:
			d.refuse("unknown field %q", name)
		case seen[i]:
			d.refuse("%q twice", name)
		default:
			seen[i] = true
			d.value(v.FieldByIndex(fields[i].way))
		}
	})
}

// fieldsOf lists the fields of a struct, those of embedded ones at their place.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name == "-":
		case name == "" && f.Anonymous:
			for _, inner := range fieldsOf(f.Type) {
				out = append(out, field{inner.name, append([]int{i}, inner.way...)})
			}
		default:
			out = append(out, field{name, []int{i}})
		}
	}
	return out
}

func (d *decoder) table(v reflect.Value) {
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	d.each(func() {
		name, item := reflect.ValueOf(d.text()).Convert(t.Key()), reflect.New(t.Elem()).Elem()
		if v.MapIndex(name).IsValid() {
			d.refuse("%q twice", name.String())
		}
		d.value(item)
		v.SetMapIndex(name, item)
	})
}

func (d *decoder) list(v reflect.Value) {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	d.each(func() {
		n := v.Len()
		v.Grow(1)
		v.SetLen(n + 1)
		item := v.Index(n)
		item.SetZero()
		d.value(item)
	})
}

func (d *decoder) number(v reflect.Value) {
	t, text := v.Type(), d.raw()
	switch {
	case v.CanInt():
		n, err := strconv.ParseInt(text, 10, t.Bits())
		if v.SetInt(n); err != nil {
			d.refuse("%.40s is no whole number that fits", text)
		}
	case v.CanUint():
		n, err := strconv.ParseUint(text, 10, t.Bits())
		if v.SetUint(n); err != nil {
			d.refuse("%.40s is no whole number that fits", text)
		}
	default:
		d.refuse("%.40s where %s should be", text, t)
	}
}
