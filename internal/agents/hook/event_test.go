package hook

import (
	"strings"
	"testing"
)

// TestRead: an event is one object that all parsers read alike.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"b":[1,"x"]}}` + "\n":  "",
		"":                            "is not JSON",
		`[]`:                          "no JSON object",
		`{"a":1}{"a":2}`:              "is not JSON",
		`{"a":`:                       "is not JSON",
		`{"a":1,"a":2}`:               `found "a" twice`,
		`{"x":{"a":1,"\u0061":2}}`:    `found "a" twice`,
		`{"x":[{"a":{"b":1,"b":2}}]}`: `found "b" twice`,
		"{\"a\":\"\xff\"}":            "not UTF-8",
		`{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}": "in each other",
		`{"a":"` + strings.Repeat("x", MaxEvent) + `"}`:                     "longer than",
	} {
		v, err := read(strings.NewReader(text))
		if want == "" && (err != nil || v.Get("a", "b").Array()[1].Str != "x") {
			t.Errorf("%.40q: %v, %v", text, v, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}
