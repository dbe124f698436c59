package compare

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestByName compares policies with rules by name: no difference is missed, and each has a real name as example.
func TestByName(t *testing.T) {
	path := func(p string, caps ir.CapSet) ir.FSRule { return ir.FSRule{Written: p, At: ir.In(p), Caps: caps} }
	name := func(p string, caps ir.CapSet, names ...string) ir.FSRule {
		return ir.FSRule{Written: p, At: ir.In(p), Names: names, Caps: caps}
	}
	read := ir.Caps(ir.Read)
	for title, c := range map[string]struct {
		old, new []ir.FSRule
		want     []string // place: example
	}{
		"a name is closed": {
			[]ir.FSRule{path("", ir.All)}, []ir.FSRule{path("", ir.All), name("", 0, ".env")},
			[]string{"**/.env: read .env"},
		},
		"a rule on a path has the name in one directory, and not below": {
			[]ir.FSRule{path("a/b", 0)}, []ir.FSRule{name("a", read, "b"), path("a/b", 0)},
			[]string{"a/**/b but a/b: read a/file/b"},
		},
		"one pattern more, of which some names were closed": {
			[]ir.FSRule{path("", read), name("", 0, "*.pem")}, []ir.FSRule{path("", read), name("", 0, "*.pem", "a*")},
			[]string{"**/a*: read a"},
		},
		"the same names by other patterns": {
			[]ir.FSRule{path("", read), name("", 0, "[ab]")}, []ir.FSRule{path("", read), name("", 0, "a", "b")}, nil,
		},
		"the same names by two rules": {
			[]ir.FSRule{path("", read), name("", 0, "a", "b")},
			[]ir.FSRule{path("", read), name("", 0, "a"), name("", 0, "b")}, nil,
		},
		"the order of two rules about one name": {
			[]ir.FSRule{name("", 0, "*.a"), name("", read, "x*")},
			[]ir.FSRule{name("", read, "x*"), name("", 0, "*.a")},
			[]string{"**/x* and **/*.a: read x.a"},
		},
		"names of dots alone are no names": {
			[]ir.FSRule{path("", read), name("", 0, ".", "..")}, []ir.FSRule{path("", read)}, nil,
		},
	} {
		a, b := closed(), closed()
		a.FS, b.FS = c.old, c.new
		var got []string
		for _, d := range Policies(Policy{Tool: a}, Policy{Tool: b}) {
			where := d.Where
			for _, e := range d.Except {
				where += " but " + e
			}
			if !d.Beside {
				got = append(got, where+": "+d.Example)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q", title, got)
		}
	}
}
