package fleet

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// Output is how a result is shown.
type Output struct {
	Style explain.Style
	// Question is the question that the answers are about, nil for none. Risk is the least risk of the tools to list, 0
	// for none.
	Question *Question
	Risk     ir.Risk
	// Most is how many lines of each list are shown.
	Most int
}

// margin is where the second column begins.
const margin = 13

// Text prints a result for a terminal.
func (f *Fleet) Text(o Output) string {
	b := &pageText{Output: o}
	s := f.Summary()
	b.problems(f, s)
	switch {
	case o.Question != nil:
		b.answers(f, s)
	case o.Risk != 0:
		b.risky(f)
	default:
		b.summary(f, s)
	}
	for _, h := range f.Hosts {
		b.host(f, h)
	}
	if f.Since != nil {
		b.since(f.Since)
	}
	return b.String()
}

// pageText is text as it grows.
type pageText struct {
	strings.Builder
	Output
}

// line writes a line under a head, which stands once.
func (b *pageText) line(head, text string) {
	line := fmt.Sprintf("%-*s%s", margin, head, visible.Text(text))
	b.WriteString(b.Style.Hang(strings.TrimRight(line, " ")+"\n", margin))
}

// rows writes the first rows of a table under a head.
func (b *pageText) rows(head string, rows [][]string) {
	more := len(rows) - b.Most
	for i, line := range strings.Split(strings.TrimSuffix(explain.Table(rows[:min(len(rows), b.Most)]), "\n"), "\n") {
		if i > 0 {
			head = ""
		}
		b.line(head, line)
	}
	if more > 0 {
		b.line("", "and "+count(more)+" more; --format json has them all")
	}
}

func (b *pageText) problems(f *Fleet, s Summary) {
	if s.Problems == 0 {
		return
	}
	var rows [][]string
	for i := range f.Manifests {
		m := &f.Manifests[i]
		for _, p := range m.Problems {
			rows = append(rows, []string{m.Path, p.Tool, string(p.Class), p.Detail})
		}
	}
	b.rows("problems", rows)
	b.WriteByte('\n')
}

func (b *pageText) summary(f *Fleet, s Summary) {
	b.line("fleet", plural.Count(s.Manifests, "manifest")+", "+plural.Count(s.Tools, "tool")+
		not(s.Tools-s.Confined, "not started by accessc"))
	if f.Foreign > 0 {
		b.line("", plural.Count(f.Foreign, "file")+" of other programs named manifest.json, not looked at")
	}
	b.line("risk", fmt.Sprintf("high %s, medium %s, low %s%s", count(s.High), count(s.Medium), count(s.Low),
		not(s.Live, "may be granted more while they run")))
	b.counts("sensitive", s.Sensitive)
	b.counts("outside", s.Outside)
	b.counts("written", s.Written)
	if s.Networked == 0 {
		b.line("network", "no tool reaches any host")
	} else {
		b.counts("network", s.Network)
	}
	b.counts("listens", s.Listens)
	b.counts("accepted", s.Accepts)
	b.line("artifacts", artifacts(s.Artifacts))
	b.line("checked", checked(s))
}

// not is a number with words that are left out where it is 0.
func not(n int, words string) string {
	if n == 0 {
		return ""
	}
	return "; " + count(n) + " " + words
}

func artifacts(a Artifacts) string {
	if a == (Artifacts{}) {
		return "none listed"
	}
	out := count(a.Match) + " as listed, " + count(a.Wrong) + " otherwise"
	if a.Absent > 0 {
		out += ", " + count(a.Absent) + " not beside their manifest"
	}
	return out
}

func checked(s Summary) string {
	if s.Verified == s.Manifests && s.Manifests > 0 {
		return "every hash; every policy of a portable build compiled anew"
	}
	return "every hash; ledgers are those of the manifests (--verify compiles them anew)"
}

func (b *pageText) counts(head string, list []Count) {
	if len(list) == 0 {
		return
	}
	rows := make([][]string, len(list))
	for i, c := range list {
		rows[i] = []string{c.Name, plural.Count(c.Tools, "tool"), "in " + plural.Count(c.Manifests, "manifest"),
			"such as " + c.First.Manifest + ": " + c.First.Name}
		if c.Tools == 1 {
			rows[i] = []string{c.Name, "1 tool", "", c.First.Manifest + ": " + c.First.Name}
		}
	}
	b.rows(head, rows)
}

