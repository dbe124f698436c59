package explain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/ir"
)

// LedgerText renders the ledger of a tool as a matrix: a line per resource, a column
// per platform, and the names under which gaps may be accepted.
func (p *Policy) LedgerText(s Style) string {
	rows := [][]string{ledgerHead("resource", s)}
	for _, m := range p.matrix(s) {
		row := []string{m.resource.String()}
		for _, c := range m.cells {
			row = append(row, c.String())
		}
		rows = append(rows, append(row, strings.Join(m.accept, " ")))
	}
	rows[0] = append(rows[0], "accept")
	return s.block(rows)
}

// TrapsText renders the calls that a supervisor of the tool answers on Linux. All others go to
// the kernel alone.
func (p *Policy) TrapsText(s Style) string {
	rows := [][]string{{"supervised", "if", "calls"}}
	for _, t := range p.Traps {
		var when []string
		for _, c := range t.When {
			when = append(when, c.String())
		}
		rows = append(rows, []string{t.Group, strings.Join(when, ", "), strings.Join(t.Syscalls, " ")})
	}
	if len(p.Traps) == 0 {
		rows = [][]string{{"supervised", "calls"}, {"-", "none on linux"}}
	}
	return s.block(rows)
}

func ledgerHead(first string, s Style) []string {
	head := []string{first}
	for _, pl := range ir.Platforms {
		head = append(head, systemName(pl))
	}
	return head
}

// resourceRow is how every platform holds one resource.
type resourceRow struct {
	resource ir.Resource
	cells    []tally
	accept   []string
}

// tally counts cells by how they are held.
type tally map[ir.Enforcement]int

// weakest is the level that needs most attention.
func (t tally) weakest() ir.Enforcement {
	for _, e := range []ir.Enforcement{ir.Unenforced, ir.Advisory, ir.Weaker, ir.Supervised, ir.Stricter, ir.Assumed} {
		if t[e] > 0 {
			return e
		}
	}
	return ir.Exact
}

// String counts the cells that less than the system itself holds.
func (t tally) String() string {
	var parts []string
	for _, e := range []ir.Enforcement{ir.Unenforced, ir.Advisory, ir.Weaker, ir.Supervised} {
		if n := t[e]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+e.String())
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case t[ir.Stricter] > 0:
		return ir.Exact.String() + " or stricter"
	default:
		return ir.Exact.String()
	}
}

func count(l ir.Ledger) tally {
	t := tally{}
	for _, row := range l {
		t[row.Is] += len(row.Rules) * len(row.Aspects)
	}
	return t
}

// matrix sums the ledger up by resource and platform.
func (p *Policy) matrix(s Style) []resourceRow {
	var out []resourceRow
	for _, r := range ir.Resources {
		m := resourceRow{resource: r}
		stated := false
		for _, pl := range ir.Platforms {
			here := slices.DeleteFunc(p.Ledger.On(pl, s.level(pl)), func(row ir.Row) bool { return row.Resource != r })
			stated = stated || len(here) > 0
			m.cells = append(m.cells, count(here))
			for _, row := range here {
				if row.Gap != "" && !slices.Contains(m.accept, string(row.Gap)) {
					m.accept = append(m.accept, string(row.Gap))
				}
			}
		}
		if stated {
			slices.Sort(m.accept)
			out = append(out, m)
		}
	}
	return out
}

// CellsText renders every cell of the ledger, with the reasons below: a line per group
// of cells that every platform holds alike.
func (p *Policy) CellsText(s Style) string {
	rows, why := p.cellRows(s)
	head := ledgerHead("cell", s)
	out := s.block(append([][]string{slices.Insert(head, 1, "rules")}, rows...))
	for i, r := range why {
		out += s.reason(i+1, r)
	}
	return out
}

// cellRows are the lines of CellsText and the reasons that they number.
func (p *Policy) cellRows(s Style) (rows [][]string, why []string) {
	reasons := &reasons{}
	for _, c := range p.cells() {
		row := []string{c.name, string(c.rules[0])}
		for _, pl := range ir.Platforms {
			row = append(row, reasons.cell(p.Ledger, c, pl, s.level(pl)))
		}
		rows = append(rows, row)
	}
	return join(rows), reasons.list
}

// cell is one aspect of some rules.
type cell struct {
	name     string
	resource ir.Resource
	aspect   ir.Aspect
	rules    []ir.RuleID
}

// cells lists every aspect of every rule that the ledger speaks of, in its order.
func (p *Policy) cells() []cell {
	var out []cell
	seen := map[string]bool{}
	for _, row := range p.Ledger {
		for _, rule := range row.Rules {
			for _, a := range row.Aspects {
				key := row.Resource.String() + " " + string(rule) + " " + string(a)
				if row.Platform != 0 && !seen[key] {
					seen[key] = true
					out = append(out, cell{row.Resource.String() + "." + string(a), row.Resource, a, []ir.RuleID{rule}})
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
	switch {
	case !ok && c.rules[0] == "protected":
		return "not protected" // patterns of names are in effect on Linux alone
	case !ok:
		return "?"
	}
	text := row.Is.String()
	if len(row.Causes) == 0 {
		return text
	}
	why := registry.Why(row.Causes)
	if row.Gap != "" {
		why += " (--accept " + string(row.Gap) + ")"
	}
	i := slices.Index(r.list, why)
	if i < 0 {
		i = len(r.list)
		r.list = append(r.list, why)
	}
	return text + " [" + strconv.Itoa(i+1) + "]"
}
