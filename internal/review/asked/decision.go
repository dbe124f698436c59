package asked

import (
	"fmt"
	"io"
	"strings"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ruleset"
)

// Decision is a verdict as JSON.
type Decision struct {
	Verdict string         `json:"verdict"`
	Ask     bool           `json:"ask,omitempty"`
	Ruleset string         `json:"ruleset"`
	Parts   []DecisionPart `json:"parts"`
}

// DecisionPart is the verdict on a part by itself.
type DecisionPart struct {
	Text    string        `json:"text"`
	Verdict string        `json:"verdict"`
	Ask     bool          `json:"ask,omitempty"`
	Rule    *DecisionRule `json:"rule"`
	Why     string        `json:"why"`
}

// DecisionRule is the rule that decided.
type DecisionRule struct {
	Path   string `json:"path"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason,omitempty"`
}

// NewDecision describes a decision of a ruleset. The part that decided is the first one that has
// the verdict of the whole.
func NewDecision(name string, d *ruleset.Decision) *Decision {
	out := &Decision{
		Verdict: d.Outcome.Verdict(),
		Ask:     d.Outcome == ruleset.Ask,
		Ruleset: name,
		Parts:   []DecisionPart{},
	}
	d.Leaves(func(d *ruleset.Decision) {
		p := DecisionPart{Text: d.Text, Verdict: d.Own.Verdict(), Ask: d.Own == ruleset.Ask, Why: d.Why}
		if r := d.Rule; r != nil {
			p.Rule = &DecisionRule{
				Path:   r.Origin.Path,
				File:   r.Origin.Pos.File,
				Line:   r.Origin.Pos.Line,
				Column: r.Origin.Pos.Col,
				Reason: r.Reason,
			}
		}
		out.Parts = append(out.Parts, p)
	})
	return out
}

// PrintDecision prints the verdict and the part that decided.
func PrintDecision(w io.Writer, d *ruleset.Decision) error {
	cause := d.Cause()
	_, err := fmt.Fprintf(w, "%s: %s\n", d.Outcome, visible.Line(cause.Text))
	if err == nil && cause.Why != "" {
		_, err = fmt.Fprintf(w, "  %s\n", visible.Line(cause.Why))
	}
	if err == nil && cause.Rule != nil {
		_, err = fmt.Fprintf(w, "  %s\n", visible.Line(cause.Rule.Place()))
	}
	return err
}

var outcomeColor = map[ruleset.Outcome]string{
	ruleset.Allow: "32", ruleset.Deny: "31", ruleset.Unknown: "33", ruleset.Ask: "33",
}

// ExplainDecision prints the tree of a command line, each part with its verdict.
func ExplainDecision(w io.Writer, color bool, d *ruleset.Decision, depth int) error {
	verdict := fmt.Sprintf("%-7s", d.Outcome)
	if color {
		verdict = "\x1b[" + outcomeColor[d.Outcome] + "m" + verdict + "\x1b[0m"
	}
	indent := strings.Repeat("  ", depth)
	if _, err := fmt.Fprintf(w, "%s %s%s\n", verdict, indent, visible.Line(d.Text)); err != nil {
		return err
	}
	if d.Why != "" {
		why := d.Why
		if d.Own != d.Outcome {
			why = d.Own.String() + " by itself: " + why
		}
		if d.Rule != nil {
			why += ": " + d.Rule.Place()
		}
		if _, err := fmt.Fprintf(w, "        %s· %s\n", indent, visible.Line(why)); err != nil {
			return err
		}
	}
	for i := range d.Parts {
		if err := ExplainDecision(w, color, &d.Parts[i], depth+1); err != nil {
			return err
		}
	}
	return nil
}