func (b *pageText) answers(f *Fleet, s Summary) {
	var rows [][]string
	for _, a := range f.Answers {
		rows = append(rows, []string{string(a.Verdict), a.Manifest, a.Tool, a.Operation, a.by()})
	}
	if len(rows) > 0 {
		b.rows("may", rows)
	}
	head := plural.Count(len(f.Answers), "tool") + " of " + count(f.Asked) + " may " + b.Question.Text
	b.line("", head+not(s.Tools-f.Asked, "without a policy to ask: not started by accessc, or a problem above"))
	b.legend(f.Answers)
}

// legend explains the verdicts that are neither yes nor no.
func (b *pageText) legend(answers []Answered) {
	seen := map[Verdict]bool{}
	for _, a := range answers {
		seen[a.Verdict] = true
	}
	if seen[Ask] {
		b.line("", "ask: if the user grants it while the tool runs")
	}
	if seen[Maybe] {
		b.line("", "maybe: if the symlink of that external rule leads there, which no manifest says")
	}
}

// by is the rule and its place.
func (a Answer) by() string {
	switch {
	case a.Rule == "" && a.At == "":
		return "nothing restricts it"
	case a.At == "":
		return a.Rule
	}
	return a.Rule + " (" + a.At + ")"
}

func (b *pageText) risky(f *Fleet) {
	var rows [][]string
	all := f.risky(b.Risk)
	for _, a := range all {
		t := f.tool(a)
		rows = append(rows, []string{t.Risk, f.Manifests[a.manifest].Path, t.Name, t.because()})
	}
	if len(rows) > 0 {
		b.rows("risk", rows)
	}
	higher := " or higher"
	if b.Risk == ir.RiskHigh {
		higher = ""
	}
	b.line("", plural.Count(len(all), "tool")+" of risk "+b.Risk.String()+higher)
}

func (b *pageText) host(f *Fleet, h *Held) {
	b.WriteByte('\n')
	b.line("host", h.Name+": "+h.Report.System+level(h))
	switch {
	case !h.Report.Confines:
		b.line("", "no tool is started here: it confines none")
	case len(h.Lacks) == 0:
		b.line("", "holds the rules of all "+plural.Count(h.Tools, "tool"))
	default:
		b.line("", count(h.Stops)+" of "+plural.Count(h.Tools, "tool")+
			" not started here, unless these gaps are accepted")
	}
	var rows [][]string
	for _, l := range h.Lacks {
		first := l.tools[0]
		rows = append(rows, []string{
			l.Gap, plural.Count(l.Count, "tool"),
			"such as " + f.Manifests[first.manifest].Path + ": " + f.tool(first).Name, l.Means,
		})
	}
	if len(rows) > 0 {
		b.rows("", rows)
	}
}

func level(h *Held) string {
	if h.platform == ir.Linux {
		return ", Landlock ABI " + strconv.Itoa(h.Report.Landlock)
	}
	return ""
}

func (b *pageText) since(s *Since) {
	b.WriteByte('\n')
	b.line("since", plural.Count(len(s.Added), "manifest")+" new, "+plural.Count(len(s.Removed), "manifest")+" gone")
	for _, list := range []struct {
		word  string
		paths []string
	}{{"new", s.Added}, {"gone", s.Removed}} {
		var rows [][]string
		for _, p := range list.paths {
			rows = append(rows, []string{list.word, p})
		}
		if len(rows) > 0 {
			b.rows("", rows)
		}
	}
	for _, list := range []struct {
		word  string
		named []Named
	}{{"ruleset changed", s.Rulesets}, {"held otherwise", s.Otherwise}} {
		var rows [][]string
		for _, n := range list.named {
			rows = append(rows, []string{list.word, n.Manifest, n.Name})
		}
		if len(rows) > 0 {
			b.rows("", rows)
		}
	}
	more, less := s.directions()
	b.line("", plural.Count(more, "tool")+" may do more, "+plural.Count(less, "tool")+" may do less")
	_, list, _ := strings.Cut(explain.ChangesText(s.titled(b.Most), b.Style), "\n")
	b.WriteString(list)
	if more := len(s.Changes) - b.Most; more > 0 {
		b.line("", "and "+count(more)+" more; --format json has them all")
	}
}

// directions counts the tools that may do more, and the tools that may do less.
func (s *Since) directions() (more, less int) {
	for _, c := range s.Changes {
		if c.Verdict == compare.Widened || c.Verdict == compare.Changed {
			more++
		}
		if c.Verdict == compare.Narrowed || c.Verdict == compare.Changed {
			less++
		}
	}
	return more, less
}

// titled are the first changes, each with the name of its manifest.
func (s *Since) titled(most int) []explain.Change {
	out := make([]explain.Change, min(len(s.Changes), most))
	for i := range out {
		out[i] = s.Changes[i].Change
		out[i].Name = s.Changes[i].Manifest + ": " + out[i].Name
	}
	return out
}

// count writes a number with its thousands apart.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
