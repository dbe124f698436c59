package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// maxRejudged bounds the rules that a text shows of each list. JSON has all.
const maxRejudged = 10

// ReplayText is the judgement of recorded runs for a terminal.
func ReplayText(all []Replayed, s Style) string {
	var b strings.Builder
	b.WriteString("\n" + replayHeadline(all) + "\n")
	for _, x := range all {
		b.WriteString("\n" + s.paint(bold, clean(x.Tool)) + "    " + x.counts() + "\n")
		var rows [][]string
		for _, d := range x.differing() {
			rows = append(rows, []string{d.mark, d.Example, "×" + strconv.Itoa(d.Times), d.because(), d.Run})
		}
		for _, u := range x.Unused {
			rows = append(rows, []string{"?", u.Rule.Subject(), "never used: " + u.Grants,
				u.Rule.Source().String(), ""})
		}
		wrapped, _ := s.fit(rows, 2)
		for _, row := range table(wrapped) {
			b.WriteString("  " + strings.TrimRight(row, " ") + "\n")
		}
		for _, n := range x.notes() {
			b.WriteString("  " + n + "\n")
		}
	}
	return b.String()
}

// ReplayMarkdown is the judgement as a part of a comment.
func ReplayMarkdown(all []Replayed) string {
	var b strings.Builder
	b.WriteString("\n### accessc: " + replayHeadline(all) + "\n")
	var rows, notes []string
	for _, x := range all {
		for _, d := range x.differing() {
			what := "permitted now"
			if d.mark == "-" {
				what = "refused now"
			}
			rows = append(rows, "| "+strings.Join([]string{code(x.Tool), what, code(d.Example), strconv.Itoa(d.Times),
				escape(d.because())}, " | ")+" |")
		}
		for _, u := range x.Unused {
			rows = append(rows, "| "+strings.Join([]string{code(x.Tool), "never used: " + u.Grants,
				code(u.Rule.Subject()), "", escape(u.Rule.Source().String())}, " | ")+" |")
		}
		for _, n := range append([]string{x.counts()}, x.notes()...) {
			notes = append(notes, "- "+code(x.Tool)+": "+escape(n))
		}
	}
	if len(rows) > 0 {
		b.WriteString("\n| tool | | what | times | because |\n|---|---|---|---|---|\n" +
			strings.Join(rows, "\n") + "\n")
	}
	b.WriteString("\n" + strings.Join(notes, "\n") + "\n")
	return b.String()
}

func replayHeadline(all []Replayed) string {
	runs, refused, tools := 0, 0, 0
	for _, x := range all {
		runs += x.Runs
		if len(x.Refused) > 0 {
			tools++
		}
		for _, d := range x.Refused {
			refused += d.Times
		}
	}
	said := plural.Count(runs, "recorded run") + ": "
	if refused == 0 {
		return said + "nothing that they were permitted would be refused"
	}
	return said + plural.Count(refused, "operation") + " of " + plural.Count(tools, "tool") + " would be refused"
}

func (x Replayed) counts() string {
	s := plural.Count(x.Runs, "run") + ", " + plural.Count(x.Accesses, "operation")
	if x.Untraced > 0 {
		s += "; " + plural.Count(x.Untraced, "record") + " without accesses, made without --trace"
	}
	return s
}

// notes are the counts that the lists do not show.
func (x Replayed) notes() []string {
	var out []string
	if more := max(len(x.Refused)-maxRejudged, 0) + max(len(x.Permitted)-maxRejudged, 0); more > 0 {
		out = append(out, "and by "+plural.Count(more, "rule")+" more; --format json has all")
	}
	if x.Otherwise > 0 {
		out = append(out, plural.Count(x.Otherwise, "operation")+
			" judged otherwise by the old side than in the run: it had another policy, "+
			"such as a layer that is not committed")
	}
	if x.LeftOut > 0 {
		out = append(out, plural.Count(x.LeftOut, "operation")+
			" not in the records: beyond their size, or refused by no rule")
	}
	if len(x.Unused) > 0 {
		out = append(out, plural.Count(x.Runs, "run")+
			"; absence of use is no proof. Not looked at: variables, and requests to hosts by name")
	}
	return out
}

// marked is a difference with its sign.
type marked struct {
	Rejudged
	mark string
}

func (x Replayed) differing() []marked {
	var out []marked
	for _, d := range x.Refused[:min(len(x.Refused), maxRejudged)] {
		out = append(out, marked{d, "-"})
	}
	for _, d := range x.Permitted[:min(len(x.Permitted), maxRejudged)] {
		out = append(out, marked{d, "+"})
	}
	return out
}

// because is the rule that decides now.
func (d Rejudged) because() string {
	switch {
	case d.Rule == nil:
		return "no rule"
	case d.Reason == ir.ReasonPinned || d.Reason == ir.ReasonNoGain:
		return fmt.Sprintf("%s: rule %s, %s", d.Reason, d.Rule.Subject(), d.Rule.Source())
	default:
		return fmt.Sprintf("rule %s, %s", d.Rule.Subject(), d.Rule.Source())
	}
}

// ReplayDoc is a tool's part of the judgement of recorded runs.
type ReplayDoc struct {
	Tool      string        `json:"tool"`
	Runs      int           `json:"runs"`
	Untraced  int           `json:"untraced"`
	Accesses  int           `json:"accesses"`
	LeftOut   int           `json:"left_out"`
	Otherwise int           `json:"judged_otherwise"`
	Refused   []RejudgedDoc `json:"refused"`
	Permitted []RejudgedDoc `json:"permitted"`
	Unused    []UnusedDoc   `json:"unused"`
}

// RejudgedDoc are the accesses on which a rule of the new side differs.
type RejudgedDoc struct {
	Times   int    `json:"times"`
	Example string `json:"example"`
	Run     string `json:"run"`
	Reason  string `json:"reason"`
	Rule    string `json:"rule,omitempty"`
	Source  string `json:"source,omitempty"`
}

// UnusedDoc is a rule with the capabilities that no run used.
type UnusedDoc struct {
	Rule   string `json:"rule"`
	Source string `json:"source"`
	Grants string `json:"grants"`
}

// ReplayJSON returns the machine-readable form.
func ReplayJSON(all []Replayed) []ReplayDoc {
	out := []ReplayDoc{}
	for _, x := range all {
		d := ReplayDoc{
			Tool: x.Tool, Runs: x.Runs, Untraced: x.Untraced, Accesses: x.Accesses, LeftOut: x.LeftOut,
			Otherwise: x.Otherwise, Refused: rejudgedDocs(x.Refused),
			Permitted: rejudgedDocs(x.Permitted), Unused: []UnusedDoc{},
		}
		for _, u := range x.Unused {
			d.Unused = append(d.Unused, UnusedDoc{u.Rule.Subject(), u.Rule.Source().String(), u.Grants})
		}
		out = append(out, d)
	}
	return out
}

func rejudgedDocs(all []Rejudged) []RejudgedDoc {
	out := []RejudgedDoc{}
	for _, d := range all {
		doc := RejudgedDoc{Times: d.Times, Example: d.Example, Run: d.Run, Reason: d.Reason.String()}
		if d.Rule != nil {
			doc.Rule, doc.Source = d.Rule.Subject(), d.Rule.Source().String()
		}
		out = append(out, doc)
	}
	return out
}
