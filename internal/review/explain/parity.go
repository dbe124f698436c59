package explain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/ir"
)

// Parity is a tool's rules, and how some targets hold each of them.
type Parity struct {
	tool    *ir.Tool
	rules   []parityRule
	columns []parityColumn
}

// parityRule is a rule, or one of the things that a ledger states beside rules.
type parityRule struct {
	resource ir.Resource
	id       ir.RuleID
	subject  string
	origin   ir.Origin
	aspects  []ir.Aspect
}

// parityColumn is a target with its ledger, or with the reason why it has none.
type parityColumn struct {
	name, none string
	ledger     ir.Ledger
	// rows are the indices of the rows about each rule, in the order of the ledger.
	rows map[stated][]int
}

// stated is a rule as rows of a ledger name it.
type stated struct {
	resource ir.Resource
	id       ir.RuleID
}

// NewParity compiles a tool for some targets, as a portable build does. The columns of Linux are
// about the feature level of the style.
func NewParity(t *ir.Tool, targets []backends.Backend, s Style) (*Parity, error) {
	p := &Parity{tool: t}
	view := ir.NewView(t, ir.Linux, ir.Facts{})
	for _, c := range view.Cells() {
		n := len(p.rules)
		if n > 0 && p.rules[n-1].resource == c.Resource && p.rules[n-1].id == c.ID {
			p.rules[n-1].aspects = append(p.rules[n-1].aspects, c.Aspect)
			continue
		}
		r := parityRule{resource: c.Resource, id: c.ID, subject: parityNames[c.ID], aspects: []ir.Aspect{c.Aspect}}
		if c.Rule != nil {
			r.subject, r.origin = cmp.Or(r.subject, c.Rule.Subject()), c.Rule.Source()
		}
		r.subject = cmp.Or(r.subject, string(c.ID))
		p.rules = append(p.rules, r)
	}
	for _, b := range targets {
		out, err := b.Compile(t, backends.Target{Form: backends.Portable})
		if err != nil {
			return nil, err
		}
		held, platform := out.Ledger, b.Platform()
		if len(out.Elsewhere) > 0 {
			held, platform = out.Elsewhere, out.Elsewhere[0].Platform // none where the rows are about any system
		}
		column := parityColumn{name: b.Name(), ledger: held.On(platform, s.level(platform))}
		if column.ledger == nil {
			column.ledger = held.On(platform, 0) // means that know no levels
		}
		for _, r := range out.Refusals {
			column.ledger, column.none = nil, r.Why
		}
		column.rows = map[stated][]int{}
		for i, row := range column.ledger {
			for _, id := range row.Rules {
				key := stated{row.Resource, id}
				column.rows[key] = append(column.rows[key], i)
			}
		}
		p.columns = append(p.columns, column)
	}
	return p, nil
}

// parityNames are the names for identifiers in a ledger that belong to no rule of the policy.
var parityNames = map[ir.RuleID]string{
	ir.DefaultRule: "everything else", ir.BaseRule: "the base", "home": "the private home", "tmp": "the temporary directory", "protected": "protected paths",
}

// cell joins the aspects of a rule on a target. An assumption counts as exact: it permits the same. See RATIONALE D269.
func (c *parityColumn) cell(r *parityRule) (rows []ir.Row, is ir.Enforcement) {
	is = ir.Exact
	for _, a := range r.aspects {
		row, ok := c.lookup(r, a)
		if !ok {
			return nil, ir.Unstated
		}
		row.Aspects = []ir.Aspect{a}
		rows = append(rows, row)
		if row.Is != ir.Assumed && backends.Weakness(row.Is) > backends.Weakness(is) {
			is = row.Is
		}
	}
	return rows, is
}

func (c *parityColumn) lookup(r *parityRule, a ir.Aspect) (ir.Row, bool) {
	for _, i := range c.rows[stated{r.resource, r.id}] {
		if row := c.ledger[i]; slices.Contains(row.Aspects, a) {
			return row, true
		}
	}
	return ir.Row{}, false
}

// Name is the name of the tool.
func (p *Parity) Name() string { return p.tool.Name }

// Text renders the table of rules and targets: the weakest word of each rule's cells. Rules
// that all targets hold alike are one line. With why, each word has the numbers of its reasons, which
// follow. A table that is too wide for the terminal is in parts.
func (p *Parity) Text(s Style, why bool) string {
	reasons := &reasons{}
	out := ""
	for _, part := range p.parts(s) {
		rows := [][]string{{"", "rule"}}
		for _, c := range part {
			rows[0] = append(rows[0], c.name)
		}
		out += s.block(append(rows, p.lines(part, reasons, why)...))
	}
	if strings.Contains(out, nothing) {
		out += s.reasonAs(nothing, "the target has nothing of the kind")
	}
	for i, text := range reasons.list {
		out += s.reason(i+1, text)
	}
	for _, c := range p.columns {
		if c.none != "" {
			out += s.Hang("  "+c.name+": "+clean(c.none)+"\n", 4)
		}
	}
	return out
}

// parts are the columns of each table.
func (p *Parity) parts(s Style) [][]parityColumn {
	fit := len(p.columns)
	if s.Width > 0 {
		fit = max(1, (s.Width-subjectWidth-len("  commands    "))/(minColumn+2))
	}
	return slices.Collect(slices.Chunk(p.columns, max(fit, 1)))
}

