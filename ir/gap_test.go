package ir

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestGaps: every gap is of a resource, says what is given up, and is what its name parses to.
func TestGaps(t *testing.T) {
	for _, g := range Gaps() {
		resource, _, ok := strings.Cut(string(g), ".")
		found := false
		for _, r := range Resources {
			found = found || r.String() == resource
		}
		if !ok || !found || g.Effect() == "" || !g.Known() {
			t.Errorf("%s: %q", g, g.Effect())
		}
	}
	for _, g := range []Gap{"", "fs", "fs.nothing", "FS.MOVE"} {
		if g.Known() || g.Effect() != "" {
			t.Errorf("%q is known", g)
		}
	}
	for _, k := range LimitKinds {
		if !GapOfLimit(k).Known() {
			t.Errorf("the limit %s has no gap", k)
		}
	}
}

// TestCauses: a cause is read back as it was written, whatever its place holds.
func TestCauses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := Cause{ID: "backend.name"}
		if rapid.Bool().Draw(rt, "parts") {
			c.Place = rapid.String().Draw(rt, "place")
			for _, one := range Capabilities {
				if rapid.Bool().Draw(rt, one.String()) {
					c.Caps |= Caps(one)
				}
			}
		}
		if got, ok := ParseCause(c.String()); !ok || got != c {
			rt.Fatalf("%+v as %q: got %+v, %v", c, c, got, ok)
		}
	})
	for _, s := range []string{"", "(: x)", "a.b(", "a.b()", "a.b(eat: x)", "a.b(read: x"} {
		if got, ok := ParseCause(s); ok {
			t.Errorf("%q: got %+v", s, got)
		}
	}
}
