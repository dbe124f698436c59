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
		if got, want := ir.MatchName(pattern, name), doublestar.MatchUnvalidated(pattern, name); got != want {
			return fmt.Errorf("%q matches %q: %v, want %v", pattern, name, got, want)
		}
		return nil
	})
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
