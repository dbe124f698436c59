package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/compiler/source"
)

// written is the outline of a text: each header and value with its extent.
func written(text string, items []source.Item, indent string) string {
	out := ""
	for _, x := range items {
		var keys []string
		for _, k := range x.Keys {
			keys = append(keys, k.Text+"="+text[k.Start:k.End])
		}
		out += fmt.Sprintf("%s%s|%s|%s\n", indent, strings.Join(keys, "."), text[x.Start:x.From], text[x.From:x.End])
		out += written(text, x.Inner, indent+"  ")
	}
	return out
}

// TestOutline: every header and value has its extent, also behind lines that are no TOML.
func TestOutline(t *testing.T) {
	text := "a.'b' = [ 1, # ]\n { 'é' = \"x]\" }, []]\nc =\n[[ d . \"e f\" ]] # x\ng = [\n h = 1\n[i]\nj = \"\"\"\n[k]\"\"\" # l"
	want := `a=a.b='b'|a.'b' = |[ 1, # ]
 { 'é' = "x]" }, []]
  |` + `|1
  ||{ 'é' = "x]" }
    é='é'|'é' = |"x]"
  ||[]
d=d.e f="e f"|[[ d . "e f" ]]|
h=h|h = |1
i=i|[i]|
j=j|j = |"""
[k]"""
`
	if diff := cmp.Diff(want, written(text, source.Outline([]byte(text)), "")); diff != "" {
		t.Error(diff)
	}
}

// FuzzOutline: no text makes extents that are outside of it or of what is around them.
func FuzzOutline(f *testing.F) {
	f.Add([]byte("a.'b' = [1, {c = 1}]\n[[d]]\n=\ne = \"x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var inside func(items []source.Item, from, to int)
		inside = func(items []source.Item, from, to int) {
			for _, x := range items {
				if x.Start < from || x.From < x.Start || x.End < x.From || x.End > to {
					t.Fatalf("%q: %+v is not in %d to %d", text, x, from, to)
				}
				inside(x.Inner, x.From, x.End)
				from = x.End
			}
		}
		inside(source.Outline(text), 0, len(text))
	})
}
