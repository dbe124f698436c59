package explain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// LedgerText renders the ledger of a tool as a matrix: a line per group of cells
// that every platform holds alike, a column per platform, reasons below.
func (p *Policy) LedgerText(s Style) string {
	reasons := &reasons{}
	head := []string{"cell", "rules"}
	for _, pl := range ir.Platforms {
		head = append(head, systemName(pl))
	}
	rows := [][]string{head}
	for _, c := range p.cells() {
		row := []string{c.name, strings.Join(c.rules, " ")}
		for _, pl := range ir.Platforms {
			row = append(row, reasons.cell(p.Ledger, c, pl, s.level(pl)))
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for i, l := range table(join(rows)) {
		if i == 0 {
			l = s.paint(bold, l)
		}
		b.WriteString("  " + clean(l) + "\n")
	}
	for i, r := range reasons.list {
		b.WriteString("  " + s.paint(dim, pad("["+strconv.Itoa(i+1)+"]", 5)) + clean(r) + "\n")
	}
	return b.String()
}

// cell is one aspect of some rules.
type cell struct {
	name     string
	resource ir.Resource
	aspect   ir.Aspect
	rules    []string
}

// cells lists every aspect of every rule that the ledger speaks of, in its order.
func (p *Policy) cells() []cell {
	var out []cell
	seen := map[string]bool{}
	for _, row := range p.Ledger {
		for _, rule := range row.Rules {
			for _, a := range row.Aspects {
				key := row.Resource.String() + " " + rule + " " + string(a)
				if row.Platform != 0 && !seen[key] {
					seen[key] = true
					out = append(out, cell{row.Resource.String() + "." + string(a), row.Resource, a, []string{rule}})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b cell) int {
		if a.resource != b.resource {
			return int(a.resource) - int(b.resource)
		}
		return slices.Index(ir.Aspects(a.resource), a.aspect) - slices.Index(ir.Aspects(b.resource), b.aspect)
	})
	return out
}

// join merges neighbouring rows of one cell that say the same on every platform.
func join(rows [][]string) [][]string {
	var out [][]string
	for _, row := range rows {
		n := len(out)
		if n > 0 && out[n-1][0] == row[0] && slices.Equal(out[n-1][2:], row[2:]) {
			out[n-1][1] += " " + row[1]
			continue
		}
		out = append(out, row)
	}
	for _, row := range out {
		row[1] = shorten(row[1], 40)
	}
	return out
}

// reasons numbers the texts that explain cells.
type reasons struct{ list []string }

func (r *reasons) cell(l ir.Ledger, c cell, p ir.Platform, level int) string {
	row, ok := l.Cell(c.resource, c.rules[0], c.aspect, p, level)
	if !ok {
		return "?"
	}
	text := row.Is.String()
	if row.Why == "" {
		return text
	}
	why := row.Why
	if row.Accept != "" {
		why += " (--accept " + row.Accept + ")"
	}
	i := slices.Index(r.list, why)
	if i < 0 {
		i = len(r.list)
		r.list = append(r.list, why)
	}
	return text + " [" + strconv.Itoa(i+1) + "]"
}
