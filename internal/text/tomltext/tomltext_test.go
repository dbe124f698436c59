package tomltext_test

import (
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/test/irtest"
)

func TestKey(t *testing.T) {
	for key, want := range map[string]string{
		"fmt": "fmt", "a-b_C9": "a-b_C9", "": `""`, "a.b": `"a.b"`, "a b": `"a b"`, "é": `"é"`, `a"b\`: `"a\"b\\"`, "-ä-": `"-ä-"`,
		"\x07\x7f": `"\u0007\u007F"`,
	} {
		if got := tomltext.Key(key); got != want {
			t.Errorf("%q is written %s, not %s", key, got, want)
		}
	}
}

// TestRead: a TOML parser reads a key and a string back as they were.
func TestRead(t *testing.T) {
	irtest.Check(t, 10_000, 1, func(t *rapid.T) {
		key, value := rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value")
		text := tomltext.Key(key) + ".x = " + tomltext.String(value)
		var got map[string]map[string]string
		if err := toml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got[key]["x"] != value {
			t.Fatalf("%s is read as %q", text, got)
		}
	})
}
