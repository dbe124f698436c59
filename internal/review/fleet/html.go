package fleet

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"

	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// The page is one file without any script: no part of it is fetched from anywhere.
var (
	//go:embed page/page.tmpl
	pageTemplate string
	//go:embed page/page.css
	pageStyle string
)

// section is a part of the page: lines, and a table.
type section struct {
	Head    string
	Lines   []string
	Columns []string
	Rows    []row
	More    string
}

type row struct {
	Class string
	Cells []string
}

// add adds a row of foreign text.
func (s *section) add(class string, cells ...string) {
	out := row{Class: class}
	for _, c := range cells {
		out.Cells = append(out.Cells, visible.Text(c))
	}
	s.Rows = append(s.Rows, out)
}

// HTML writes a result as a single page that needs nothing else.
func (f *Fleet) HTML(w io.Writer, o Output) error {
	s := f.Summary()
	data := struct {
		Policy, Title, Subtitle string
		Style                   template.CSS
		Sections                []section
	}{
		Title: "accessc fleet", Subtitle: plural.Count(s.Manifests, "manifest") + ", " + plural.Count(s.Tools, "tool"),
		Style: template.CSS(pageStyle),
	}
	for _, part := range f.sections(s, o) {
		if more := len(part.Rows) - o.Most; more > 0 {
			part.Rows, part.More = part.Rows[:o.Most], "and "+count(more)+" more; --format json has them all"
		}
		data.Sections = append(data.Sections, part)
	}
	sum := sha256.Sum256([]byte(pageStyle))
	data.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
	t, err := template.New("").Parse(pageTemplate)
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "page", data)
}

func (f *Fleet) sections(s Summary, o Output) []section {
	var out []section
	if s.Problems > 0 {
		out = append(out, f.problemsSection())
	}
	if o.Question != nil {
		out = append(out, f.answersSection(o.Question))
	}
	out = append(out, summarySection(s))
	for _, h := range f.Hosts {
		out = append(out, f.hostSection(h))
	}
	if f.Since != nil {
		out = append(out, f.Since.section())
	}
	return append(out, f.toolsSection(max(o.Risk, ir.RiskLow)))
}

func (f *Fleet) problemsSection() section {
	out := section{Head: "Problems", Columns: []string{"class", "manifest", "tool", "detail"}}
	for i := range f.Manifests {
		for _, p := range f.Manifests[i].Problems {
			out.add("bad", string(p.Class), f.Manifests[i].Path, p.Tool, p.Detail)
		}
	}
	return out
}

func (f *Fleet) answersSection(q *Question) section {
	out := section{
		Head: "Who may " + visible.Text(q.Text), Columns: []string{"", "manifest", "tool", "operation", "rule"},
		Lines: []string{plural.Count(len(f.Answers), "tool") + " of " + count(f.Asked)},
	}
	for _, a := range f.Answers {
		out.add("warn", string(a.Verdict), a.Manifest, a.Tool, a.Operation, a.by())
	}
	return out
}

func summarySection(s Summary) section {
	out := section{Head: "Summary", Columns: []string{"", "", "tools", "manifests", "such as"}, Lines: []string{
		"risk: high " + count(s.High) + ", medium " + count(s.Medium) + ", low " + count(s.Low) +
			not(s.Tools-s.Confined, "not started by accessc"),
		"artifacts: " + artifacts(s.Artifacts), "checked: " + checked(s),
	}}
	for _, part := range []struct {
		head, class string
		list        []Count
	}{
		{"sensitive", "warn", s.Sensitive}, {"outside", "", s.Outside}, {"written", "warn", s.Written},
		{"network", "", s.Network},
		{"listens", "", s.Listens}, {"accepted", "", s.Accepts},
	} {
		for _, c := range part.list {
			out.add(part.class, part.head, c.Name, count(c.Tools), count(c.Manifests),
				c.First.Manifest+": "+c.First.Name)
		}
	}
	return out
}

func (f *Fleet) hostSection(h *Held) section {
	out := section{
		Head: "Host " + visible.Text(h.Name), Columns: []string{"gap", "tools", "such as", "what is not enforced"},
		Lines: []string{
			visible.Text(h.Report.System) + level(h),
			count(h.Stops) + " of " + plural.Count(h.Tools, "tool") + " not started here",
		},
	}
	for _, l := range h.Lacks {
		n := f.named(l.tools[0])
		out.add("warn", l.Gap, count(l.Count), n.Manifest+": "+n.Name, l.Means)
	}
	return out
}

func (s *Since) section() section {
	more, less := s.directions()
	out := section{
		Head: "Since", Columns: []string{"", "manifest", "tool", "class", "what", "where", "example"},
		Lines: []string{
			plural.Count(len(s.Added), "manifest") + " new, " + plural.Count(len(s.Removed), "manifest") + " gone",
			plural.Count(more, "tool") + " may do more, " + plural.Count(less, "tool") + " may do less",
		},
	}
	for _, m := range s.Added {
		out.add("warn", "new", m)
	}
	for _, m := range s.Removed {
		out.add("", "gone", m)
	}
	for _, n := range s.Rulesets {
		out.add("warn", "ruleset changed", n.Manifest, n.Name)
	}
	for _, n := range s.Otherwise {
		out.add("warn", "held otherwise", n.Manifest, n.Name)
	}
	for _, c := range s.Changes {
		wider := explain.Widenings([]explain.Change{c.Change})
		for _, w := range wider {
			out.add("bad", "wider", c.Manifest, c.Name, w.Class, w.Difference.What, w.Difference.Where,
				w.Difference.Example)
		}
		if len(wider) == 0 {
			out.add("good", c.Verdict.String(), c.Manifest, c.Name)
		}
	}
	return out
}

func (f *Fleet) toolsSection(least ir.Risk) section {
	out := section{Head: "Tools", Columns: []string{"risk", "manifest", "tool", "because"}}
	class := map[ir.Risk]string{ir.RiskHigh: "bad", ir.RiskMedium: "warn", ir.RiskLow: "good"}
	for _, a := range f.risky(least) {
		t := f.tool(a)
		out.add(class[ir.ParseRisk(t.Risk)], t.Risk, f.Manifests[a.manifest].Path, t.Name, t.because())
	}
	return out
}
