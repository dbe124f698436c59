package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/propose/learn"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// learned has the proposals that follow from kept runs.
type learned struct {
	joined  learn.Joined
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

func (f *learned) plans() int {
	return len(f.added())
}

// waits reports whether external rules are there that take effect once they are approved.
func (f *learned) waits() bool {
	return slices.ContainsFunc(f.lessons, func(x lesson) bool { return len(x.Waiting) > 0 })
}

func (f *learned) rules() int {
	n := 0
	for _, plan := range f.added() {
		n += len(plan.Added)
	}
	return n
}

// propose finds the rules that runs need. For a command without a tool it proposes none.
func (l *learner) propose(runs []denial.Evidence) (*learned, error) {
	out := &learned{joined: learn.Join(runs), runs: runs}
	if l.tool == "" {
		return out, nil
	}
	var err error
	if l.policy == nil {
		out.planner, err = l.fresh(everything)
	} else {
		out.planner, err = l.planner(allow.Request{Layer: l.layer, Tool: l.tool, Wide: l.From == "default"})
	}
	if err != nil {
		return nil, err
	}
	for _, e := range out.planner.Sought(out.joined.Sought) {
		out.joined.Operations = append(out.joined.Operations, learn.Operation{Entry: e, Runs: 1})
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
func (l *learner) teach(out *learned) error {
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
		return l.notAllowed(err)
	}
	_, err = l.lesson(out, own, first.Own)
	return err
}

// narrower is a policy that grants only those reads which the runs needed, in place of one that lets the new tool read the
// workspace. The wide one stays where the narrow one would refuse more of the recorded operations, or permit more
// elsewhere: rules on single files pin them, so that a move beside them may need a wider rule.
// See decision D177.
func (l *learner) narrower(wide *learned) (*learned, error) {
	reads, ok := narrowed(wide.planner, wide)
	if !ok {
		return wide, nil
	}
	planner, err := l.fresh(reads)
	if err != nil {
		return nil, err
	}
	out := &learned{joined: wide.joined, runs: wide.runs, planner: planner}
	if err := l.teach(out); err != nil || out.left() > wide.left() {
		return wide, nil
	}
	then, err := out.planner.After(out.added()...)
	if err != nil {
		return wide, nil
	}
	than, err := wide.planner.After(wide.added()...)
	if err != nil {
		return nil, l.notAllowed(err)
	}
	if then.Wider(than) {
		return wide, nil
	}
	return out, nil
}

// left is how many operations get no rule.
func (f *learned) left() (n int) {
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
func (f *learned) added() (plans []*allow.Plan) {
	for _, x := range f.lessons {
		if x.Plan != nil {
			plans = append(plans, x.Plan)
		}
	}
	return plans
}

// lesson plans the addition to one layer for some of the operations.
func (l *learner) lesson(f *learned, p *allow.Planner, index []int) (lesson, error) {
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
		return lesson{}, l.notAllowed(err)
	}
	f.lessons = append(f.lessons, lesson{out, index})
	return f.lessons[len(f.lessons)-1], nil
}

// heldOut proposes from all runs but the last, and asks the policy that results about the last.
func (l *learner) heldOut() error {
	if len(l.kept) < 2 || l.tool == "" {
		return usagef("--held-out needs a tool and two kept runs; of %s there are %d", l.name(), len(l.kept))
	}
	f, err := l.propose(l.kept[:len(l.kept)-1])
	if err != nil {
		return err
	}
	then, err := f.planner.After(f.added()...)
	if err != nil {
		return l.notAllowed(err)
	}
	last := learn.Join(l.kept[len(l.kept)-1:])
	var refused []learn.Operation
	for _, o := range last.Operations {
		if !then.Permits(o.Entry) {
			refused = append(refused, o)
		}
	}
	if l.JSON {
		err = l.writeJSON(l.document(f, &heldOutDoc{Operations: len(last.Operations), Refused: refused}))
	} else {
		err = l.print(heldOutText(len(l.kept), len(last.Operations), refused))
	}
	if err == nil && len(refused) > 0 {
		return exit(exitFindings)
	}
	return err
}

func (l *learner) print(text string) error {
	_, err := fmt.Fprint(l.stdout, visible.Lines(text))
	return err
}

// apply writes the plans, layer by layer, and has the targets of external rules approved.
func (l *learner) apply(f *learned) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	external := map[string]string{}
	for i := 0; i < len(f.lessons); i++ {
		plan := f.lessons[i].Plan
		if plan == nil {
			continue
		}
		err := plan.Apply(ctx)
		for try := 1; errors.Is(err, layerfile.ErrChanged) && try < patience; try++ {
			// Another process was faster: the rules are looked for again.
			if f, err = l.propose(f.runs); err != nil {
				return err
			}
			if i >= len(f.lessons) || f.lessons[i].Plan == nil {
				break
			}
			plan = f.lessons[i].Plan
			err = plan.Apply(ctx)
		}
		if err != nil {
			return err
		}
		maps.Copy(external, plan.Approve)
		rules := plan.Rules
		if len(rules) == 0 {
			rules = []string{"the tool " + visible.Text(l.tool) + ", which reads what its runs have read"}
		}
		fmt.Fprintf(l.stderr, "%s:\n  %s\n", visible.Text(plan.Name), visible.Lines(strings.Join(rules, "\n  ")))
	}
	return l.approve(slices.Sorted(maps.Keys(external)))
}

// approve has the targets of external rules approved, at the terminal or by --yes.
func (l *learner) approve(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	err := (&approveCmd{Yes: l.Yes, Paths: paths}).Run(l.globals)
	var refused exit
	var usage usageError
	switch {
	case errors.As(err, &usage) && errors.Is(usage.err, prompt.ErrNone):
		fmt.Fprintf(l.stderr, "external rules take effect once their targets are approved: accessc approve %s\n", visible.Text(strings.Join(paths, " ")))
		return nil
	case errors.As(err, &refused):
		return nil // it was said, and the rules stay without effect
	default:
		return err
	}
}
