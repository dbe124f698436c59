package mount

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/ir"
)

// Request is the input of the commands.
type Request struct {
	// Compile is the way to read the configuration. Layers.Edited and Planned are set here.
	Compile hostfacts.Options
	// Dir is the absolute directory that names and paths are relative to. Home stands for
	// a leading "~" of paths, which not every shell expands behind a "=".
	Dir, Home string
	// NameDir, unless empty, is the directory that names are relative to instead.
	NameDir string
}

// Link is a symlink that a plan is about.
type Link struct {
	// Name is its path in the workspace, Target the canonical path that it leads to.
	Name, Target string
	// Change is the planned change of it.
	Change Change
	// Approved is true when its target has not been approved before.
	Approved bool
}

// Change is the change of a link.
type Change uint8

// The changes.
const (
	// Kept: it is there and stays.
	Kept Change = iota
	// Made: it is made.
	Made
	// Removed: it is removed.
	Removed
	// Gone: there is none to be removed.
	Gone
)

// Grant is a grant that a tool gets or loses.
type Grant struct {
	Tool, Name string
	Caps       ir.CapSet
	// Default is true when the default rule is written or taken away with it.
	Default bool
	// Kept is true when a rule grants it already and nothing is written.
	Kept bool
	// Guarded is how many places of the workspace's repository are not written there whatever the grant says.
	Guarded int
}

// Plan lists the changes of a command. It has passed every check and changed nothing.
type Plan struct {
	Links  []Link
	Grants []Grant
	// Everyone is true when tools were not named: Grants then lists the tools included.
	Everyone bool
	// Old and New are the text of the local layer before and after; nil is no file.
	Old, New []byte
	// Warnings are findings that the configuration did not have before.
	Warnings diag.List
	Files    source.Files
	// Store is the path of the approval store.
	Store string

	tree   *tree
	local  *layerfile.File
	places []*place
	// approve and forget are the changes of approvals.
	approve []approvals.Mount
	forget  []string
}

// ConfigError is a configuration that does not compile, now or after the change.
type ConfigError struct {
	Findings diag.List
	Files    source.Files
	// After is true when the configuration compiles now.
	After bool
}

// Error implements error.
func (e *ConfigError) Error() string { return diag.Summary(e.Findings) }

// Empty reports whether there is nothing to be done.
func (p *Plan) Empty() bool {
	return bytes.Equal(p.Old, p.New) && !slices.ContainsFunc(p.Links, func(l Link) bool {
		return l.Change == Made || l.Change == Removed || l.Approved
	})
}

// Close closes the open directories of the plan.
func (p *Plan) Close() {
	for _, at := range p.places {
		at.close()
	}
	if p.local != nil {
		p.local.Close()
	}
	if p.tree != nil {
		p.tree.root.Close()
	}
}

// planner is a plan in the making.
type planner struct {
	Plan
	req   Request
	now   *hostfacts.Result
	store approvals.Store
	layer *layer
	// dir is the directory that names are relative to, from the root.
	dir string
}

// begin reads the configuration and opens the workspace.
func begin(req Request) (*planner, error) {
	now, err := hostfacts.Compile(req.Compile)
	if err != nil {
		return nil, err
	}
	if now.Program == nil {
		return nil, &ConfigError{Findings: now.Findings, Files: now.Files}
	}
	if now.State == "" {
		return nil, errors.New("no state directory: approvals have no place")
	}
	b := &planner{req: req, now: now}
	if b.Store, err = now.Approvals(); err != nil {
		return nil, fmt.Errorf("approvals: %s: %w", b.Store, err)
	}
	// A store that cannot be used is empty; Apply says more about it.
	b.store, _ = approvals.Load(b.Store)
	if b.tree, err = openTree(now.Resolver.Root); err != nil {
		return nil, err
	}
	if b.dir, err = b.relative(); err == nil {
		b.local, err = b.tree.openLocal()
	}
	if err == nil {
		b.Old = b.local.Data
		if b.local.Info == nil {
			b.Old = nil
		}
		b.layer, err = parseLayer(b.Old)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// relative returns the directory of names as a path from the root.
func (b *planner) relative() (string, error) {
	dir := b.req.NameDir
	if dir == "" {
		dir = b.req.Dir
	}
	found, err := b.now.Resolver.Disk.Follow(filepath.ToSlash(dir))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(filepath.FromSlash(b.now.Resolver.Root), filepath.FromSlash(found.Abs))
	return filepath.ToSlash(rel), err
}
