package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/propose/learn"
	"github.com/accessc/accessc/ir"
)

// page writes the page of --html, whole or not at all: over a symlink, not through it.
func (l *learner) page(f *learned) error {
	root, err := l.root()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return err
	}
	p := learn.Page{Tool: l.name(), Joined: f.joined, Workspace: filepath.ToSlash(root), Granted: func(string) ir.CapSet { return 0 }}
	if f.planner != nil {
		p.Granted, p.Roots, p.Sensitive = f.planner.Granted, outer(f.planner), f.planner.Sensitive
	}
	out, err := os.CreateTemp(filepath.Dir(l.HTML), ".accessc-learn-")
	if err != nil {
		return err
	}
	err = p.Write(out)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), l.HTML)
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return err
}

// outer are the places outside of the workspace that external rules lead to.
func outer(p *allow.Planner) []string {
	var out []string
	for _, target := range p.Now.Facts(p.Tool).Bindings.External {
		out = append(out, target)
	}
	return out
}
