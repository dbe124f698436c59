// Package strictjson reads a JSON document into a value: every member must be a field of it,
// spelled as in its tag and present at most once, and nothing may follow the document.
//
// It is for documents that are read at the start of a tool. encoding/json prepares itself for
// every type that it meets, for reading and for writing, which takes a short process longer
// than the rest of its work on a document. Documents that both accept give equal values; this
// package refuses more (numbers with fractions, names in another case). The members of an embedded
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

	"github.com/tidwall/gjson"
)

// maxDepth bounds the nesting of lists and objects. The validation calls itself for each.
const maxDepth = 100

// Unmarshal reads data into the value that to points to, which is undefined after an error.
// See RATIONALE D102.
func Unmarshal(data []byte, to any) error {
	switch {
	case depth(data) > maxDepth:
		return fmt.Errorf("more than %d lists and objects in each other", maxDepth)
	case !gjson.ValidBytes(data):
		return errors.New("not a JSON document, or more than one")
	}
	d := decoder{fields: map[reflect.Type][]field{}}
	d.value(gjson.ParseBytes(data), reflect.ValueOf(to).Elem())
	return d.err
}

// Header returns the members "format", "format_version" and "form" of a document, also of one
// that Unmarshal refuses.
func Header(data []byte) (format string, version int, form string) {
	seen := [3]bool{}
	first := func(i int) bool { was := seen[i]; seen[i] = true; return !was }
	gjson.ParseBytes(data).ForEach(func(key, value gjson.Result) bool {
		switch key.String() {
		case "format":
			if first(0) {
				format = value.String()
			}
		case "format_version":
			if first(1) {
				version = int(value.Int())
			}
		case "form":
			if first(2) {
				form = value.String()
			}
		}
		return seen != [3]bool{true, true, true}
	})
	return format, version, form
}

// depth is how deep brackets stand in each other outside of strings.
func depth(data []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// decoder keeps the first mistake.
type decoder struct {
	err error
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

// raw is the type of json.RawMessage, whatever it is called.
var raw = reflect.TypeFor[[]byte]()

// value reads r into v. As in encoding/json, null changes nothing but pointers, lists
// and maps.
func (d *decoder) value(r gjson.Result, v reflect.Value) {
	switch t := v.Type(); {
	case t.Kind() == reflect.Slice && t.ConvertibleTo(raw):
		v.SetBytes([]byte(r.Raw))
	case r.Type == gjson.Null:
		v.SetZero()
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.value(r, v.Elem())
	case t.Kind() == reflect.Struct && r.IsObject():
		d.object(r, v)
	case t.Kind() == reflect.Map && r.IsObject():
		d.table(r, v)
	case t.Kind() == reflect.Slice && r.IsArray():
		d.list(r, v)
	case t.Kind() == reflect.String && r.Type == gjson.String:
		v.SetString(text(r))
	case t.Kind() == reflect.Bool && r.IsBool():
		v.SetBool(r.Bool())
	case r.Type == gjson.Number:
		d.number(r, v)
	default:
		d.refuse("%.40s where %s should be", r.Raw, t)
	}
}

// text returns the value of a string. Surrogates, paired or lone, are left to encoding/json.
func text(r gjson.Result) string {
	if !strings.Contains(r.Raw, `\ud`) && !strings.Contains(r.Raw, `\uD`) {
		return r.Str
	}
	var s string
	if json.Unmarshal([]byte(r.Raw), &s) != nil {
		return r.Str
	}
	return s
}

func (d *decoder) object(r gjson.Result, v reflect.Value) {
	fields, known := d.fields[v.Type()]
	if !known {
		fields = fieldsOf(v.Type())
		d.fields[v.Type()] = fields
	}
	seen := make([]bool, len(fields))
	r.ForEach(func(key, r gjson.Result) bool {
		name := text(key)
		switch i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); {
		case i < 0:
			d.refuse("unknown field %q", key.Str)
		case seen[i]:
			d.refuse("%q twice", key.Str)
		default:
			seen[i] = true
			d.value(r, v.FieldByIndex(fields[i].way))
		}
		return d.err == nil
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

func (d *decoder) table(r gjson.Result, v reflect.Value) {
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	r.ForEach(func(key, r gjson.Result) bool {
		name, item := reflect.ValueOf(text(key)).Convert(t.Key()), reflect.New(t.Elem()).Elem()
		if v.MapIndex(name).IsValid() {
			d.refuse("%q twice", key.Str)
		}
		d.value(r, item)
		v.SetMapIndex(name, item)
		return d.err == nil
	})
}

func (d *decoder) list(r gjson.Result, v reflect.Value) {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	r.ForEach(func(_, r gjson.Result) bool {
		n := v.Len()
		v.Grow(1)
		v.SetLen(n + 1)
		item := v.Index(n)
		item.SetZero()
		d.value(r, item)
		return d.err == nil
	})
}

func (d *decoder) number(r gjson.Result, v reflect.Value) {
	bits := v.Type()
	switch {
	case v.CanInt():
		n, err := strconv.ParseInt(r.Raw, 10, bits.Bits())
		if v.SetInt(n); err != nil {
			d.refuse("%.40s is no whole number that fits", r.Raw)
		}
	case v.CanUint():
		n, err := strconv.ParseUint(r.Raw, 10, bits.Bits())
		if v.SetUint(n); err != nil {
			d.refuse("%.40s is no whole number that fits", r.Raw)
		}
	default:
		d.refuse("%.40s where %s should be", r.Raw, v.Type())
	}
}
