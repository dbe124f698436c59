package backends

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Sentences has the words for the causes of a ledger.
// See decision D94.
type Sentences map[ir.CauseID]string

// registered have the words of backends that another room has.
var registered []func() []Sentences

// Register adds the words for the causes of backends that no package of this directory has, such as settings of agents.
// The package that lists them calls it once, before anything is explained.
func Register(words func() []Sentences) { registered = append(registered, words) }

// Registered are the words that Register was given.
func Registered() (out []Sentences) {
	for _, words := range registered {
		out = append(out, words()...)
	}
	return out
}

// The parts of a sentence that a cause fills in.
const (
	placePart = "PLACE"
	capsPart  = "CAPABILITIES"
)

// Of returns the sentence of a cause, with its place and capabilities. A cause without a
// sentence, as a document of a newer version may have, is shown by its identifier.
func (s Sentences) Of(c ir.Cause) string {
	text, ok := s[c.ID]
	if !ok {
		return c.String()
	}
	return strings.NewReplacer(placePart, c.Place, capsPart, c.Caps.String()).Replace(text)
}

// All returns the sentences of several causes as a single text.
func (s Sentences) All(causes []ir.Cause) string {
	texts := make([]string, len(causes))
	for i, c := range causes {
		texts[i] = s.Of(c)
	}
	return strings.Join(texts, "; ")
}

// Row is a row of the enforcement ledger in the form that every document has.
type Row struct {
	Resource string      `json:"resource"`           // one of fs, net, env, commands, limits, process
	Rules    []ir.RuleID `json:"rules"`              // identifiers, such as "fs[0]"
	Aspects  []ir.Aspect `json:"aspects"`            // the parts of the rules that the row is about
	Platform string      `json:"platform,omitempty"` // empty where the document is for a single platform
	// From and To bound the feature levels, inclusive: Landlock ABI versions on linux, 0
	// being a kernel without it; tiers on windows; always 0 elsewhere.
	From int    `json:"from_level"`
	To   int    `json:"to_level"`
	Is   string `json:"is"` // the word of the enforcement
	// Causes, Gap and Evidence are as in ir.Held.
	Causes   []string `json:"causes,omitempty"`
	Gap      string   `json:"gap,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	// Seen are the machines on which all of Evidence has passed, where there are any.
	Seen []string `json:"seen,omitempty"`
}

// NewRow returns a row in the form of documents. Its rules and aspects are the lists of the ledger.
// See decision D330.
func NewRow(r ir.Row) Row {
	out := Row{
		Resource: r.Resource.String(), Rules: r.Rules, Aspects: r.Aspects, From: r.Levels.From, To: r.Levels.To,
		Is: r.Is.String(), Gap: string(r.Gap),
	}
	if r.Platform != 0 {
		out.Platform = r.Platform.String()
	}
	for _, c := range r.Causes {
		out.Causes = append(out.Causes, c.String())
	}
	for _, e := range r.Evidence {
		out.Evidence = append(out.Evidence, string(e))
	}
	return out
}

// NewRows returns a ledger in the form of documents.
func NewRows(l ir.Ledger) []Row {
	out := make([]Row, len(l))
	for i, r := range l {
		out[i] = NewRow(r)
	}
	return out
}

// errRow is wrapped by every error about a row that cannot be read.
var errRow = errors.New("not a row of a ledger")

// Row is the inverse of NewRow. It refuses an unknown resource, enforcement, platform or cause.
func (r Row) Row() (ir.Row, error) {
	resource := slices.IndexFunc(ir.Resources[:], func(x ir.Resource) bool { return x.String() == r.Resource })
	is, known := ir.ParseEnforcement(r.Is)
	if resource < 0 || !known {
		return ir.Row{}, fmt.Errorf("%w: %s is %s", errRow, r.Resource, r.Is)
	}
	out := ir.Row{
		Resource: ir.Resources[resource], Rules: r.Rules, Aspects: r.Aspects,
		Levels: ir.Levels{From: r.From, To: r.To},
		Held:   ir.Held{Is: is, Gap: ir.Gap(r.Gap)},
	}
	for _, e := range r.Evidence {
		out.Evidence = append(out.Evidence, ir.Evidence(e))
	}
	if r.Platform != "" {
		var ok bool
		if out.Platform, ok = ir.ParsePlatform(r.Platform); !ok {
			return ir.Row{}, fmt.Errorf("%w: platform %s", errRow, r.Platform)
		}
	}
	var err error
	out.Causes, err = r.causes()
	return out, err
}

func (r Row) causes() ([]ir.Cause, error) {
	var out []ir.Cause
	for _, text := range r.Causes {
		c, ok := ir.ParseCause(text)
		if !ok {
			return nil, fmt.Errorf("%w: cause %q", errRow, text)
		}
		out = append(out, c)
	}
	return out, nil
}

// Ledger is the inverse of NewRows.
func Ledger(rows []Row) (ir.Ledger, error) {
	out := make(ir.Ledger, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = r.Row(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
