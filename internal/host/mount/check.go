package mount

import (
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/hostfacts"
)

// check compiles the configuration as it would be, on this host as it would be.
// See decision D26.
func (b *planner) check() error {
	opts := b.req.Compile
	opts.Resolve, opts.Planned = true, map[string]string{}
	opts.Layers.Edited = map[string][]byte{b.now.LocalPath(): b.New}
	for _, l := range b.Links {
		if l.Change == Made || l.Change == Kept {
			opts.Planned[l.Name] = l.Target
		}
	}
	then, err := hostfacts.Compile(opts)
	if err != nil {
		return err
	}
	if err := b.warn(then); err != nil {
		return err
	}
	if then.Program == nil {
		return &ConfigError{Findings: then.Findings, Files: then.Files, After: true}
	}
	return b.holds(then)
}

// warn keeps the findings that the configuration does not have on this host now.
func (b *planner) warn(then *hostfacts.Result) error {
	opts := b.req.Compile
	opts.Resolve = true
	now, err := hostfacts.Compile(opts)
	if err != nil {
		return err
	}
	b.Files = then.Files
	for _, f := range then.Findings {
		if !slices.ContainsFunc(now.Findings, func(o diag.Diagnostic) bool {
			return o.Code == f.Code && o.Path == f.Path && o.Label == f.Label
		}) {
			b.Warnings = append(b.Warnings, f)
		}
	}
	return nil
}

// holds makes sure that the resulting configuration contains exactly the planned grants.
func (b *planner) holds(then *hostfacts.Result) error {
	for i, g := range b.Grants {
		t, _ := then.Program.Tool(g.Tool)
		b.Grants[i].Guarded = then.Guarded(t, g.Name)
		r, ok := granted(t, g.Name)
		switch {
		case !ok:
			return fmt.Errorf("%s: a rule on %s in %s would not count; another layer replaces the list", g.Tool,
				g.Name, localName)
		case r.Caps != g.Caps:
			return fmt.Errorf("%s: %s (%s) would win over a rule on %s in %s", g.Tool, r.Written, r.Origin,
				g.Name, localName)
		}
	}
	return nil
}