// nothing stands where a target states no cell of a rule.
const nothing = "–"

// subjectWidth is the greatest width of the rules' column.
const subjectWidth = 30

func (p *Parity) lines(columns []parityColumn, reasons *reasons, why bool) [][]string {
	var out [][]string
	shown := ir.Resource(0)
	for i := range p.rules {
		r := &p.rules[i]
		row := []string{"", r.subject}
		for j := range columns {
			rows, is := columns[j].cell(r)
			row = append(row, parityWord(&columns[j], rows, is, reasons, why))
		}
		n := len(out)
		switch {
		case r.resource != shown:
			row[0], shown = resourceName(r.resource), r.resource
		case slices.Equal(out[n-1][2:], row[2:]):
			out[n-1][1] += ", " + row[1]
			continue
		}
		out = append(out, row)
	}
	for _, row := range out {
		row[1] = shorten(row[1], subjectWidth)
	}
	return out
}

func parityWord(c *parityColumn, rows []ir.Row, is ir.Enforcement, reasons *reasons, why bool) string {
	switch {
	case c.none != "":
		return "refused"
	case is == ir.Unstated:
		return nothing
	case !why:
		return is.String()
	}
	var numbers []string
	for _, row := range rows {
		for _, cause := range row.Causes {
			if n := strconv.Itoa(reasons.number(registry.Why([]ir.Cause{cause}))); !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	if len(numbers) == 0 {
		return is.String()
	}
	return is.String() + " [" + strings.Join(numbers, " ") + "]"
}

// number is the place of a text in the list, from 1, where it is added if it is not there.
func (r *reasons) number(why string) int {
	i := slices.Index(r.list, why)
	if i < 0 {
		i = len(r.list)
		r.list = append(r.list, why)
	}
	return i + 1
}

// resourceName is the word for a resource in tables.
func resourceName(r ir.Resource) string {
	switch r {
	case ir.FS:
		return "files"
	case ir.Net:
		return "network"
	case ir.Env, ir.Commands, ir.Limits, ir.Process:
	}
	return r.String()
}

// ParityDoc is the JSON form.
type ParityDoc struct {
	Version int             `json:"format_version"` // 2
	Targets []string        `json:"targets"`        // in the order of the table
	Tools   []ParityToolDoc `json:"tools"`          // by name
}

// ParityToolDoc is a tool.
type ParityToolDoc struct {
	Tool    string            `json:"tool"`              // its name
	Rules   []ParityRuleDoc   `json:"rules"`             // in the order of ledgers
	Refused map[string]string `json:"refused,omitempty"` // why, by target
}

// ParityRuleDoc is a rule, or a part of the policy that is no rule but has rows in a ledger.
type ParityRuleDoc struct {
	Resource string `json:"resource"`     // such as "fs"
	Rule     string `json:"rule"`         // the identifier
	Subject  string `json:"subject"`      // in words
	At       string `json:"at,omitempty"` // the place that set it
	// Held is the weakest word by target, Rows are those that are not exact, by target.
	Held map[string]string         `json:"held"`
	Rows map[string][]ParityRowDoc `json:"rows,omitempty"`
}

// ParityRowDoc is an aspect of a rule on a target.
type ParityRowDoc struct {
	Aspect string   `json:"aspect"`        // such as "execute"
	Is     string   `json:"is"`            // the word
	Causes []string `json:"causes"`        // identifiers
	Why    string   `json:"why"`           // in words
	Gap    string   `json:"gap,omitempty"` // the name to accept it by
}

// JSON is the part of the document that is about the tool.
func (p *Parity) JSON() ParityToolDoc {
	doc := ParityToolDoc{Tool: p.tool.Name, Rules: []ParityRuleDoc{}}
	for i := range p.rules {
		r := &p.rules[i]
		d := ParityRuleDoc{
			Resource: r.resource.String(), Rule: string(r.id), Subject: r.subject, At: r.origin.String(), Held: map[string]string{}, Rows: map[string][]ParityRowDoc{},
		}
		for j := range p.columns {
			c := &p.columns[j]
			rows, is := c.cell(r)
			if is == ir.Unstated {
				continue
			}
			d.Held[c.name] = is.String()
			for _, row := range rows {
				if row.Is != ir.Exact {
					d.Rows[c.name] = append(d.Rows[c.name], parityRow(row))
				}
			}
		}
		doc.Rules = append(doc.Rules, d)
	}
	for _, c := range p.columns {
		if c.none != "" {
			if doc.Refused == nil {
				doc.Refused = map[string]string{}
			}
			doc.Refused[c.name] = c.none
		}
	}
	return doc
}

func parityRow(r ir.Row) ParityRowDoc {
	doc := backends.NewRow(r)
	return ParityRowDoc{Aspect: string(r.Aspects[0]), Is: doc.Is, Causes: doc.Causes, Why: registry.Why(r.Causes), Gap: doc.Gap}
}

// ParityTargets are the names of the columns.
func ParityTargets(targets []backends.Backend) []string {
	out := []string{}
	for _, b := range targets {
		out = append(out, b.Name())
	}
	return out
}
