package mount

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
)

// New plans mounts. An error names the problem; a *ConfigError carries findings.
func New(req Request, specs []Spec) (*Plan, error) {
	b, err := begin(req)
	if err != nil {
		return nil, err
	}
	if err := b.mounts(specs); err != nil {
		b.Close()
		return nil, err
	}
	return &b.Plan, nil
}

func (b *planner) mounts(specs []Spec) error {
	names := make([]string, len(specs))
	for i, s := range specs {
		var err error
		if names[i], err = b.link(s); err != nil {
			return err
		}
	}
	for i, s := range specs {
		tools, err := b.tools(s)
		if err != nil {
			return err
		}
		for _, t := range tools {
			if err := b.grant(s, t, names[i]); err != nil {
				return err
			}
		}
	}
	b.New = b.layer.Bytes
	return b.check()
}

// link plans the symlink of a mount and returns the path of its rule.
func (b *planner) link(s Spec) (string, error) {
	name, err := ruleName(b.dir, s.Name)
	if err != nil {
		return "", err
	}
	target, err := b.target(s)
	if err != nil {
		return "", err
	}
	for _, l := range b.Links {
		switch {
		case l.Name == name && l.Target == target:
			return name, nil
		case l.Name == name:
			return "", fmt.Errorf("%s: asked to lead to %s and to %s", name, l.Target, target)
		case ir.Within(name, l.Name) || ir.Within(l.Name, name):
			return "", fmt.Errorf("%s and %s: one would lie in the target of the other", l.Name, name)
		}
	}
	at, err := b.tree.locate(name)
	if err != nil {
		return "", err
	}
	b.places = append(b.places, at)
	l := Link{Name: name, Target: target, Change: Made}
	if at.info != nil {
		l.Change = Kept
		if err := b.same(at, target); err != nil {
			return "", err
		}
	}
	status, _ := b.store.Lookup(name, target)
	l.Approved = status != approvals.Approved
	b.Links = append(b.Links, l)
	b.approve = append(b.approve, approvals.Given(name, target))
	return name, nil
}

// same makes sure that there is a symlink to the target at a place.
func (b *planner) same(at *place, target string) error {
	if at.link == "" {
		what := "a file"
		if at.info.IsDir() {
			what = "a directory"
		}
		return fmt.Errorf("%s: is %s already; choose another name", at.name, what)
	}
	found, err := b.now.Resolver.Disk.Follow(b.tree.abs + "/" + at.name)
	if err != nil || found.Abs != target || found.Kind == ir.Absent {
		return fmt.Errorf("%s: is a symlink to %s already, which is not %s; accessc unmount %s takes a mount away",
			at.name, filepath.ToSlash(at.link), target, at.name)
	}
	return nil
}

// target makes the path of a mount canonical.
// See decision D26.
func (b *planner) target(s Spec) (string, error) {
	p := s.Path
	if rest, ok := strings.CutPrefix(filepath.ToSlash(p), "~/"); p == "~" || ok {
		if b.req.Home == "" {
			return "", fmt.Errorf("%s: there is no home directory", s.Path)
		}
		p = filepath.Join(b.req.Home, filepath.FromSlash(rest))
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(b.req.Dir, p)
	}
	abs := filepath.ToSlash(filepath.Clean(p))
	if err := resolve.CheckText(abs); err != nil {
		return "", fmt.Errorf("%q: %w", s.Path, err)
	}
	found, err := b.now.Resolver.Disk.Follow(abs)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", s.Path, err)
	case found.Kind == ir.Absent:
		return "", fmt.Errorf("%s: nothing is there; a mode is :ro, :rw, :rx or :rwx", s.Path)
	case ir.Within(found.Abs, b.tree.abs):
		return "", fmt.Errorf("%s: lies in the workspace; a rule can name it without a mount", s.Path)
	case ir.Within(b.tree.abs, found.Abs):
		return "", fmt.Errorf("%s: contains the workspace; mount a directory beside the workspace", s.Path)
	}
	if s.Write {
		if err := b.own(s, found.Abs); err != nil {
			return "", err
		}
	}
	return found.Abs, resolve.CheckText(found.Abs)
}

// own refuses to let a tool write the files that accessc trusts: approvals and the user's
// layer.
func (b *planner) own(s Spec, target string) error {
	if dir := b.now.Own(target); dir != "" {
		return fmt.Errorf("%s: contains or lies in %s, which accessc trusts; mount it read-only", s.Path, dir)
	}
	return nil
}

// tools returns the tools that a mount is for.
func (b *planner) tools(s Spec) ([]*ir.Tool, error) {
	var all []*ir.Tool
	var names []string
	for _, t := range b.now.Program.Tools {
		names = append(names, t.Name)
		switch {
		case t.Name == s.Tool && t.Source.Kind != ir.SourceLocal:
			return nil, fmt.Errorf("%s: its source is %s, and access is for local tools only", t.Name, t.Source)
		case t.Name == s.Tool:
			return []*ir.Tool{t}, nil
		case t.Source.Kind == ir.SourceLocal && b.now.Enabled(t.Name):
			all = append(all, t)
		}
	}
	switch {
	case s.Tool != "":
		hint := suggest.Hint(s.Tool, names)
		if hint == "" {
			hint = "the tools are " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("there is no tool %q; %s", s.Tool, hint)
	case len(all) == 0:
		return nil, errors.New("no local tool is enabled; name the one that is meant: TOOL:NAME=PATH")
	}
	b.Everyone = true
	return all, nil
}

// grant plans a tool's grants on a link. Where tools were not named, a tool keeps the grants that it
// has. See decision D26.
func (b *planner) grant(s Spec, t *ir.Tool, name string) error {
	g := Grant{Tool: t.Name, Name: name, Caps: s.caps()}
	if i := slices.IndexFunc(b.Grants, func(o Grant) bool { return o.Tool == t.Name && o.Name == name }); i >= 0 {
		if b.Grants[i].Caps != g.Caps {
			return fmt.Errorf("%s: %s is asked for with two modes", t.Name, name)
		}
		return nil
	}
	if has, ok := granted(t, name); ok {
		if s.Tool == "" {
			g.Caps |= has.Caps
		}
		if g.Kept = g.Caps == has.Caps; g.Kept {
			b.Grants = append(b.Grants, g)
			return nil
		}
	}
	list := b.layer.list(t.Name, t.Source.Origin.Path)
	g.Default = !t.Declared.FS && !slices.ContainsFunc(list.rules, rule.isDefault)
	if g.Default {
		if err := b.layer.add(list, defaultItem()); err != nil {
			return err
		}
	}
	list = b.layer.list(t.Name, t.Source.Origin.Path)
	err := b.layer.remove(list, func(r rule) bool { return r.isMount() && r.path == name })
	if err == nil {
		err = b.layer.add(list, linkItem(name, g.Caps))
	}
	b.Grants = append(b.Grants, g)
	return err
}

// granted returns the rule that decides about a link.
func granted(t *ir.Tool, name string) (*ir.FSRule, bool) {
	for _, r := range slices.Backward(t.FS) {
		if r.External && !r.ByName() && r.At == (ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}) {
			return &r, true
		}
	}
	return nil, false
}
