package asked

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
)

// Policy is a tool's policy, ready for questions.
type Policy struct {
	asker  resolve.Asker
	view   *ir.View
	ledger ir.Ledger
	// live is set where operations can be granted while the tool runs.
	live *ir.Live
}

// Prepare compiles a tool for all systems, for the ledger of the answers.
func Prepare(res *hostfacts.Result, t *ir.Tool) (*Policy, error) {
	facts := res.Facts(t)
	out, _, err := build.Compile(t, registry.All, backends.Target{Form: backends.Portable})
	a := &Policy{
		asker: resolve.Asker{
			Resolver: res.Resolver,
			Bindings: facts.Bindings,
			Program:  facts.Program,
			Lookup:   res.Lookup(t),
		},
		view:   ir.NewView(t, hostfacts.Platform(), facts),
		ledger: out.Ledger,
	}
	if len(t.May)+len(t.MayNet) > 0 {
		a.live = ir.NewLive(t, hostfacts.Platform(), facts)
	}
	return a, err
}

// Answer answers a question; kernel is true for one as a system call asks it.
func (a *Policy) Answer(q resolve.Question, kernel bool) (*explain.Answer, error) {
	asker := a.asker
	asker.Kernel = kernel
	op, err := asker.Operation(q)
	if err != nil {
		return nil, err
	}
	out := &explain.Answer{View: a.view, Question: q, Operation: op, Verdict: a.view.Decide(op), Ledger: a.ledger}
	out.Considered = a.view.Trace(op, out.Verdict)
	out.Live = a.live
	asTool := []ir.Reason{ir.ReasonAbsolute, ir.ReasonOutside, ir.ReasonEscape}
	if !kernel && slices.Contains(asTool, out.Verdict.Reason) {
		if out.System, err = a.Answer(q, true); err == nil && slices.Contains(asTool, out.System.Verdict.Reason) {
			out.System = nil // no path at all
		}
	}
	return out, err
}

// Ask puts a question to a tool's policy on this host.
func Ask(res *hostfacts.Result, t *ir.Tool, q resolve.Question, kernel bool) (*explain.Answer, error) {
	a, err := Prepare(res, t)
	if err != nil {
		return nil, err
	}
	return a.Answer(q, kernel)
}
