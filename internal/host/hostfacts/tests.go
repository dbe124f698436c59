package hostfacts

import (
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
)

// Tested is one assertion of access.tests and the policy's answer to it.
type Tested struct {
	Assertion ir.Assertion
	Question  resolve.Question
	Operation ir.Operation
	Verdict   ir.Verdict
	// Considered are the rules that match, the deciding rule first.
	Considered []ir.Considered
	// Err is the reason why the question could not be asked; the fields above are then not set.
	Err error
}

// Holds reports whether the policy gives the expected answer.
func (x Tested) Holds() bool { return x.Err == nil && x.Verdict.Allowed() == x.Assertion.Allow }

// Test asks a tool's policy its own questions. They are judged like a tool's arguments, on the
// tree as it is here. In a portable compilation external rules lead where their symlinks do,
// approved or not.
func (r *Result) Test(t *ir.Tool) []Tested {
	if len(t.Tests) == 0 {
		return nil
	}
	if t.Commands != nil && !r.resolved {
		t = r.withPrograms(t)
	}
	facts := r.Facts(t)
	facts.Located = false
	for name, found := range r.leads(t) {
		if !r.resolved && (found.Kind != ir.Absent || found.Direct) {
			facts.Bindings.External[name] = found.Abs
		}
	}
	view := ir.NewView(t, Platform(), facts)
	asker := resolve.Asker{Resolver: r.Resolver, Bindings: facts.Bindings, Lookup: r.Lookup(t), Named: true}
	var out []Tested
	for _, a := range t.Tests {
		x := Tested{Assertion: a}
		// The form was checked when the test was read.
		words, _ := split.Words(a.Question)
		x.Question, _ = resolve.ParseQuestion(words)
		if x.Operation, x.Err = asker.Operation(x.Question); x.Err == nil {
			x.Verdict = view.Decide(x.Operation)
			x.Considered = view.Trace(x.Operation, x.Verdict)
		}
		out = append(out, x)
	}
	return out
}

// withPrograms returns the tool with the files of its programs that exist here. The others are
// asked about by their names, so that tests pass where programs are not installed.
func (r *Result) withPrograms(t *ir.Tool) *ir.Tool {
	out := *t
	out.Commands = &ir.CommandSet{Rules: slices.Clone(t.Commands.Rules), Origin: t.Commands.Origin}
	r.locate(&out)
	return &out
}

// Finding describes a failed assertion, with the rules that led to the answer.
func (x Tested) Finding() diag.Diagnostic {
	a, code := x.Assertion, diag.TestFailed
	if x.Err != nil {
		code = diag.BadTest
	}
	d := diag.New(code, a.Origin.Pos, len(a.Question)+2)
	d.Path = a.Origin.Path
	if x.Err != nil {
		d.Label = x.Err.Error()
		return d
	}
	want := ir.Deny
	if a.Allow {
		want = ir.Allow
	}
	d.Label = fmt.Sprintf("found %s (%s), expected %s", x.Verdict.Effect, x.Verdict.Reason, want)
	for _, c := range x.Considered {
		note := "decides: " + subject(c.Rule)
		if !c.Wins {
			note = subject(c.Rule) + ": " + c.Note
		}
		o := c.Rule.Source()
		if o.Pos.File == "" {
			note += " (" + o.String() + ")"
		}
		d.Related = append(d.Related, diag.Related{At: o.Pos, Note: note})
	}
	return d
}

// subject returns the subject of a rule, and its grant.
func subject(r ir.Rule) string {
	switch r := r.(type) {
	case *ir.FSRule:
		return r.Subject() + "  " + r.Caps.String()
	case *ir.NetRule:
		if r.Allow {
			return r.Subject() + "  allow"
		}
		return r.Subject() + "  deny"
	case *ir.EnvRule:
		if r.Read {
			return r.Subject() + "  read"
		}
		return r.Subject() + "  –"
	case *ir.CommandRule:
		return r.Subject()
	default:
		return ""
	}
}
