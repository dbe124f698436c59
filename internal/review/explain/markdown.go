package explain

import (
	"strings"

	"github.com/accessc/accessc/ir"
)

// Markdown renders a policy as a table, for a comment or a document.
func (g *Group) Markdown(s Style) string {
	var b strings.Builder
	b.WriteString("### " + escape(g.Tool.Name))
	if g.Tool.Source.Kind != ir.SourceLocal {
		b.WriteString("\n\nNot started by accessc (" + escape(g.Tool.Source.String()) + "); it has no policy.\n")
		return b.String()
	}
	b.WriteString(": risk " + ir.RiskOf(g.Tool).String() + "\n\n| | what | permits | because |\n|---|---|---|---|\n")
	for _, l := range g.rows() {
		what, permits := code(l.body), ""
		if l.at != nil {
			what, permits = code(l.at.branches+l.at.path), escape(l.at.caps.String())
		}
		if l.note != "" {
			what += " " + escape(l.note)
		}
		b.WriteString("| " + strings.Join([]string{l.head, what, permits, escape(l.origin)}, " | ") + " |\n")
	}
	b.WriteString("\n| holds |")
	rule := "\n|---|"
	for _, pl := range ir.Platforms {
		b.WriteString(" " + systemName(pl) + " |")
		rule += "---|"
	}
	b.WriteString(rule + "\n")
	for _, m := range g.matrix(s) {
		b.WriteString("| " + m.resource.String() + " |")
		for _, c := range m.cells {
			b.WriteString(" " + c.String() + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
