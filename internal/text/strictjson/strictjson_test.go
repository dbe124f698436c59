package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/strictjson"
)

type kind string

type inner struct {
	Name  string `json:"name"`
	Count int    `json:"count,omitempty"`
	Port  uint16 `json:"port,omitempty"`
}

// header and hidden are embedded, one in the other.
type header struct {
	Format string `json:"format,omitempty"`
	hidden
}

type hidden struct {
	Level int `json:"level,omitempty"`
}

type document struct {
	header
	Text   string            `json:"text"`
	Yes    bool              `json:"yes,omitempty"`
	Small  int8              `json:"small,omitempty"`
	Large  uint64            `json:"large,omitempty"`
	Kinds  []kind            `json:"kinds"`
	Inner  inner             `json:"inner"`
	Maybe  *inner            `json:"maybe,omitempty"`
	Items  []inner           `json:"items"`
	Lists  [][]string        `json:"lists,omitempty"`
	Table  map[string]string `json:"table,omitempty"`
	Opaque json.RawMessage   `json:"opaque,omitempty"`
	Own    string            `json:"-"`
}

const full = `{"format": "f", "level": 3, "text": "a\n\"b\" \u00e9 😀", "yes": true, "small": -128, "large": 18446744073709551615,
	"kinds": ["x", "y"], "inner": {"name": "n", "count": -7, "port": 65535}, "maybe": {"name": ""},
	"items": [{"name": "1"}, {"name": "2", "count": 2}, {"name": "3"}], "lists": [[], ["a"], null],
	"table": {"k": "v", "a b": ""}, "opaque": {"any": [1, 2.5, null]}}`

// standard reads a document as this package should.
func standard(text []byte) (document, error) {
	var d document
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return d, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return d, errors.New("more than one")
	}
	return d, nil
}

func TestReadsAsEncodingJSON(t *testing.T) {
	for _, text := range []string{full, `{}`, `{"kinds": [], "items": []}`, `{"kinds": null, "items": null, "maybe": null}`, ` {"table": {}} `,
		`{"text": "\\\\", "kinds": ["\\\"[", "\\\\\\\"{\\\\", "\""]}`} {
		want, err := standard([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got document
		if err := strictjson.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is\n%+v, not\n%+v", text, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	deep := strings.Repeat("[", 1_000_000)
	for text, want := range map[string]string{
		``:                                "not a JSON document",
		`{"text": "a"} {}`:                "or more than one",
		`{"text": "a"`:                    "not a JSON document",
		deep:                              "in each other",
		"{\"text\": \"\xff\"}":            "not UTF-8",
		`{"other": 1}`:                    `unknown field "other"`,
		`{"-": "own"}`:                    `unknown field "-"`,
		`{"header": {"format": "f"}}`:     `unknown field "header"`,
		`{"level": 1, "level": 1}`:        `"level" twice`,
		`{"Text": "a"}`:                   `unknown field "Text"`,
		`{"inner": {"x": 1}}`:             `unknown field "x"`,
		`{"text": 1}`:                     "1 where string",
		`{"yes": "true"}`:                 `"true" where bool`,
		`{"small": 128}`:                  "128 is no whole number that fits",
		`{"inner": {"port": -1}}`:         "-1 is no whole number that fits",
		`{"large": 1.5}`:                  "1.5 is no whole number that fits",
		`{"large": 1e3}`:                  "1e3 is no whole number that fits",
		`{"text": true}`:                  "true where string",
		`{"text": 1, "kinds": 2}`:         "1 where string",
		`{"kinds": {}}`:                   "{} where []",
		`{"inner": []}`:                   "[] where",
		`{"table": [1]}`:                  "[1] where map",
		`[]`:                              "[] where",
		`{"items": [{"name": "a"}, "b"]}`: `"b" where`,
		`{"text": "a", "text": "b"}`:      `"text" twice`,
		`{"table": {"a": "", "a": ""}}`:   `"a" twice`,
	} {
		var d document
		if err := strictjson.Unmarshal([]byte(text), &d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want an error with %q", text, err, want)
		}
	}
}

// TestRaw: a value that is kept as it stands is read later as if it were a document.
func TestRaw(t *testing.T) {
	var d struct {
		Items []strictjson.Raw `json:"items"`
		None  strictjson.Raw   `json:"none"`
	}
	if err := strictjson.Unmarshal([]byte(`{"items": [ {"name": "]"} , {"name": "b", "count": 2}], "none": null}`), &d); err != nil {
		t.Fatal(err)
	}
	var got []inner
	for _, item := range d.Items {
		got = append(got, inner{})
		if err := item.Unmarshal(&got[len(got)-1]); err != nil {
			t.Error(err)
		}
	}
	if want := []inner{{Name: "]"}, {Name: "b", Count: 2}}; !reflect.DeepEqual(got, want) || d.None != "null" {
		t.Errorf("%+v, %q", got, d.None)
	}
	if err := strictjson.Raw(`{"other": 1}`).Unmarshal(&got[0]); err == nil {
		t.Error("an unknown field of an item is read")
	}
}

// TestDepth: lists and objects count alike, also in values that are passed by.
func TestDepth(t *testing.T) {
	for n, want := range map[int]bool{100: true, 101: false} {
		text := strings.Repeat(`[{"a": `, n/2) + strings.Repeat("[", n%2) + strings.Repeat("]", n%2) + strings.Repeat("}]", n/2)
		text = strings.Replace(text, ": }", ": 1}", 1)
		var got strictjson.Raw
		if err := strictjson.Unmarshal([]byte(text), &got); (err == nil) != want {
			t.Errorf("%d: %v", n, err)
		}
	}
	// Nothing is read deeper, or the stack of a thread would end.
	if err := strictjson.Unmarshal([]byte(strings.Repeat("[", 16<<20)), new(strictjson.Raw)); err == nil {
		t.Error("a text of brackets is read")
	}
}

// FuzzUnmarshal: documents that both accept give equal values, and documents that encoding/json
// refuses are refused.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"text": "[[[", "kinds": null}`))
	f.Add([]byte(`{"text": "\ud800x \ud83d\ude00 \u0000 \/", "table": {"\u0061": "", "a": ""}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got document
		if strictjson.Unmarshal(text, &got) != nil {
			return
		}
		want, err := standard(text)
		if err != nil {
			t.Fatalf("reads what encoding/json refuses: %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, not %+v", got, want)
		}
	})
}

// FuzzGrammar: a text that is passed by without being read is a JSON document for encoding/json as well, and a document is
// passed by. Besides, encoding/json allows texts that are not UTF-8, and more lists in each other.
func FuzzGrammar(f *testing.F) {
	for _, text := range []string{full, `[1, -0, 0.5, 1e+9, "\ud800\/", true, false, null, {}, []]`, `01`, `-`, `1.`, `1e`, `.5`, `+1`, `nul`, `truex`, `[1,]`,
		`[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `[}`, `{]`, `"\x"`, `"\u12g4"`, `"\u123`, `"\`, `"a`, "\"\n\"", "\"\x7f\"", "\v1", "1\x00", `[1]]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got strictjson.Raw
		err := strictjson.Unmarshal(text, &got)
		switch valid := json.Valid(text); {
		case err == nil && (!valid || string(got) != string(bytes.Trim(text, " \t\r\n"))):
			t.Fatalf("reads %q as %q", text, got)
		case err != nil && valid && utf8.Valid(text) && !strings.Contains(err.Error(), "in each other"):
			t.Fatalf("%q: %v", text, err)
		}
	})
}
