package explain

import (
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// BaseText lists a base on every platform, as it ships.
func BaseText(b ir.BaseName, s Style) string {
	var out strings.Builder
	out.WriteString("  " + s.paint(bold, "base "+b.String()+", version "+strconv.Itoa(ir.BaseVersion)) + "\n")
	for _, p := range ir.Platforms {
		var rows [][]string
		for _, r := range ir.BaseRules(b, p) {
			rows = append(rows, []string{"    " + r.Written, r.Caps.String()})
		}
		out.WriteString("  " + p.String() + "\n")
		for _, l := range table(rows) {
			out.WriteString(l + "\n")
		}
	}
	return out.String()
}
