// Package strictjson reads JSON. Unmarshal reads a document into a value of Go: every member must be a field of it,
// spelled as in its tag and present at most once, and nothing may follow the document. Parse reads a document whose
// members are not known in advance, such as a message that is passed on byte by byte: its values know their places.
//
// It is for documents that are read at the start of a tool. encoding/json prepares itself for every type that it meets,
// for reading and for writing, which takes a short process longer than the rest of its work on a document. Documents
// that both accept give equal values; Unmarshal refuses more (numbers with fractions, names in another case, text that
// is not UTF-8). The members of an embedded struct are those of the struct around it.
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// maxDepth bounds the nesting of lists and objects. Reading calls itself for each.
const maxDepth = 100

var errDocument = errors.New("not a JSON document, or more than one")

// Unmarshal reads data into the value that to points to, which is undefined after an error.
// See decision D103.
func Unmarshal(data []byte, to any) error {
	return Own(bytes.Clone(data), to)
}

// Own is Unmarshal of data that nobody changes any more: the value shares its memory.
func Own(data []byte, to any) error {
	if !utf8.Valid(data) {
		return errors.New("not UTF-8") // encoding/json replaces the rest, so that readers would differ
	}
	return Raw(unsafe.String(unsafe.SliceData(data), len(data))).into(to, true)
}

// Raw is a value of a document that has been read, as it stands there. It shares the document's memory, which a
// json.RawMessage copies.
type Raw string

// Unmarshal reads the value as the function does.
func (r Raw) Unmarshal(to any) error { return r.into(to, false) }

func (r Raw) into(to any, owns bool) error {
	d := decoder{data: string(r), deepest: maxDepth, owns: owns, fields: map[reflect.Type][]field{}}
	d.value(reflect.ValueOf(to).Elem())
	if d.next(); d.at < len(d.data) {
		d.malformed()
	}
	return d.err
}

// decoder reads a document once, from its beginning to its end, and finds out on the way whether it is one. It keeps the
// first mistake; results after one mean nothing.
type decoder struct {
	data string // strings of the value share its memory
	at   int    // at most the length of data
	deep int    // lists and objects around the place
	err  error
	// deepest bounds deep, and heaviest the sum of the lengths of all lists and objects, in bytes; 0 is no bound.
	deepest          int
	weight, heaviest int
	// owns is true where the bytes of the value share the memory of data as well.
	owns bool
	// fields are the names of the fields of each struct that was met.
	fields map[reflect.Type][]field
}

// field is a member of an object: its name, and the index of the field of the struct; of an embedded struct the field
// there.
type field struct {
	name  string
	index int
	inner *field
}

func (f *field) of(v reflect.Value) reflect.Value {
	for ; f != nil; f = f.inner {
		v = v.Field(f.index)
	}
	return v
}

func (d *decoder) refuse(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *decoder) malformed() { d.refuse("%w", errDocument) }

// value reads the next value into v. As in encoding/json, null changes nothing but pointers, lists
// and maps.
func (d *decoder) value(v reflect.Value) {
	first := d.next()
	switch t := v.Type(); {
	case t.Kind() == reflect.Slice && t.Elem() == reflect.TypeFor[byte](): // json.RawMessage, whatever that is called
		raw := d.raw()
		if d.owns {
			v.SetBytes(unsafe.Slice(unsafe.StringData(raw), len(raw)))
			break
		}
		v.SetBytes([]byte(raw))
	case t == reflect.TypeFor[Raw]():
		v.SetString(d.raw())
	case first == 'n':
		d.pass()
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
		d.pass()
		v.SetBool(first == 't')
	case first == '-' || '0' <= first && first <= '9':
		d.number(v)
	default:
		d.refuse("%.40s where %s should be", d.raw(), t)
	}
}

func (d *decoder) object(v reflect.Value) {
	fields, known := d.fields[v.Type()]
	if !known {
		fields = fieldsOf(v.Type())
		d.fields[v.Type()] = fields
	}
	var few [64]bool
	seen := few[:]
	if len(fields) > len(few) {
		seen = make([]bool, len(fields))
	}
	d.members(func(name string) {
		switch i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); {
		case i < 0:
			d.refuse("unknown field %q", name)
		case seen[i]:
			d.refuse("%q twice", name)
		default:
			seen[i] = true
			d.value(fields[i].of(v))
		}
	})
}

// fieldsOf lists the fields of a struct, those of embedded ones at their place.
func fieldsOf(t reflect.Type) []field {
	out := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name == "-":
		case name == "" && f.Anonymous:
			for _, inner := range fieldsOf(f.Type) {
				out = append(out, field{inner.name, i, &inner})
			}
		default:
			out = append(out, field{name, i, nil})
		}
	}
	return out
}

func (d *decoder) table(v reflect.Value) {
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	d.members(func(text string) {
		name, item := reflect.ValueOf(text).Convert(t.Key()), reflect.New(t.Elem()).Elem()
		if v.MapIndex(name).IsValid() {
			d.refuse("%q twice", name.String())
		}
		d.value(item)
		v.SetMapIndex(name, item)
	})
}

func (d *decoder) list(v reflect.Value) {
	v.SetZero()
	d.each(func() {
		n := v.Len()
		if n == v.Cap() {
			v.Grow(4 + 3*n) // of zeros: each size that was not asked for before takes two pages of memory
		}
		v.SetLen(n + 1)
		d.value(v.Index(n))
	})
	if v.IsNil() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
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
