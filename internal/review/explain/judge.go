package explain

import (
	"slices"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Judge answers questions about a tool's policy on a system.
type Judge struct {
	Asker  resolve.Asker // evaluates the questions
	view   *ir.View
	ledger ir.Ledger
	// live is set where operations can be granted while the tool runs.
	live *ir.Live
}

// NewJudge prepares a tool for questions; the ledger is its own, of all systems.
func NewJudge(t *ir.Tool, on ir.Platform, facts ir.Facts, asker resolve.Asker, ledger ir.Ledger) *Judge {
	j := &Judge{Asker: asker, view: ir.NewView(t, on, facts), ledger: ledger}
	if len(t.May)+len(t.MayNet) > 0 {
		j.live = ir.NewLive(t, on, facts)
	}
	return j
}

// Answer answers a question; kernel is true for one as a system call asks it.
func (j *Judge) Answer(q resolve.Question, kernel bool) (*Answer, error) {
	asker := j.Asker
	asker.Kernel = kernel
	op, err := asker.Operation(q)
	if err != nil {
		return nil, err
	}
	out := &Answer{View: j.view, Question: q, Operation: op, Verdict: j.view.Decide(op), Ledger: j.ledger}
	out.Considered = j.view.Trace(op, out.Verdict)
	out.Live = j.live
	asTool := []ir.Reason{ir.ReasonAbsolute, ir.ReasonOutside, ir.ReasonEscape}
	if !kernel && slices.Contains(asTool, out.Verdict.Reason) {
		if out.System, err = j.Answer(q, true); err == nil && slices.Contains(asTool, out.System.Verdict.Reason) {
			out.System = nil // no path at all
		}
	}
	return out, err
}
