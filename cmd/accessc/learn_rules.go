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

	"github.com/accessc/accessc/internal/allow"
	"github.com/accessc/accessc/internal/layerfile"
	"github.com/accessc/accessc/internal/learn"
	"github.com/accessc/accessc/internal/prompt"
	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/internal/visible"
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
	n := 0
	for _, l := range f.lessons {
		if l.Plan != nil {
			n++
		}
	}
	return n
}

// waits reports whether external rules are there that take effect once they are approved.
func (f *learned) waits() bool {
	return slices.ContainsFunc(f.lessons, func(x lesson) bool { return len(x.Waiting) > 0 })
}

func (f *learned) rules() int {
	n := 0
	for _, l := range f.lessons {
		if l.Plan != nil {
			n += len(l.Plan.Added)
		}
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
		out.planner, err = l.fresh()
	} else {
		out.planner, err = l.planner(allow.Request{Layer: l.layer, Tool: l.tool, Wide: l.From == "default"})
	}
	if err != nil {
		return nil, err
	}
	entries := out.joined.Entries()
	index := make([]int, len(entries))
	for i := range index {
		index[i] = i
	}
	first, err := l.lesson(out, out.planner, index)
	if err != nil {
		return nil, err
	}
	if len(first.Own) > 0 {
		own, err := out.planner.Other(ir.LayerUser)
		if err != nil {
			return nil, l.notAllowed(err)
		}
		if _, err := l.lesson(out, own, first.Own); err != nil {
			return nil, err
		}
	}
	if !out.joined.Lacks {
		out.unused = out.planner.Unused(entries)
	}
	return out, nil
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
	var plans []*allow.Plan
	for _, x := range f.lessons {
		if x.Plan != nil {
			plans = append(plans, x.Plan)
		}
	}
	then, err := f.planner.After(plans...)
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
		fmt.Fprintf(l.stderr, "%s:\n  %s\n", visible.Text(plan.Name), visible.Lines(strings.Join(plan.Rules, "\n  ")))
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
