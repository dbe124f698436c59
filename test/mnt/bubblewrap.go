package mnt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/ir"
)

// Bubblewrap returns the mounts that bwrap makes of arguments, in their order (bwrap(1)).
func Bubblewrap(s *bubblewrap.Spec) ([]Entry, error) {
	options, err := s.Options()
	if err != nil {
		return nil, err
	}
	var out []Entry
	add := func(e Entry) {
		out = slices.DeleteFunc(out, func(o Entry) bool { return o.Place == e.Place })
		out = append(out, e)
	}
	read := ir.Caps(ir.Read, ir.Execute)
	perms := ""
	for _, o := range options {
		mode := perms
		perms = ""
		switch name, try := strings.CutSuffix(o.Name, "-try"); name {
		case "--perms":
			perms = o.Values[0]
		case "--bind", "--ro-bind":
			e := Entry{Place: o.Values[1], Exists: try}
			switch from := o.Values[0]; {
			case from != e.Place: // a cover
			case name == "--bind":
				e.Gives = ir.All
			default:
				e.Gives = read
			}
			add(e)
		case "--tmpfs":
			e := Entry{Place: o.Values[0], Gives: ir.All}
			if mode == "0000" || mode == "0111" {
				e.Gives = ir.Write // until it is made read-only
			}
			add(e)
		case "--remount-ro":
			for i := range out {
				if out[i].Place == o.Values[0] {
					out[i].Gives &= read
				}
			}
		case "--dir":
			add(Entry{Place: o.Values[0]})
		}
	}
	return out, nil
}
