package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/review/asked"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/review/fleet"
)

// TestJSONIsDocumented: every field of every document stands in docs/json.md, which is
// all that a program that reads them has to go by.
func TestJSONIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	for _, doc := range []any{
		explain.Document{}, explain.ChangesDocument{}, explain.WhoDocument{}, explain.TestedDocument{}, explain.WideningDoc{}, explain.ParityDoc{},
		asked.Reply{}, asked.Line{}, asked.DecideReply{}, asked.DecideLine{}, verifyDoc{}, evidenceDoc{}, approvalsDoc{}, homesDoc{}, doctorDoc{}, hookDoctorDoc{}, build.Document{}, fleet.Document{},
	} {
		for _, name := range fields(reflect.TypeOf(doc), seen) {
			if !strings.Contains(string(data), "`"+name+"`") {
				t.Errorf("%T: %s is not documented", doc, name)
			}
		}
	}
}

// fields are the names of a document's, and of those in it.
func fields(t reflect.Type, seen map[reflect.Type]bool) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return fields(t.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if seen[t] || t.PkgPath() == "time" {
		return nil
	}
	seen[t] = true
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name != "" {
			out = append(out, name)
		}
		if name != "" || f.Anonymous {
			out = append(out, fields(f.Type, seen)...)
		}
	}
	return out
}
