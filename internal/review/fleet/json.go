package fleet

import (
	"github.com/accessc/accessc/internal/review/explain"
)

// Document is the JSON form of a result.
type Document struct {
	Version   int        `json:"format_version"`
	Summary   Summary    `json:"summary"`
	Foreign   int        `json:"other_programs"` // files of the same name that are no manifests
	Manifests []Manifest `json:"manifests"`
	// Question and Answers are about a question; Asked is how many policies were asked.
	Question string      `json:"question,omitempty"`
	Asked    int         `json:"asked,omitempty"`
	Answers  []AnswerDoc `json:"answers,omitempty"`
	Hosts    []HostDoc   `json:"hosts,omitempty"`
	Since    *SinceDoc   `json:"since,omitempty"`
}

// AnswerDoc is an answer other than no.
type AnswerDoc struct {
	Manifest  string  `json:"manifest"`
	Tool      string  `json:"tool"`
	Verdict   Verdict `json:"verdict"`
	Operation string  `json:"operation"`
	Rule      string  `json:"rule,omitempty"`
	At        string  `json:"at,omitempty"`
}

// HostDoc is how a host holds the policies.
type HostDoc struct {
	Host     string    `json:"host"`
	System   string    `json:"system"`
	Landlock int       `json:"landlock_abi"`
	Confines bool      `json:"confines"`
	Tools    int       `json:"tools"`
	Stops    int       `json:"not_started"` // tools that do not start there unless a gap is accepted
	Lacks    []LackDoc `json:"gaps"`
}

// LackDoc is a gap with the tools that have it.
type LackDoc struct {
	Gap   string  `json:"gap"`
	Means string  `json:"means,omitempty"` // the guarantee that is not enforced then, for people
	Tools []Named `json:"tools"`
}

// SinceDoc has the changes since the earlier run.
type SinceDoc struct {
	Added     []string    `json:"added"`   // manifests
	Removed   []string    `json:"removed"` // manifests
	Tools     []ChangeDoc `json:"tools"`
	Rulesets  []Named     `json:"rulesets"`       // that differ
	Otherwise []Named     `json:"held_otherwise"` // tools with the same policy and another ledger
}

// ChangeDoc is the change of a tool.
type ChangeDoc struct {
	Manifest string `json:"manifest"`
	explain.ChangeDoc
}

// JSON returns the machine-readable form.
func (f *Fleet) JSON(q *Question) *Document {
	d := &Document{Version: explain.FormatVersion, Summary: f.Summary(), Foreign: f.Foreign, Manifests: f.Manifests}
	if q != nil {
		d.Question, d.Asked = q.Text, f.Asked
	}
	for _, a := range f.Answers {
		d.Answers = append(d.Answers, AnswerDoc{a.Manifest, a.Tool, a.Verdict, a.Operation, a.Rule, a.At})
	}
	for _, h := range f.Hosts {
		d.Hosts = append(d.Hosts, f.hostDoc(h))
	}
	if f.Since != nil {
		d.Since = f.Since.doc()
	}
	return d
}

func (f *Fleet) hostDoc(h *Held) HostDoc {
	d := HostDoc{
		Host: h.Name, System: h.Report.System, Landlock: h.Report.Landlock, Confines: h.Report.Confines,
		Tools: h.Tools, Stops: h.Stops, Lacks: []LackDoc{},
	}
	for _, l := range h.Lacks {
		gap := LackDoc{Gap: l.Gap, Means: l.Means}
		for _, t := range l.tools {
			gap.Tools = append(gap.Tools, f.named(t))
		}
		d.Lacks = append(d.Lacks, gap)
	}
	return d
}

func (f *Fleet) named(t at) Named { return Named{f.Manifests[t.manifest].Path, f.tool(t).Name} }

func (s *Since) doc() *SinceDoc {
	d := &SinceDoc{
		Added: list(s.Added), Removed: list(s.Removed), Tools: []ChangeDoc{}, Rulesets: list(s.Rulesets),
		Otherwise: list(s.Otherwise),
	}
	for _, c := range s.Changes {
		for _, t := range explain.ChangesJSON([]explain.Change{c.Change}).Tools {
			d.Tools = append(d.Tools, ChangeDoc{c.Manifest, t})
		}
	}
	return d
}

// list is never null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
