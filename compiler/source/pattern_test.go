package source

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestNamesMatchAlike: the names that a pattern of extends protects are those that the search for layers finds by it.
func TestNamesMatchAlike(t *testing.T) {
	parts := []string{"*", "**", "?", "a", "b", "ü", "[ab]", "[^a]", "[!b]", "[a-c]", `\*`, "-", "]", ".", "[]a]", `[\]]`}
	names := []string{"a", "b", "c", "ü", "*", "-", "]", ".", "d"}
	word := func(r *rand.Rand, of []string) string {
		var out strings.Builder
		for range 1 + r.IntN(4) {
			out.WriteString(of[r.IntN(len(of))])
		}
		return out.String()
	}
	irtest.Many(t, 200_000, func(r *rand.Rand) error {
		pattern, name := word(r, parts), word(r, names)
		if !doublestar.ValidatePattern(pattern) || pattern == "**" {
			return nil
		}
		return alike(pattern, name)
	})
}

// alike compares the two. Where three stars stand together the library misses names that end there, and such a name is
// protected although no layer has it.
func alike(pattern, name string) error {
	got, want := ir.MatchName(pattern, name), doublestar.MatchUnvalidated(pattern, name)
	if got != want && (want || !strings.Contains(pattern, "***")) {
		return fmt.Errorf("%q matches %q: %v, want %v", pattern, name, got, want)
	}
	return nil
}

// TestManyStars: a pattern that the library reads otherwise protects more names, never fewer.
func TestManyStars(t *testing.T) {
	for _, c := range [][2]string{{"[a-c]***", "b"}, {"[^a]****", "ü"}, {"a***", "a"}, {"***", ""}, {"a****b", "ab"}} {
		if err := alike(c[0], c[1]); err != nil {
			t.Error(err)
		}
		if !ir.MatchName(c[0], c[1]) {
			t.Errorf("%q does not match %q", c[0], c[1])
		}
	}
}

// TestInside: what is left of a pattern in a directory below its base.
func TestInside(t *testing.T) {
	for _, c := range []struct {
		base, pattern, dir string
		want               []string
	}{
		{"/w", "*.access.toml", "/w", []string{"*.access.toml"}},
		{"/w", "*/x.toml", "/w", []string{"*/x.toml"}},
		{"/", "*/x.toml", "/w", []string{"x.toml"}},
		{"/", "**/x.toml", "/w/y", []string{"**/x.toml", "x.toml"}},
		{"/", "v*/x.toml", "/w", nil},
		{"/w/conf", "*.toml", "/w", nil},
		{"/other", "**", "/w", nil},
	} {
		got := Pattern{c.base, strings.Split(c.pattern, "/")}.Inside(c.dir)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s in %s, seen from %s: %q, want %q", c.pattern, c.base, c.dir, got, c.want)
		}
	}
}
