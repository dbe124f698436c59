package allow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/ir"
)

// Policy is what the configuration permits a tool on this host.
type Policy struct {
	Now  *hostfacts.Result
	Tool *ir.Tool
	View *ir.View

	opts  hostfacts.Options
	asker resolve.Asker
	// reaches are the sensitive paths that the tool reaches by now, once they were looked for.
	reaches map[string]bool
}

// ConfigError is a configuration that does not compile, now or After the change.
type ConfigError struct {
	Findings diag.List
	Files    source.Files
	After    bool
}

// Error implements error.
func (e *ConfigError) Error() string { return diag.Summary(e.Findings) }

// ErrNoTool says that the configuration has no tool of a name.
var ErrNoTool = errors.New("there is no tool")

// compile compiles for this host and finds the tool.
func compile(opts hostfacts.Options, tool string, after bool) (*hostfacts.Result, *ir.Tool, error) {
	opts.Resolve, opts.Apart, opts.Untested = true, true, true
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, nil, err
	}
	if res.Program == nil || res.Wrong(tool) {
		return nil, nil, &ConfigError{Findings: res.Concerning(tool), Files: res.Files, After: after}
	}
	t, ok := res.Program.Tool(tool)
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("%w %q", ErrNoTool, tool)
	case t.Source.Kind != ir.SourceLocal:
		return nil, nil, fmt.Errorf("%s has no policy: its source is %s", tool, t.Source)
	}
	return res, t, nil
}

// newPolicy compiles the configuration. after is true where it has additions that are not written yet.
func newPolicy(opts hostfacts.Options, tool string, after bool) (*Policy, error) {
	now, t, err := compile(opts, tool, after)
	if err != nil {
		return nil, err
	}
	facts := now.Facts(t)
	return &Policy{
		Now: now, Tool: t, View: ir.NewView(t, hostfacts.Platform(), facts), opts: opts,
		asker: resolve.Asker{
			Resolver: now.Resolver, Bindings: facts.Bindings, Program: facts.Program, Lookup: now.Lookup(t),
			Kernel: true,
		},
	}, nil
}

// harmless makes sure that a policy has nothing sensitive or protected that it did not have, and that
// the tests of the policy hold that held before.
func (p *Policy) harmless(then *Policy) error {
	if p.reaches == nil {
		p.reaches = map[string]bool{}
		for _, r := range p.Now.Reaches(p.Tool) {
			p.reaches[r.String()] = true
		}
	}
	for _, r := range then.Now.Reaches(then.Tool) {
		if !p.reaches[r.String()] {
			return refuse("it would reach %s, which is sensitive; if it is meant, write the rule yourself", r)
		}
	}
	before := p.Now.Test(p.Tool)
	for i, x := range then.Now.Test(then.Tool) {
		if !x.Holds() && i < len(before) && before[i].Holds() {
			return refuse("a test of the policy denies it: %s", x.Assertion.Origin.Pos)
		}
	}
	for _, g := range p.View.Protected() {
		if g.Pattern {
			continue // no rule grants what it protects but one on the place itself, which is reserved
		}
		for _, c := range ir.Write.List() {
			op := ir.Access{Cap: c, On: ir.Direct(ir.In(g.Path))}
			if then.View.Decide(op).Allowed() && !p.View.Decide(op).Allowed() {
				return refuse("it would let %s %s, which is protected: %s", c, g.Path, g.Why)
			}
		}
	}
	return nil
}

// Granted are the capabilities on the file at an absolute canonical path.
func (p *Policy) Granted(abs string) ir.CapSet {
	var out ir.CapSet
	for _, c := range ir.Capabilities {
		if p.View.Decide(ir.Access{Cap: c, On: ir.Direct(p.asker.Bindings.Locate(abs))}).Allowed() {
			out = out.With(c)
		}
	}
	return out
}

// Sensitive reports whether a pattern of sensitive paths covers a place.
func (p *Policy) Sensitive(abs string) bool {
	return denial.Sensitive(p.View, p.asker.Bindings.Locate(abs))
}

// Permits reports whether the policy permits a recorded operation.
func (p *Policy) Permits(e denial.Entry) bool {
	g := p.single(0, e)
	return g.broken == "" && g.asks[0].alone().Allowed(p.View)
}

// sensitive reports whether a pattern of sensitive paths covers a place of the workspace.
func (p *Policy) sensitive(at ir.Location) bool {
	return slices.ContainsFunc(p.Tool.Sensitive, func(s ir.SensitivePattern) bool { return s.Covers(at.Path) })
}

// home is the canonical path of the user's home, empty where there is none.
func (p *Policy) home() string {
	found, err := p.Now.Resolver.Disk.Follow(filepath.ToSlash(p.opts.Layers.Home))
	if err != nil || p.opts.Layers.Home == "" {
		return ""
	}
	return found.Abs
}

// Target is where an external rule's path leads on this host.
func (p *Policy) Target(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		name = p.home() + rest
	}
	if found, err := p.Now.Resolver.Disk.Follow(name); err == nil {
		return found.Abs
	}
	return name
}

// Secrets are the sensitive places below a directory of the workspace, false where too much is there to be looked at.
func (p *Policy) Secrets(dir string) (out []string, whole bool) {
	const most, many = 100_000, 50
	seen := 0
	_ = filepath.WalkDir(filepath.FromSlash(dir), func(name string, e fs.DirEntry, _ error) error {
		rel, in := resolve.Below(filepath.ToSlash(name), p.Now.Resolver.Root)
		rel = strings.TrimPrefix(rel, "/")
		if seen++; seen > most || len(out) > many {
			return filepath.SkipAll
		}
		if in && slices.ContainsFunc(p.Tool.Sensitive, func(s ir.SensitivePattern) bool { return s.Covers(rel) }) {
			if out = append(out, rel); e != nil && e.IsDir() {
				return filepath.SkipDir
			}
		}
		return nil
	})
	return out, seen <= most && len(out) <= many
}

// Wider reports whether a policy grants something on a file of the workspace that another one does not, or whether
// there are too many files to be looked at.
func (p *Policy) Wider(than *Policy) bool {
	seen, wider := 0, false
	_ = filepath.WalkDir(filepath.FromSlash(p.Now.Resolver.Root), func(name string, _ fs.DirEntry, _ error) error {
		abs := filepath.ToSlash(name)
		seen++
		if wider = seen > maxUnread || p.Granted(abs)&^than.Granted(abs) != 0; wider {
			return filepath.SkipAll
		}
		return nil
	})
	return wider
}

func exists(abs string) bool {
	_, err := os.Lstat(filepath.FromSlash(abs))
	return err == nil
}

func directory(abs string) bool {
	info, err := os.Stat(filepath.FromSlash(abs))
	return err == nil && info.IsDir()
}

func special(abs string) bool {
	info, err := os.Stat(filepath.FromSlash(abs))
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}
