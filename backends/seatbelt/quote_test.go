package seatbelt

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/test/sbpl"
)

// FuzzQuote checks that every written path is read back as the same path, and that a comment
// stays one line.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"/a", `/"`, `/\`, `/\"`, "/ü", "/d'e", "/\x00", "/a\nb", "/\\x41", "/\xff", "/a;b", "/(p)", "/#\"", "/\u0085", "/\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at := place{param: "W", text: s}
		if line := comment(s); strings.ContainsAny(line, "\n\r\f\v") || !utf8.ValidString(line) {
			t.Fatalf("comment %q", line)
		}
		if at.problem() != "" {
			return
		}
		if strings.ContainsFunc(s, unicode.IsControl) {
			t.Fatalf("%q is written", s)
		}
		for text, want := range map[string]string{at.String(): "/w" + s, start.Quote(s): s} {
			got, err := sbpl.Strings(text+" ; "+comment(s)+"\n", map[string]string{"W": "/w"})
			if err != nil || len(got) != 1 || got[0] != want {
				t.Fatalf("%q as %s: got %q, %v", s, text, got, err)
			}
		}
	})
}
