package explain

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// Widening is a thing that a tool may do now and could not do before, with the class that a
// gate can be set on.
type Widening struct {
	Class      string
	Tool       string
	Difference compare.Difference
}

// Widenings lists the wider differences of a comparison by class, tool by tool. A region in
// which a program may be started is listed under exec as well.
func Widenings(cs []Change) []Widening {
	var out []Widening
	for _, c := range cs {
		for _, d := range c.Differences {
			if !d.Wider || d.Beside {
				continue
			}
			for _, class := range classes(d) {
				out = append(out, Widening{class, c.title(), d})
			}
		}
		if c.RaisesRisk() {
			out = append(out, Widening{"tool.risk.raised", c.title(), compare.Difference{
				Wider: true, What: "risk " + c.Risk[1] + ", was " + c.Risk[0],
			}})
		}
	}
	return out
}

// classes are the classes of a difference that is wider.
func classes(d compare.Difference) []string {
	switch d.Kind {
	case compare.Presence:
		return []string{"tool.added"}
	case compare.Confinement:
		return []string{"tool.source.widened"}
	case compare.Bound:
		return []string{"tool.limits.widened"}
	case compare.Invocation:
		return []string{"tool.constraints.widened"}
	case compare.Unheld:
		return []string{"tool.accept.widened"}
	case compare.Sharing:
		return []string{"tool.home.widened"}
	case compare.Enforcement:
		return []string{"tool.enforcement.weakened"}
	case compare.Credentials:
		return []string{"tool.credentials.widened"}
	case compare.Ruling:
		return []string{"ruleset.widened"}
	case compare.Nesting:
		return []string{"workspace.added"}
	case compare.Calling:
		return []string{"tool.calls.widened"}
	case compare.Live:
		return []string{"tool.may.widened"}
	case compare.Grant, compare.Inspection:
	}
	switch d.Resource {
	case ir.FS:
		words := strings.Fields(d.What)
		i := slices.Index(words, ir.Execute.String())
		switch {
		case i >= 0 && len(words) == 1:
			return []string{"tool.exec.widened"}
		case i >= 0:
			return []string{"tool.filesystem.widened", "tool.exec.widened"}
		}
		return []string{"tool.filesystem.widened"}
	case ir.Net:
		return []string{"tool.network.widened"}
	case ir.Env:
		return []string{"tool.environment.widened"}
	case ir.Commands:
		return []string{"tool.exec.widened"}
	case ir.Limits, ir.Process:
	}
	return []string{"tool.filesystem.widened"}
}

// row is a widening as a line of a table.
func (w Widening) row() []string {
	d := w.Difference
	return []string{clean(w.Tool), w.Class, clean(d.What), clean(region(d)), clean(d.Example), clean(because(d))}
}

// WideningsText lists widenings for a terminal.
func WideningsText(ws []Widening) string {
	var rows [][]string
	for _, w := range ws {
		rows = append(rows, w.row())
	}
	return Table(rows)
}

// Table lays out rows in columns, one line each, and makes them safe to print.
func Table(rows [][]string) string {
	safe := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			safe[i] = append(safe[i], clean(cell))
		}
	}
	var b strings.Builder
	for _, line := range table(safe) {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// WideningDoc is a widening in JSON.
type WideningDoc struct {
	Class string `json:"class"`
	Tool  string `json:"tool"`
	DifferenceDoc
}

// WideningsJSON returns the machine-readable form.
func WideningsJSON(ws []Widening) []WideningDoc {
	out := []WideningDoc{}
	for _, w := range ws {
		out = append(out, WideningDoc{w.Class, w.Tool, differenceDoc(w.Difference)})
	}
	return out
}
