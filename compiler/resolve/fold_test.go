package resolve_test

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/test/irtest"
)

// TestFold: every letter and texts of letters are folded as by golang.org/x/text, except that this exchanges the small
// and large letters of Cherokee (v0.43.0), which leaves them different.
func TestFold(t *testing.T) {
	fold := cases.Fold()
	cherokee := func(r rune) bool { return unicode.Is(unicode.Cherokee, r) }
	same := func(s string) bool {
		return strings.ContainsFunc(s, cherokee) || resolve.Fold(s) == norm.NFC.String(fold.String(norm.NFC.String(s)))
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if s := "a" + string(r) + "é"; !same(s) {
			t.Errorf("%U: %+q", r, resolve.Fold(s))
		}
		if s := string(r); cherokee(r) && (resolve.Fold(s) != resolve.Fold(strings.ToUpper(s)) || resolve.Fold(s) != resolve.Fold(strings.ToLower(s))) {
			t.Errorf("%U: %+q", r, resolve.Fold(s))
		}
	}
	irtest.Check(t, 100_000, 10, func(t *rapid.T) {
		for range 10 {
			if s := rapid.String().Draw(t, "text"); !same(s) {
				t.Fatalf("%+q: %+q", s, resolve.Fold(s))
			}
		}
	})
}
