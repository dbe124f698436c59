// Package tested asks the tests of policies, and the kernel of this host as well: each answer with the rules that led
// to it, as text, as findings, and as an attestation has it.
package tested

import (
	"errors"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/enforce/kerneltest"
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/review/sides"
	"github.com/accessc/accessc/ir"
)

// Run is one run of the tests of tools.
type Run struct {
	Result *hostfacts.Result
	Style  explain.Style
	// Kernel tries each question on the kernel as well; Accept are gaps that are accepted then.
	Kernel bool
	Accept []string
	// Say gets the text about each tool, Unheld why this host could not start one.
	Say    func(text string)
	Unheld func(tool string, why error)

	Doc      explain.TestedDocument
	Findings diag.List
	// Missed is true where this host could not start a tool.
	Missed bool
}

// Tool asks the tests of a tool.
func (r *Run) Tool(t *ir.Tool) error {
	asked := r.Result.Test(t)
	if len(asked) == 0 {
		return nil
	}
	p, err := sides.PolicyOf(t, ir.Facts{Protected: r.Result.Protected(t)})
	if err != nil {
		return err
	}
	style := r.Style
	view := ir.NewView(t, hostfacts.Platform(), r.Result.Facts(t))
	var xs []explain.Tested
	kernel := r.Kernel
	for _, x := range asked {
		out := explain.Tested{Assertion: x.Assertion, Err: x.Err}
		if x.Err == nil {
			out.Answer = &explain.Answer{
				View: view, Question: x.Question, Operation: x.Operation, Verdict: x.Verdict, Considered: x.Considered,
				Ledger: p.Ledger,
			}
		}
		if !x.Holds() {
			r.Findings.Add(x.Finding())
		}
		if kernel && x.Err == nil {
			var unheld *start.Error
			if out.Kernel, err = r.kernel(t, out.Answer); errors.As(err, &unheld) {
				r.Unheld(t.Name, unheld)
				kernel, r.Missed = false, true
			} else if err != nil {
				return err
			}
			if x.Holds() && out.KernelFails(style) {
				r.Findings.Add(kernelFinding(x, out.Note(style)))
			}
		}
		xs = append(xs, out)
	}
	r.Say(explain.TestedText(t.Name, xs, style))
	r.Doc.Add(t.Name, xs, style)
	return nil
}

// kernel tries one question.
func (r *Run) kernel(t *ir.Tool, a *explain.Answer) (*explain.KernelAnswer, error) {
	under, above := r.Result.Within(t, r.Accept)
	if above.Failed() {
		return nil, &start.Error{Code: start.CodeFailed, Err: errors.New(above[0].Message + ": " + above[0].Label)}
	}
	try := kerneltest.Trial{
		Tool: t, Facts: r.Result.Facts(t), Lookup: r.Result.Lookup(t), Compile: resolved.Artifact, Accept: r.Accept,
		Under: under,
	}
	o, err := try.Ask(a.Question)
	if err != nil {
		return nil, err
	}
	k := &explain.KernelAnswer{
		Tried:    o.Tried,
		Allowed:  o.Allowed,
		Errno:    o.Errno,
		Why:      o.Why,
		Accepted: slices.Clone(r.Accept),
	}
	for _, x := range t.Accept {
		k.Accepted = append(k.Accepted, string(x.Gap))
	}
	if o.Tried {
		k.Asked = &explain.Answer{
			View: o.View, Question: a.Question, Operation: o.Operation, Verdict: o.Verdict,
			Considered: o.View.Trace(o.Operation, o.Verdict), Ledger: a.Ledger,
		}
	}
	return k, nil
}

// kernelFinding is a wrong answer of the kernel as a finding.
func kernelFinding(x hostfacts.Tested, note string) diag.Diagnostic {
	at := x.Assertion.Origin
	d := diag.New(diag.TestFailed, at.Pos, len(x.Assertion.Question)+2)
	d.Path, d.Label = at.Path, "the kernel answers otherwise: "+note
	return d
}

// Cases are the tests as an attestation has them.
func (r *Run) Cases() (out []attest.Case) {
	for _, x := range r.Doc.Tests {
		out = append(out, caseOf(x))
	}
	return out
}

func caseOf(x explain.TestedDoc) attest.Case {
	out := attest.Case{Tool: x.Tool, Expect: x.Expect, Question: x.Question, Holds: x.Holds, Note: x.Error}
	if x.Answer != nil {
		out.Policy = x.Answer.Verdict
	}
	if k := x.Kernel; k != nil {
		out.Kernel, out.Errno, out.Note, out.Holds = k.Verdict, k.Errno, k.Note, x.Holds && k.Holds
	}
	return out
}

// New begins a run.
func New(res *hostfacts.Result, style explain.Style) *Run {
	return &Run{
		Result: res, Style: style,
		Doc: explain.TestedDocument{Version: explain.FormatVersion, Tests: []explain.TestedDoc{}},
		Say: func(string) {}, Unheld: func(string, error) {},
	}
}
