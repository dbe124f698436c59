package explain

import (
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// BaseText lists the grants of a tool without a rule of its own: the base on every platform, as
// it ships, and the protected paths, each with its reason.
func BaseText(v *ir.View, s Style) string {
	t := v.Tool
	var out strings.Builder
	out.WriteString("  " + s.paint(bold, "base "+t.Base.String()+", version "+strconv.Itoa(ir.BaseVersion)) + "\n")
	for _, p := range ir.Platforms {
		var rows [][]string
		for _, e := range ir.BaseEntries(t.Base, p) {
			rows = append(rows, []string{e.Path, e.Caps.String(), e.Why})
		}
		out.WriteString("  " + p.String() + "\n")
		out.WriteString(s.listing(rows))
	}
	out.WriteString(protectedText(v, s))
	return out.String()
}

func protectedText(v *ir.View, s Style) string {
	if !v.Tool.Protects {
		return "  " + s.paint(bold, "protected none") + "\n"
	}
	var rows [][]string
	for _, p := range v.Protected() {
		at := clean(p.At().Short())
		if p.Open {
			at += ", which is not"
		}
		rows = append(rows, []string{at, p.Why})
	}
	head := "protected, version " + strconv.Itoa(ir.ProtectedVersion)
	return "  " + s.paint(bold, head) + "\n" + s.listing(rows)
}

// listing lays out rows below a name.
func (s Style) listing(rows [][]string) string {
	wrapped, _ := s.fit(rows, 4)
	var out strings.Builder
	for _, l := range table(wrapped) {
		out.WriteString("    " + l + "\n")
	}
	return out.String()
}
