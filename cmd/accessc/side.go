package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/ruleset"
)

// side is one side of a comparison: its policies and its rulesets.
type side struct {
	policies []compare.Policy
	rulesets []*ruleset.Set
	// res is the compilation on this host, nil for a manifest.
	res *hostfacts.Result
	// members are the patterns by which its workspace lists those in it, and further are those; nil where nobody looked.
	members []string
	further further
	// dangling are symlinks to nothing that would be layers.
	dangling []string
}

// views are the policies of a side as recorded runs are judged by them, with the places of the run.
func (s *side) views() explain.Side {
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

// changes compares two sides.
func changes(old, new *side) ([]explain.Change, error) {
	if err := addLedgers(old.policies, new.policies); err != nil {
		return nil, err
	}
	out := append(explain.Changes(old.policies, new.policies), explain.RulesetChanges(old.rulesets, new.rulesets)...)
	more, err := furtherChanges(old, new)
	return append(out, more...), err
}

// side loads one side of a comparison: a directory, a manifest, or a revision of the
// workspace's git repository; empty means the work tree.
func (g *globals) side(name string) (*side, error) {
	info, err := os.Stat(name)
	switch {
	case name == "":
		return g.sideAt("")
	case err == nil && info.IsDir():
		return g.sideAt(name)
	case err == nil:
		return manifestSide(name)
	case !errors.Is(err, os.ErrNotExist):
		return nil, usagef("%s: %v", name, oserr.Reason(err))
	}
	root, err := g.root()
	if err != nil {
		return nil, err
	}
	tree, err := open(root, name)
	if err != nil {
		return nil, usagef("%s is neither a file nor a revision: %v", name, err)
	}
	defer tree.Close()
	found, err := g.sideOf(root, tree)
	if err != nil {
		fmt.Fprintf(g.stderr, "accessc: the policies of %s do not compile\n", name)
	}
	return found, err
}

// open reads the workspace as it is in a revision.
func open(root, name string) (*revision.Tree, error) {
	r, err := revision.Find(root)
	if err != nil {
		return nil, err
	}
	return r.Open(name)
}

// sideAt compiles the configuration of a workspace, the current one if root is empty.
// Layers that are not committed are left out: the sides of a comparison are committed states.
func (g *globals) sideAt(root string) (*side, error) { return g.sideOf(root, nil) }

// sideOf is sideAt with a tree in place of the workspace's files, unless it is nil.
func (g *globals) sideOf(root string, tree fs.ReadLinkFS) (*side, error) {
	opts, err := g.asking().committed().options(false)
	if err != nil {
		return nil, err
	}
	if root != "" {
		opts.Root = root
	}
	opts.Tree = tree
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usageError{err}
	}
	if res.Program == nil {
		return nil, g.sayText(res.Findings, res.Files, "")
	}
	out := &side{rulesets: res.Rulesets, res: res, members: res.Members, dangling: danglingIn(res, tree)}
	for _, t := range res.Program.Tools {
		out.policies = append(out.policies, compare.Policy{Tool: t})
	}
	out.further, err = g.furtherOf(opts, res.Members)
	return out, err
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
	made, err := policyOf(p.Tool, ir.Facts{})
	p.Ledger = made.Ledger
	return err
}

// maxManifest bounds the size of a manifest that is read, in bytes.
const maxManifest = 64 << 20

func manifestSide(name string) (*side, error) {
	m, _, err := readManifest(name)
	if err != nil {
		return nil, err
	}
	return sideIn(m, name)
}

// sideIn returns the policies and rulesets of a manifest.
func sideIn(m *build.Manifest, name string) (*side, error) {
	var out side
	var err, also error
	out.policies, err = m.Policies()
	out.rulesets, also = m.Sets()
	if err := errors.Join(err, also); err != nil {
		return nil, usagef("%s: %v", name, err)
	}
	return &out, nil
}

// bare reports whether a directory is a repository without a work tree.
func bare(root string) bool {
	r, err := revision.Find(root)
	return err == nil && r.Bare()
}
