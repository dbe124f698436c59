package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// TestValue: values know their places, and the first of two members counts.
func TestValue(t *testing.T) {
	text := ` {"a": {"b": [1, "x\u00e9", null]}, "a": 2, "\u0063": true}`
	v, err := strictjson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	items := v.Get("a", "b").Array()
	if len(items) != 3 || items[1].Str != "xé" || text[items[1].Index:][:len(items[1].Raw)] != `"x\u00e9"` {
		t.Errorf("the list is %+v", items)
	}
	if got := v.Get("c"); got.Type != strictjson.True || got.String() != "true" {
		t.Errorf("c is %+v", got)
	}
	for _, way := range [][]string{{"b"}, {"a", "b", "1"}, {"c", "a"}, {""}} {
		if got := v.Get(way...); got.Exists() {
			t.Errorf("%q is %+v", way, got)
		}
	}
	for text, want := range map[string]bool{"[": false, "{} {}": false, strings.Repeat("[", 257) + strings.Repeat("]", 257): true} {
		if _, err := strictjson.Parse(text); err == nil || errors.Is(err, strictjson.ErrDeep) != want {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// TestWeight: a long text in many lists is refused at once: every reader of a list read all of it again, for seconds. A
// short text may be nested as deep, and a long one lie in as many lists as messages have.
func TestWeight(t *testing.T) {
	for _, c := range []struct {
		deep, long int
		want       error
	}{
		{250, 14 << 20, strictjson.ErrDeep}, {20, 15 << 20, strictjson.ErrDeep}, {250, 1 << 20, strictjson.ErrDeep},
		{250, 200 << 10, nil}, {8, 15 << 20, nil}, {1, 15 << 20, nil},
	} {
		for _, list := range []string{"[]", `{"a":}`} {
			open, shut := list[:len(list)-1], list[len(list)-1:]
			long := `"` + strings.Repeat("x", c.long) + `"`
			_, err := strictjson.Parse(strings.Repeat(open, c.deep) + long + strings.Repeat(shut, c.deep))
			if !errors.Is(err, c.want) {
				t.Errorf("%d bytes in %d of %s: %v, want %v", c.long, c.deep, list, err, c.want)
			}
		}
	}
}

// TestHeader: members are found also in a document that is cut off, and in no text of another kind.
func TestHeader(t *testing.T) {
	for text, want := range map[string]string{
		`{"format": "f", "format_version": 3, "form": "r"}`: "f3r", `{"format": "f", "x": {"form": "r"}, "format_version": 3, "a`: "f3",
		`{"format": "f", "format": "g", "form": "`: "f0", `["format", "f"]`: "0", `"{\"format\": \"f\"}"`: "0", "": "0",
	} {
		f, v, form := strictjson.Header([]byte(text))
		if got := f + string(rune('0'+v)) + form; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzParse: a document has the value that encoding/json reads, and another text has none.
func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add(` [{"a" : "\ud83d\ude00\ud800\u0041"} , [] , {"": {"": -1.5e3}}] `)
	f.Add(`{"a": ["]}\\\"", {"b\\": "{"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := strictjson.Parse(text)
		if valid := json.Valid([]byte(text)); valid != (err == nil) && !errors.Is(err, strictjson.ErrDeep) {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && utf8.ValidString(text) { // encoding/json replaces the rest
			check(t, text, v)
		}
	})
}

// check compares a value with that of encoding/json. Of two members of a name both take the last.
func check(t *testing.T, text string, v strictjson.Value) {
	if !strings.HasPrefix(text[v.Index:], v.Raw) {
		t.Fatalf("%q is not at %d of %q", v.Raw, v.Index, text)
	}
	var object map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case v.IsObject():
		members := v.Map()
		if err := json.Unmarshal([]byte(v.Raw), &object); err != nil || len(members) != len(object) {
			t.Fatalf("%q has %d members: %v", v.Raw, len(members), err)
		}
		for name, member := range members {
			if member.Raw != string(object[name]) {
				t.Fatalf("%q has %q as %q", v.Raw, name, member.Raw)
			}
			check(t, text, member)
		}
	case v.IsArray():
		items := v.Array()
		if err := json.Unmarshal([]byte(v.Raw), &list); err != nil || len(items) != len(list) {
			t.Fatalf("%q has %d elements: %v", v.Raw, len(items), err)
		}
		for i, item := range items {
			if item.Raw != string(list[i]) {
				t.Fatalf("%q has %q as %q", v.Raw, list[i], item.Raw)
			}
			check(t, text, item)
		}
	case v.Type == strictjson.String:
		var s string
		if err := json.Unmarshal([]byte(v.Raw), &s); err != nil || v.Str != s {
			t.Fatalf("%q is %q: %v", v.Raw, v.Str, err)
		}
	}
}
