package explain

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// The page is one file: no part of it is fetched from anywhere.
var (
	//go:embed page/page.tmpl
	pageTemplate string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

// page is the data of the template. Every string of it may come from a configuration; the
// template escapes it for its context, and the page's own policy lets a browser run nothing but
// the script that ships with accessc.
type page struct {
	Policy, Title, Subtitle, Empty string
	Style                          template.CSS
	Script                         template.JS
	Filters                        []string
	Tools                          []pageTool
	Unchanged                      []string
	// Legend explains the words of the ledger, which a comparison does not have.
	Legend []term
	Cell   string
}

type pageTool struct {
	ID, Name, Class, Tag, TagClass, Source, Command string
	// Names are all of the tools that the part is about.
	Names []string

	Blocks        []pageBlock
	Platforms     []string
	Matrix, Cells []pageRow
	Reasons       []string
	Differences   []pageDifference
	Settings      []pageDifference
}

// pageBlock is the lines of a resource.
type pageBlock struct {
	Head string
	Rows []pageLine
}

type pageLine struct {
	Placed               bool
	Branches, Text, From string
	// Tag is shown beside the text, Note below it.
	Tag, Note, Grants string
	Caps              []pageCap
}

type pageCap struct {
	Name, Class string
	On          bool
}

// pageRow is a row of the ledger.
type pageRow struct {
	Name, Rules, Accept string
	Cells               []pageCell
}

type pageCell struct{ Class, Text string }

type pageDifference struct {
	Wider                                 bool
	What, Where, Example, Because, Grants string
}

// filters are the words that lines of a page grant.
var filters = []string{"read", "create", "update", "delete", "execute", "network", "env", "run"}

// HTML writes policies and rulesets as one page that needs nothing else: the rules as a tree, the
// ledger with its reasons, and a filter.
func HTML(w io.Writer, groups []*Group, sets []*Ruleset, s Style) error {
	p := page{Title: "accessc", Subtitle: groupsHeadline(groups), Filters: filters,
		Empty: "No tool is left by this filter.", Legend: legend, Cell: cellMeaning}
	for _, g := range groups {
		p.Tools = append(p.Tools, g.page(s))
	}
	for _, r := range sets {
		p.Tools = append(p.Tools, r.page())
	}
	return p.write(w)
}

// ChangesHTML writes a comparison as such a page.
func ChangesHTML(w io.Writer, cs []Change) error {
	p := page{Title: "accessc", Subtitle: headline(cs), Filters: filters, Empty: "Nothing is left by this filter."}
	if len(Differing(cs)) == 0 {
		p.Empty = "Both sides permit the same."
	}
	for _, c := range condensed(cs) {
		if !c.Differs() {
			p.Unchanged = append(p.Unchanged, clean(c.title()))
			continue
		}
		p.Tools = append(p.Tools, c.page())
	}
	return p.write(w)
}

// See decision D467.
func (p page) write(w io.Writer) error {
	t, err := template.New("").Parse(pageTemplate)
	if err != nil {
		return err
	}
	p.Style, p.Script = template.CSS(pageStyle), template.JS(pageScript)
	p.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hashOf(pageStyle) +
		"; script-src " + hashOf(pageScript)
	return t.ExecuteTemplate(w, "page", p)
}

// hashOf names a text in a Content-Security-Policy (CSP Level 3, section 2.3.1).
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (g *Group) page(s Style) pageTool {
	t := pageTool{ID: anchor(clean(g.Tool.Name)), Name: clean(g.Tool.Name), Source: g.Tool.Source.String()}
	for _, name := range g.names() {
		t.Names = append(t.Names, clean(name))
	}
	if g.Tool.Command != nil {
		t.Command = clean(shorten(commandText(g.Tool.Command), 96))
	}
	if !g.Confined() {
		t.Tag = "not started by accessc; it has no policy"
		return t
	}
	t.Class = ir.RiskOf(g.Tool).String()
	t.Tag, t.TagClass = "risk "+t.Class, map[string]string{"high": "bad", "medium": "warn", "low": "good"}[t.Class]
	for _, l := range g.rows() {
		if l.head != "" {
			t.Blocks = append(t.Blocks, pageBlock{Head: l.head})
		}
		b := &t.Blocks[len(t.Blocks)-1]
		b.Rows = append(b.Rows, l.page())
	}
	for _, pl := range ir.Platforms {
		t.Platforms = append(t.Platforms, systemName(pl))
	}
	for _, m := range g.matrix(s) {
		row := pageRow{Name: m.resource.String(), Accept: strings.Join(m.accept, " ")}
		for _, c := range m.cells {
			row.Cells = append(row.Cells, pageCell{c.weakest().String(), c.String()})
		}
		t.Matrix = append(t.Matrix, row)
	}
	rows, why := g.cellRows(s)
	for _, r := range rows {
		row := pageRow{Name: r[0], Rules: clean(r[1])}
		for _, text := range r[2:] {
			is, _, _ := strings.Cut(text, " ")
			row.Cells = append(row.Cells, pageCell{is, text})
		}
		t.Cells = append(t.Cells, row)
	}
	for _, r := range why {
		t.Reasons = append(t.Reasons, clean(r))
	}
	return t
}

func (l line) page() pageLine {
	out := pageLine{Text: clean(l.text()), Note: clean(l.note), From: clean(l.origin),
		Grants: strings.Join(l.grants, " ")}
	if l.at == nil {
		return out
	}
	out.Placed, out.Branches, out.Text = true, l.at.branches, clean(l.at.path)
	if !strings.Contains(out.Note, " ") {
		out.Tag, out.Note = out.Note, ""
	}
	for _, c := range ir.Capabilities {
		class := c.String()
		if ir.Write.Has(c) {
			class = "write"
		}
		out.Caps = append(out.Caps, pageCap{c.String(), class, l.at.caps.Has(c)})
	}
	return out
}

func (c Change) page() pageTool {
	name := clean(c.title())
	t := pageTool{ID: anchor(name), Name: name, Names: []string{name}, Class: c.Verdict.String(), Tag: c.summary()}
	t.TagClass = map[compare.Verdict]string{compare.Widened: "bad", compare.Changed: "bad",
		compare.Narrowed: "good"}[c.Verdict]
	for _, d := range c.Differences {
		t.Differences = append(t.Differences, pageDifference{
			Wider: d.Wider, What: clean(d.What), Where: clean(region(d)), Example: clean(d.Example),
			Because: clean(because(d)), Grants: grantsOf(d),
		})
	}
	for _, v := range c.Settings {
		t.Settings = append(t.Settings,
			pageDifference{What: clean(subject(v)), Where: clean(became(v)), Because: clean(writtenAt(v))})
	}
	return t
}

// anchor is the place of a title in a page, apart from the places of tools for a ruleset.
func anchor(title string) string {
	if name, ok := strings.CutPrefix(title, "ruleset "); ok {
		return "ruleset-" + name
	}
	return "tool-" + title
}

// grantsOf are the words by which a page finds a difference.
func grantsOf(d compare.Difference) string {
	switch d.Resource {
	case ir.FS:
		return strings.Join(slices.DeleteFunc(strings.Fields(d.What), func(w string) bool {
			return !slices.Contains(filters, w)
		}), " ")
	case ir.Net:
		return "network"
	case ir.Env:
		return "env"
	case ir.Commands:
		return "run"
	case ir.Limits, ir.Process:
		return ""
	default:
		return ""
	}
}
