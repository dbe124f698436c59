package split

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/internal/text/shellword"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		`git commit -m 'a b'`:      {"git", "commit", "-m", "a b"},
		`a "b \"c\" \d" \e`:        {"a", `b "c" \d`, "e"},
		`tool {{tool.name | "x"}}`: {"tool", `{{tool.name | "x"}}`},
		"a\\\nb":                   {"ab"},
	} {
		if got, err := Words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: found %q, %v, expected %q", line, got, err, want)
		}
	}
	for _, line := range []string{"", "a | b", "a > b", "a; b", "A=b c", "a $b", "a \"$b\"", "a `b`", "'a", "a &", "! a"} {
		if got, err := Words(line); err == nil {
			t.Errorf("%s: found %q, expected an error", line, got)
		}
	}
}

// TestQuote: a quoted word splits into itself.
func TestQuote(t *testing.T) {
	for _, word := range []string{"a", "a b", "it's", `"`, "$x", "ü", "*", "~", "-x"} {
		if got, err := Words("x " + shellword.Quote(word)); err != nil || len(got) != 2 || got[1] != word {
			t.Errorf("%q: found %q, %v", word, got, err)
		}
	}
}
