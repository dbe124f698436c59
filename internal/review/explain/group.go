package explain

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// Group is tools that have the same policy, held alike, wherever it is written.
type Group struct {
	*Policy
	// Tools are all of them. The policy is the first tool's.
	Tools []*ir.Tool
	lines []groupLine
}

// groupLine is a line of a policy with the places that set it in each tool.
type groupLine struct {
	line
	origins []string
}

// Groups joins tools that have the same policy.
func Groups(ps []*Policy) []*Group {
	var out []*Group
	alike := map[string][]*Group{}
	for _, p := range ps {
		g := newGroup(p)
		key := g.key()
		if i := slices.IndexFunc(alike[key], func(o *Group) bool {
			return reflect.DeepEqual(o.Ledger, p.Ledger)
		}); i >= 0 {
			alike[key][i].add(g)
			continue
		}
		alike[key] = append(alike[key], g)
		out = append(out, g)
	}
	return out
}

func newGroup(p *Policy) *Group {
	g := &Group{Policy: p, Tools: []*ir.Tool{p.Tool}}
	if g.Confined() {
		for _, l := range p.lines() {
			g.lines = append(g.lines, groupLine{l, []string{l.origin}})
		}
	}
	return g
}

// Confined reports whether accessc starts the tools.
func (g *Group) Confined() bool { return g.Tool.Source.Kind == ir.SourceLocal }

// key is equal for tools whose lines say the same except for their places.
func (g *Group) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s\n", g.Confined(), ir.RiskOf(g.Tool))
	for _, l := range g.lines {
		place := placed{}
		if l.at != nil {
			place = *l.at
		}
		fmt.Fprintf(&b, "%q %q %q %v %q\n", l.head, l.text(), l.note, place, l.grants)
	}
	return b.String()
}

// add makes the tool of another group a tool of this group.
func (g *Group) add(o *Group) {
	g.Tools = append(g.Tools, o.Tools...)
	for i, l := range o.lines {
		if !slices.Contains(g.lines[i].origins, l.origin) {
			g.lines[i].origins = append(g.lines[i].origins, l.origin)
		}
	}
}

// namesWide is how wide lines of names are.
const namesWide = 60

// rows are the names of the other tools and the lines of the policy, with a place where
// several tools have several.
func (g *Group) rows() []line {
	var out []line
	if len(g.Tools) > 1 {
		for _, names := range wrap(strings.Join(g.names()[1:], " "), namesWide) {
			out = append(out, line{body: names})
		}
		out[0].head = "also"
	}
	for _, l := range g.lines {
		if more := len(l.origins) - 1; more > 0 {
			l.origin += " and " + strconv.Itoa(more) + " more"
		}
		out = append(out, l.line)
	}
	return out
}

func (g *Group) names() []string {
	var out []string
	for _, t := range g.Tools {
		out = append(out, t.Name)
	}
	return out
}

// index is the table of all tools, by name. A policy that several tools have is shown under
// the name of one of them.
func index(groups []*Group) [][]string {
	var rows [][]string
	for _, g := range groups {
		for i, t := range g.Tools {
			row := []string{t.Name, t.Source.String(), "", "not started by accessc", ""}
			if g.Confined() {
				row[2], row[3] = ir.RiskOf(t).String(), "own"
			}
			if i > 0 && g.Confined() {
				row[3] = "as " + g.Tool.Name
			}
			if t.Command != nil {
				row[4] = shorten(commandText(t.Command), commandWide)
			}
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return append([][]string{{"tool", "source", "risk", "policy", "command"}}, rows...)
}

// commandWide is how much is shown of a command.
const commandWide = 48

// groupsHeadline counts tools and policies.
func groupsHeadline(groups []*Group) string {
	tools, policies := 0, 0
	for _, g := range groups {
		if tools += len(g.Tools); g.Confined() {
			policies++
		}
	}
	text := strconv.Itoa(policies) + " policies"
	if policies == 1 {
		text = "1 policy"
	}
	return plural.Count(tools, "tool") + ", " + text
}

// IndexText lists all tools of a view in a table.
func IndexText(groups []*Group, s Style) string {
	rows := index(groups)
	for _, row := range rows[1:] {
		row[4] = shorten(row[4], s.room(commandWide, strings.Join(row[:4], "    ")))
	}
	return groupsHeadline(groups) + "\n" + s.block(rows)
}

// IndexMarkdown is that table in a document.
func IndexMarkdown(groups []*Group) string {
	var b strings.Builder
	b.WriteString(groupsHeadline(groups) + "\n\n")
	for i, row := range index(groups) {
		for j := range row {
			row[j] = escape(row[j])
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|---|---|---|---|---|\n")
		}
	}
	return b.String()
}
