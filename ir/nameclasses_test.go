package ir_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// alphabet has every character that the patterns below name, another character, and the dot, which two names
// of no file consist of.
const alphabet = "ab.xü"

// someNames are all names of up to three characters.
func someNames() []string {
	last, out := []string{""}, []string{}
	for range 3 {
		var next []string
		for _, p := range last {
			for _, c := range alphabet {
				next = append(next, p+string(c))
			}
		}
		out, last = append(out, next...), next
	}
	return slices.DeleteFunc(out, func(n string) bool { return n == "." || n == ".." })
}

// drawPattern draws a well-formed pattern over the alphabet.
func drawPattern(t *rapid.T) string {
	part := rapid.SampledFrom([]string{"a", "b", ".", "ü", "?", "*", "[ab]", "[^a]", "[a-b.]", `\a`})
	parts := rapid.SliceOfN(part, 1, 4).Draw(t, "parts")
	p := strings.ReplaceAll(strings.Join(parts, ""), "**", "*")
	for strings.Contains(p, "**") {
		p = strings.ReplaceAll(p, "**", "*")
	}
	return p
}

// TestNameClasses: every name has one of its class among the names that stand for all, no two of these are of
// one class, and none is to avoid or the name of no file. "." stood for all that ".*" matches, so moves to
// where such names are granted were not seen.
func TestNameClasses(t *testing.T) {
	names := someNames()
	irtest.Check(t, 4000, 1, func(rt *rapid.T) {
		lists := make([][]string, rapid.IntRange(1, 3).Draw(rt, "lists"))
		for i := range lists {
			lists[i] = rapid.SliceOfN(rapid.Custom(drawPattern), 1, 2).Draw(rt, "list")
		}
		avoid := rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(rt, "avoid")
		got, ok := ir.NameClasses(lists, avoid)
		if !ok {
			rt.Fatal("too many classes")
		}
		class := func(name string) string {
			out := ""
			for _, list := range lists {
				out += map[bool]string{false: "0", true: "1"}[ir.MatchNames(list, name)]
			}
			return out
		}
		seen := map[string]string{}
		for _, n := range got {
			if other, twice := seen[class(n)]; twice {
				rt.Fatalf("%q and %q are of one class", n, other)
			}
			seen[class(n)] = n
			if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "/\x00") || slices.Contains(avoid, n) {
				rt.Fatalf("found %q", n)
			}
		}
		for _, n := range names {
			if _, found := seen[class(n)]; !found && !slices.Contains(avoid, n) {
				rt.Fatalf("none of %q is of the class of %q under %q", got, n, lists)
			}
		}
	})
}

// TestNameClassesBounded: patterns of a hostile layer are given up, and those that people write are not. A list
// of a thousand names, and seven rules about secrets, took minutes.
func TestNameClassesBounded(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprint("p", i))
	}
	usual := [][]string{
		{"*secret*", "*password*", "*token*"}, {"*credential*"}, {"*private*"}, {"*apikey*"}, {"*example*"}, {"*sample*"},
		{"*test*"},
	}
	for title, c := range map[string]struct {
		lists [][]string
		want  bool
	}{
		"names": {[][]string{names}, true}, "names and a pattern": {[][]string{names, {"p*"}}, true},
		"usual":              {usual, true},
		"one of many states": {[][]string{{"*a" + strings.Repeat("?", 40)}}, false},
		"that and others":    {append([][]string{{"*a" + strings.Repeat("?", 40)}}, usual...), false},
	} {
		if got, ok := ir.NameClasses(c.lists, nil); ok != c.want {
			t.Errorf("%s: %v, with %d classes", title, ok, len(got))
		}
	}
}

// TestMatchName holds the matcher against path.Match, which has the same syntax for names of valid UTF-8.
func TestMatchName(t *testing.T) {
	names := someNames()
	irtest.Check(t, 4000, 1, func(rt *rapid.T) {
		p := drawPattern(rt)
		if why := ir.BadName(p); why != "" && p != "." && p != ".." {
			rt.Fatalf("%q: %s", p, why)
		}
		for _, n := range names {
			if want, err := path.Match(p, n); err != nil || ir.MatchName(p, n) != want {
				rt.Fatalf("%q and %q: want %v (%v)", p, n, want, err)
			}
		}
	})
}

func TestBadName(t *testing.T) {
	for pattern, bad := range map[string]bool{
		".env": false, "*.pem": false, "[a-z]?": false, "ü*": false, "a b": false, `\*`: false, "[!a]": false,
		"[]a]": false,
		"":     true, ".": true, "..": true, "a/b": true, "**": true, "a**": true, "{a,b}": true, "!a": true,
		"[a": true, "[]": true, `a\`: true,
		"[z-a]": true, "[[:alpha:]]": true, " .env": true, ".env ": true, "\u202e.env": true,
		"a\nb": true, "[/]": true, "\x00": true, "a\xff": true, strings.Repeat("a", 256): true,
	} {
		if got := ir.BadName(pattern); (got != "") != bad {
			t.Errorf("%q: %q", pattern, got)
		}
	}
}

// TestManyStars: a pattern and a name for which matching by trying would take ages. A layer of a repository
// could have it.
func TestManyStars(t *testing.T) {
	if ir.MatchName(strings.Repeat("*a", 60)+"*b", strings.Repeat("a", 255)) {
		t.Error("matched")
	}
}
