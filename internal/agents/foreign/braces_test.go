package foreign

import (
	"slices"
	"strings"
	"testing"
)

// TestBraces: alternatives stand for each of them, and a name that exists for itself.
func TestBraces(t *testing.T) {
	h := Host{Exists: func(abs string) bool { return abs == "/{y,z}" }}
	for in, want := range map[string]string{
		"/{a,b}": "/a /b", "/x/{a,b}/c": "/x/a/c /x/b/c",
		"/{a,{b,c}d}": "/a /bd /cd", "/{a,b}{c,d}": "/ac /ad /bc /bd", "/{,a}b": "/b /ab",
		"/{a}": "/{a}", "/{a": "/{a", "/a,b}": "/a,b}", `/\{a,b}`: `/\{a,b}`,
		"/{y,z}/*": "/y/* /z/* /{y,z}/*", "/{y,z}x": "/yx /zx",
		"/" + strings.Repeat("{a,b}", 40): "/" + strings.Repeat("{a,b}", 40),
	} {
		got := h.Braces(in)
		slices.Sort(got)
		if w := strings.Fields(want); !slices.Equal(got, slices.Sorted(slices.Values(w))) {
			t.Errorf("%s: %q", in, got)
		}
	}
}
