package learn

import (
	"slices"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/ir"
)

// Learned has the proposals that follow from kept runs.
type Learned struct {
	joined  Joined
	runs    []denial.Evidence
	planner *allow.Planner
	// lessons are those for the layer and, where it takes them, for the user's own.
	lessons []lesson
	unused  []allow.Unused
}

// lesson is an addition to one layer; index maps its operations to the joined ones.
type lesson struct {
	*allow.Lesson
	index []int
}

// Plans is how many layers get rules, Rules how many rules that are.
func (f *Learned) Plans() int {
	return len(f.added())
}

// Waits reports whether external rules are there that take effect once they are approved.
func (f *Learned) Waits() bool {
	return slices.ContainsFunc(f.lessons, func(x lesson) bool { return len(x.Waiting) > 0 })
}

func (f *Learned) Rules() int {
	n := 0
	for _, plan := range f.added() {
		n += len(plan.Added)
	}
	return n
}

// Propose finds the rules that runs need. For a command without a tool it proposes none.
func (l *Session) Propose(runs []denial.Evidence) (*Learned, error) {
	out := &Learned{joined: Join(runs), runs: runs}
	if l.Tool == "" {
		return out, nil
	}
	var err error
	if l.policy == nil {
		out.planner, err = l.fresh(everything)
	} else {
		out.planner, err = l.planner(allow.Request{Wide: l.Default})
	}
	if err != nil {
		return nil, err
	}
	for _, e := range out.planner.Sought(out.joined.Sought) {
		out.joined.Operations = append(out.joined.Operations, Operation{Entry: e, Runs: 1})
	}
	if err := l.teach(out); err != nil {
		return nil, err
	}
	if l.policy == nil && !out.joined.Lacks {
		if out, err = l.narrower(out); err != nil {
			return nil, err
		}
	}
	if !out.joined.Lacks {
		out.unused = out.planner.Unused(out.joined.Entries())
	}
	return out, nil
}

// teach plans the additions for all operations.
func (l *Session) teach(out *Learned) error {
	index := make([]int, len(out.joined.Operations))
	for i := range index {
		index[i] = i
	}
	first, err := l.lesson(out, out.planner, index)
	if err != nil || len(first.Own) == 0 {
		return err
	}
	own, err := out.planner.Other(ir.LayerUser)
	if err != nil {
		return err
	}
	_, err = l.lesson(out, own, first.Own)
	return err
}

// narrower is a policy that grants only those reads which the runs needed, in place of one that lets the new tool
// read the workspace. The wide one stays where the narrow one would refuse more of the recorded operations, or permit
// more elsewhere: rules on single files pin them, so that a move beside them may need a wider rule.
// See decision D177.
func (l *Session) narrower(wide *Learned) (*Learned, error) {
	reads, ok := narrowed(wide.planner, wide)
	if !ok {
		return wide, nil
	}
	planner, err := l.fresh(reads)
	if err != nil {
		return nil, err
	}
	out := &Learned{joined: wide.joined, runs: wide.runs, planner: planner}
	if err := l.teach(out); err != nil || out.left() > wide.left() {
		return wide, nil
	}
	then, err := out.planner.After(out.added()...)
	if err != nil {
		return wide, nil
	}
	than, err := wide.planner.After(wide.added()...)
	if err != nil {
		return nil, err
	}
	if then.Wider(than) {
		return wide, nil
	}
	return out, nil
}

// left is how many operations get no rule.
func (f *Learned) left() (n int) {
	for _, x := range f.lessons {
		for _, left := range x.Left {
			n += len(left.Entries)
		}
		if x.Unserved {
			n++
		}
	}
	return n
}

// added are the plans for all layers.
func (f *Learned) added() (plans []*allow.Plan) {
	for _, x := range f.lessons {
		if x.Plan != nil {
			plans = append(plans, x.Plan)
		}
	}
	return plans
}

// lesson plans the addition to one layer for some of the operations.
func (l *Session) lesson(f *Learned, p *allow.Planner, index []int) (lesson, error) {
	var entries []denial.Entry
	for _, i := range index {
		entries = append(entries, f.joined.Operations[i].Entry)
	}
	served := ""
	if p == f.planner {
		served = f.joined.Served
	}
	out, err := p.Learn(entries, served, func(a allow.Added) []string { return []string{f.note(a, index)} })
	if err != nil {
		return lesson{}, err
	}
	f.lessons = append(f.lessons, lesson{out, index})
	return f.lessons[len(f.lessons)-1], nil
}

// everything are the reads of a tool that may read all of the workspace.
var everything = []allow.Read{{At: ir.In(""), Listed: true}}

// narrowed are the reads of runs, as a tool that may read nothing else has them; false where they are all of the
// workspace.
func narrowed(p *allow.Planner, f *Learned) ([]allow.Read, bool) {
	reads, ok := p.Reads(f.joined.Entries())
	return append([]allow.Read{{At: ir.In("")}}, reads...), ok
}

// planner prepares additions to the layer.
func (l *Session) planner(req allow.Request) (*allow.Planner, error) {
	opts, err := l.Config.Options(true, hostfacts.Platform())
	if err != nil {
		return nil, err
	}
	req.Compile, req.Layer, req.Tool = opts, l.Layer, l.Tool
	return allow.Begin(req)
}
