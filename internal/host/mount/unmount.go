package mount

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
)

// Unmount plans to take mounts back, all of them if names is empty: the rules that
// mounting wrote, which say mount = true, their symlinks and approvals. A link that
// another rule needs stays.
func Unmount(req Request, names []string) (*Plan, error) {
	b, err := begin(req)
	if err != nil {
		return nil, err
	}
	if err := b.unmount(names); err != nil {
		b.Close()
		return nil, err
	}
	return &b.Plan, nil
}

func (b *planner) unmount(names []string) error {
	selected, err := b.selected(names)
	if err != nil {
		return err
	}
	for _, list := range b.layer.lists() {
		if err := b.revoke(list, selected); err != nil {
			return err
		}
	}
	b.New = b.layer.Bytes
	if len(b.New) == 0 {
		b.New = nil
	}
	then, err := b.without()
	if err != nil {
		return err
	}
	for _, name := range selected {
		b.unlink(then, name)
	}
	return nil
}

// selected returns the rule paths of the mounts that are meant, in order.
func (b *planner) selected(names []string) ([]string, error) {
	var all []string
	for _, list := range b.layer.lists() {
		for _, r := range list.rules {
			if r.isMount() && !slices.Contains(all, r.path) {
				all = append(all, r.path)
			}
		}
	}
	slices.Sort(all)
	if len(names) == 0 {
		return all, nil
	}
	var out []string
	for _, n := range names {
		name, err := ruleName(b.dir, n)
		switch {
		case err != nil:
			return nil, err
		case len(all) == 0:
			return nil, fmt.Errorf("%s is not a mount; there are none", n)
		case !slices.Contains(all, name):
			return nil, fmt.Errorf("%s is not a mount; the mounts are %s", n, strings.Join(all, ", "))
		case !slices.Contains(out, name):
			out = append(out, name)
		}
	}
	return out, nil
}

// revoke takes the rules of mounts out of a list, and with the last mount the rule that
// kept the tool its workspace.
func (b *planner) revoke(list grantList, names []string) error {
	meant := func(r rule) bool { return r.isMount() && slices.Contains(names, r.path) }
	if !slices.ContainsFunc(list.rules, meant) {
		return nil
	}
	t, ok := b.now.Program.Tool(list.tool)
	for _, name := range names {
		if !slices.ContainsFunc(list.rules, func(r rule) bool { return r.isMount() && r.path == name }) {
			continue
		}
		g := Grant{Tool: list.tool, Name: name}
		if ok {
			if r, ok := granted(t, name); ok {
				g.Caps = r.Caps
			}
		}
		b.Grants = append(b.Grants, g)
	}
	others := slices.ContainsFunc(list.rules, func(r rule) bool { return r.isMount() && !meant(r) })
	if !others && slices.ContainsFunc(list.rules, rule.isDefault) {
		b.Grants[len(b.Grants)-1].Default = true
	}
	return b.layer.remove(list, func(r rule) bool { return meant(r) || !others && r.isDefault() })
}

// without compiles the configuration without the rules. No tool may get more by it: a tool that
// loses its last rule would have the default again, which is the whole workspace.
func (b *planner) without() (*hostfacts.Result, error) {
	opts := b.req.Compile
	opts.Layers.Edited = map[string][]byte{b.now.LocalPath(): b.New}
	then, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, err
	}
	if then.Program == nil {
		return nil, &ConfigError{Findings: then.Findings, Files: then.Files, After: true}
	}
	for _, t := range then.Program.Tools {
		was, ok := b.now.Program.Tool(t.Name)
		if !ok || t.Declared.FS || !was.Declared.FS || hasWorkspace(was) {
			continue
		}
		return nil, fmt.Errorf("%s: has no other rule, and without one it may use the whole workspace; "+
			"write another rule for it first, such as { path = \".\" } for nothing", t.Name)
	}
	return then, nil
}

// hasWorkspace reports whether a tool's rules grant as much of the workspace as the default
// does.
func hasWorkspace(t *ir.Tool) bool {
	for _, r := range slices.Backward(t.FS) {
		if !r.ByName() && r.At == ir.In("") {
			return r.Caps == ir.DefaultFS()[0].Caps
		}
	}
	return false
}

// unlink plans the removal of a mount's symlink and approval.
func (b *planner) unlink(then *hostfacts.Result, name string) {
	l := Link{Name: name, Change: Gone}
	at, err := b.tree.locate(name)
	if err != nil {
		// Its directory has been replaced; whatever is there, mounting did not make it.
		at = &place{name: name, open: []*os.Root{b.tree.root}}
	}
	if at.link != "" {
		l.Change = Removed
		if found, err := b.now.Resolver.Disk.Follow(b.tree.abs + "/" + name); err == nil {
			l.Target = found.Abs
		}
	}
	if slices.ContainsFunc(then.Program.Tools, func(t *ir.Tool) bool { _, ok := granted(t, name); return ok }) {
		l.Change = Kept
	} else {
		b.forget = append(b.forget, name)
	}
	b.Links, b.places = append(b.Links, l), append(b.places, at)
}
