package diag

import (
	"cmp"
	"slices"

	"github.com/accessc/accessc/ir"
)

// Severity says whether a diagnostic stops the run.
type Severity uint8

// The severities. The zero value stops the run. No code has the severity of a note: it is for
// reports that contain more than problems.
const (
	Error Severity = iota
	Warning
	Note
)

// String returns the word that every format uses.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Note:
		return "note"
	default:
		return "error"
	}
}

// Diagnostic is a finding. Code, Message and Severity follow from the code's
// entry in the registry; use New.
type Diagnostic struct {
	Code     Code     // the kind of finding
	Severity Severity // error, warning or note
	Message  string   // one sentence
	// Path is the configuration path, such as conversation.tools.x.access.fs[2].path.
	Path string
	// At is where the source line is; Span is how many bytes of it the caret covers.
	At   ir.Pos
	Span int
	// Label is the text behind the caret.
	Label string
	// Related are further places that explain the finding.
	Related []Related
	// Hint is a suggested change; empty if there is none.
	Hint string
}

// Related is another place that takes part in a finding.
type Related struct {
	At ir.Pos // the place
	// Note says how the place takes part.
	Note string
}

// New starts a diagnostic of the given code at a place. The message is the code's
// title; callers that know more say it in the label.
func New(code Code, at ir.Pos, span int) Diagnostic {
	e := registry()[code]
	return Diagnostic{Code: code, Severity: e.severity, Message: e.title, At: at, Span: span}
}

// List is the findings of a run.
type List []Diagnostic

// Add appends findings.
func (l *List) Add(ds ...Diagnostic) { *l = append(*l, ds...) }

// Failed reports whether any finding stops the run.
func (l List) Failed() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Count returns how many findings have a severity.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// Sort orders findings by place and drops exact repetitions, which arise when a file reaches a tool along two ways.
func (l *List) Sort() {
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Col, b.At.Col),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Label, b.Label),
		)
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.Code == b.Code && a.At == b.At && a.Path == b.Path && a.Label == b.Label
	})
}

// Lines gives the renderers the text of a source line, without its newline.
type Lines interface {
	Line(file string, line int) (string, bool)
}
