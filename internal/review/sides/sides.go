package sides

import (
	"errors"
	"runtime"
	"sync"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/review/asked"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/ruleset"
)

// Side is one side of a comparison: its policies and its rulesets.
type Side struct {
	policies []compare.Policy
	rulesets []*ruleset.Set
	// res is the compilation on this host, nil for a manifest.
	res *hostfacts.Result
	// members are the patterns by which its workspace lists those in it, and further are those; nil where nobody
	// looked.
	members []string
	further further
	// dangling are symlinks to nothing that would be layers.
	dangling []string
}

// Views are the policies of a side as recorded runs are judged by them, with the places of the run.
func (s *Side) Views() explain.Side {
	out := explain.Side{}
	for _, p := range s.policies {
		t := p.Tool
		if t.Source.Kind != ir.SourceLocal {
			continue
		}
		facts := ir.Facts{}
		if s.res != nil && hostfacts.Platform() == ir.Linux {
			facts = s.res.Facts(t)
		}
		out[t.Name] = func(r *recorded.Run) *ir.View {
			f := facts
			f.Bindings = r.Bindings(t)
			return ir.NewView(t, ir.Linux, f) // records are of Linux
		}
	}
	return out
}

// Changes compares two sides.
func Changes(old, new *Side) ([]explain.Change, error) {
	if err := addLedgers(old.policies, new.policies); err != nil {
		return nil, err
	}
	out := append(explain.Changes(old.policies, new.policies), explain.RulesetChanges(old.rulesets, new.rulesets)...)
	more, err := furtherChanges(old, new)
	return append(out, more...), err
}

// addLedgers gives both sides the ledgers that they are compared by: to a tool that
// differs, and to one of which the other side, a manifest, has one. They are most of the
// work, and of equal tools they are equal.
func addLedgers(old, new []compare.Policy) error {
	tools := map[string]*compare.Policy{}
	for i := range old {
		tools[old[i].Tool.Name] = &old[i]
	}
	var tasks sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	errs := make([]error, len(new))
	for i := range new {
		a, b := tools[new[i].Tool.Name], &new[i]
		if a == nil || a.Ledger == nil && b.Ledger == nil && compare.Same(a.Tool, b.Tool) {
			continue
		}
		limit <- struct{}{}
		tasks.Go(func() {
			errs[i] = errors.Join(addLedger(a), addLedger(b))
			<-limit
		})
	}
	tasks.Wait()
	return errors.Join(errs...)
}

func addLedger(p *compare.Policy) error {
	if p.Ledger != nil {
		return nil
	}
	made, err := PolicyOf(p.Tool, ir.Facts{})
	p.Ledger = made.Ledger
	return err
}

// PolicyOf returns the data that explain shows of a tool, with what facts say of its workspace.
func PolicyOf(t *ir.Tool, facts ir.Facts) (*explain.Policy, error) {
	p := &explain.Policy{Tool: t, View: ir.NewView(t, hostfacts.Platform(), facts)}
	if t.Source.Kind != ir.SourceLocal {
		return p, nil
	}
	out, _, err := build.Compile(t, registry.All, backends.Target{Form: backends.Portable})
	if err != nil {
		return p, err
	}
	p.Ledger = out.Ledger
	// The loader makes its filter from the same text. See decision D94.
	spec, err := landlock.Parse(out.Files[landlock.Backend{}.File()])
	if err == nil && spec.Supervision != nil {
		p.Traps = spec.Supervision.Traps
	}
	return p, err
}

// Policies are those of tools as this host has them.
func Policies(res *hostfacts.Result, tools []*ir.Tool) ([]*explain.Policy, error) {
	var out []*explain.Policy
	for _, t := range tools {
		p, err := PolicyOf(t, ir.Facts{Protected: res.Protected(t), Closed: res.Closed(t)})
		if err != nil {
			return nil, err
		}
		if repo := res.Repository(); repo != nil {
			p.Repository, p.Secret = repo.Parts(), repo.Secret != ""
		}
		p.Program, p.Now = res.ProgramOutside(t), res.NamesNow(t)
		for _, l := range res.RunLater(t, p.View) {
			p.Later = append(p.Later, explain.LaterDoc(l))
		}
		out = append(out, p)
	}
	return out, nil
}

// Answers puts one question to many tools. Those that accessc does not confine have no answer.
func Answers(res *hostfacts.Result, tools []*ir.Tool, q resolve.Question) ([]explain.Who, error) {
	var all []explain.Who
	for _, t := range tools {
		if t.Source.Kind != ir.SourceLocal {
			continue
		}
		a, err := asked.Ask(res, t, q, false)
		if err != nil {
			return nil, err
		}
		all = append(all, explain.Who{Tool: t.Name, Answer: a})
	}
	return all, nil
}
