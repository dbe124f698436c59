package jsonc

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// TestAppend: a new item stands last, as the others stand, and comments keep their places.
func TestAppend(t *testing.T) {
	for _, c := range []struct{ name, in, path, key, want string }{
		{"empty", "{}\n", "", "a", "{\n  \"a\": {\n    \"x\": 1\n  }\n}\n"},
		{"one line", `{"b": 1}`, "", "a", `{"b": 1, "a": {"x":1}}`},
		{"lines", "{\n\t\"b\": 1\n}", "", "a", "{\n\t\"b\": 1,\n\t\"a\": {\n\t\t\"x\": 1\n\t}\n}"},
		{"returns", "{\r\n  \"b\": 1\r\n}", "", "a", "{\r\n  \"b\": 1,\r\n  \"a\": {\r\n    \"x\": 1\r\n  }\r\n}"},
		{"comment", "{\n  \"b\": 1 // mine\n}", "", "a", "{\n  \"b\": 1, // mine\n  \"a\": {\n    \"x\": 1\n  }\n}"},
		{"last comma", "{\n  \"b\": 1, // mine\n}", "", "a", "{\n  \"b\": 1, // mine\n  \"a\": {\n    \"x\": 1\n  },\n}"},
		{"list", "{\n  \"b\": [\n    1\n  ]\n}", "b", "", "{\n  \"b\": [\n    1,\n    {\n      \"x\": 1\n    }\n  ]\n}"},
		{"list in a line", "{\n  \"b\": [1]\n}", "b", "", "{\n  \"b\": [1, {\"x\":1}]\n}"},
		{"empty list", "{\n  \"b\": []\n}", "b", "", "{\n  \"b\": [\n    {\n      \"x\": 1\n    }\n  ]\n}"},
		{"empty list in a line", `{"b": []}`, "b", "", `{"b": [{"x":1}]}`},
		{"comment in an empty list", "{\n  \"b\": [ // none\n  ]\n}", "b", "", "{\n  \"b\": [ // none\n    {\n      \"x\": 1\n    }\n  ]\n}"},
		{"comment that begins with its end", "{\"b\": 1 /*/ a */ }", "", "a", "{\"b\": 1, /*/ a */ \"a\": {\"x\":1} }"},
		{"comment of lines", "{\"b\": 1 /* a\n */ }", "", "a", "{\"b\": 1, \"a\": {\"x\":1} /* a\n */ }"},
		{"comment behind an item in a line", "{\"b\": 1 // b\n}", "", "a", "{\"b\": 1, // b\n  \"a\": {\n    \"x\": 1\n  }\n}"},
	} {
		in, err := Parse([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if c.path != "" {
			in = in.Member(c.path)
		}
		got := Append([]byte(c.in), in, c.key, []byte(`{"x":1}`))
		if string(got) != c.want {
			t.Errorf("%s: got %s", c.name, got)
		}
		root, err := Parse(got)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.path != "" {
			root = root.Member(c.path)
		}
		if back := Remove(got, root, len(root.Items)-1); string(back) != c.in {
			t.Errorf("%s: back it is %s", c.name, back)
		}
	}
}

// TestRemove: a comma goes with an item, comments stay, and a comment up to the end of its line
// does not swallow the items behind it.
func TestRemove(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1, "b": 2}`: `{ "b": 2}`, "[ 1 ]": "[]", "[1, 2, 3]": "[1, 3]", "[1, 2,]": "[1,]", "[ /* a */ 1 ]": "[ /* a */ ]",
		"[\n  1, // a\n  2 ]": "[\n  1 // a\n ]", "[0, 1 /* b */, 2]": "[0, /* b */ 2]",
	} {
		root, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		i := min(1, len(root.Items)-1)
		if root.Kind == '{' {
			i = 0
		}
		if got := Remove([]byte(in), root, i); string(got) != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestParseTwice: a name that stands twice is an error, however it is written.
func TestParseTwice(t *testing.T) {
	for _, doc := range []string{`{"a":1,"a":2}`, `{"x":[{"a":1,"\u0061":2}]}`, `{"a":{},"b":{},"a":1}`} {
		if _, err := Parse([]byte(doc)); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: got %v", doc, err)
		}
	}
}

// value draws a document as text, with comments and last commas.
func value(t *rapid.T, depth int) string {
	gap := rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\r\n\t", " // c, \"}\n", "/* , ] */", "/*/ , */"})
	kinds := 3
	if depth > 0 {
		kinds = 5
	}
	kind := rapid.IntRange(0, kinds-1).Draw(t, "kind")
	if kind < 3 {
		return []string{`"t\"//"`, "-1.5e3", "null"}[kind]
	}
	open, shut := "[", "]"
	if kind == 4 {
		open, shut = "{", "}"
	}
	out := open
	n := rapid.IntRange(0, 3).Draw(t, "items")
	for i := range n {
		out += gap.Draw(t, "gap")
		if kind == 4 {
			out += `"k` + string(rune('0'+i)) + `"` + gap.Draw(t, "gap") + ":" + gap.Draw(t, "gap")
		}
		out += value(t, depth-1) + gap.Draw(t, "gap")
		if i < n-1 || rapid.Bool().Draw(t, "last comma") {
			out += ","
		}
	}
	return out + gap.Draw(t, "gap") + shut
}

// meaning is the value of a document.
func meaning(t *rapid.T, doc []byte) any {
	text, err := Plain(doc)
	if err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%q: %v", doc, err)
	}
	return v
}

// containers are all objects and lists of a document.
func containers(n *Node) []*Node {
	if n.Kind != '{' && n.Kind != '[' {
		return nil
	}
	out := []*Node{n}
	for _, item := range n.Items {
		out = append(out, containers(item)...)
	}
	return out
}

// TestEdits: an item that is added and taken out again leaves every value as it was, and no
// comment is lost; an item that is taken out is the only one that is missing.
func TestEdits(t *testing.T) {
	irtest.Check(t, 20000, 1, func(t *rapid.T) {
		doc := []byte(value(t, 3))
		root, err := Parse(doc)
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		all := containers(root)
		if len(all) == 0 {
			return
		}
		which := rapid.IntRange(0, len(all)-1).Draw(t, "container")
		in, key := all[which], ""
		if in.Kind == '{' {
			key = "new"
		}
		more := Append(doc, in, key, []byte(`{"x":[1]}`))
		now, err := Parse(more)
		if err != nil {
			t.Fatalf("%q became %q: %v", doc, more, err)
		}
		into := containers(now)[which]
		last := into.Items[len(into.Items)-1]
		if len(into.Items) != len(in.Items)+1 || !last.Same([]byte(`{"x":[1]}`)) || last.Key != key {
			t.Fatalf("%q became %q", doc, more)
		}
		back := Remove(more, into, len(in.Items))
		if !reflect.DeepEqual(meaning(t, back), meaning(t, doc)) || bytes.Count(back, []byte("c, \"")) != bytes.Count(doc, []byte("c, \"")) {
			t.Fatalf("%q became %q, and then %q", doc, more, back)
		}
		if len(in.Items) == 0 {
			return
		}
		i := rapid.IntRange(0, len(in.Items)-1).Draw(t, "item")
		less := Remove(doc, in, i)
		now, err = Parse(less)
		if err != nil {
			t.Fatalf("%q without %d is %q: %v", doc, i, less, err)
		}
		if got := containers(now)[which]; len(got.Items) != len(in.Items)-1 {
			t.Fatalf("%q without %d is %q", doc, i, less)
		}
	})
}
