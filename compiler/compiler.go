package compiler

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/approvals"
	"github.com/accessc/accessc/internal/tomltext"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/ir"
)

// Options are the input of Compile.
type Options struct {
	// Root is the workspace root; it must exist.
	Root string
	// Layers selects the layers to read; its Root and Tree are set by Compile.
	Layers source.Request
	// Tree, unless nil, replaces the workspace on the disk: the tree of a revision.
	Tree fs.ReadLinkFS
	// Resolve compiles for this host: external rules need their approval, bindings
	// and base are the host's own. Otherwise the result is portable.
	Resolve bool
	// Platforms are those whose limits apply; nil means all.
	Platforms []ir.Platform
	// Untested skips access.tests, for callers that run them themselves or explain why one
	// fails.
	Untested bool
	// Apart has an error in one tool stop that tool alone.
	Apart bool
	// Sensitive looks on this host's disk for sensitive paths that rules reach, and warns.
	Sensitive bool
	// State overrides the state directory; empty means the user's own.
	State userdir.Dir
	// Planned compiles as if these symlinks were there and approved: canonical
	// targets by the rule path.
	Planned map[string]string
}

// Result is a compilation: the program, or the findings that stopped it.
type Result struct {
	// Program is nil when a finding stopped the run. Compiled apart, it has the tools
	// without errors.
	Program  *ir.Program
	Findings diag.List
	// Files are the texts of the files that were read, for quoting lines of them.
	Files source.Files
	// Resolver evaluates further paths against the same workspace.
	Resolver *resolve.Resolver
	// State is the directory of the workspace's state; empty when there is none.
	State userdir.Dir
	// Bindings are those of external rules, by rule path, approved or not. Only a
	// resolved compilation knows them.
	Bindings []Binding

	external map[string]map[string]string
	// leads maps external rules to their targets on this disk, approved or not, by tool and
	// path; nil in a resolved compilation. The policy's own tests follow it.
	leads map[string]map[string]string
	// wrong are the tools that errors take out of the program.
	wrong map[string]bool
	// disabled are the tools that are not enabled.
	disabled map[string]bool
	base     map[ir.BaseName][]ir.FSRule
	guarded  []ir.ProtectedPath
	// listed are directories in which a new file may become a layer.
	listed []string
	// home is the user's home directory, where sensitive paths are.
	home string
	// located is true where the files of listed programs have been looked for.
	located   bool
	sensitive map[ir.Root][]ir.Location
}

// Compile reads, merges, checks and resolves. The error is about the workspace
// root or the state directory; everything about the configuration is a finding.
func Compile(opts Options) (*Result, error) {
	resolver, err := resolve.New(opts.Root, resolve.NewDisk())
	if err != nil {
		return nil, err
	}
	if opts.Tree != nil {
		resolver.Replace(opts.Tree)
	}
	for path, target := range opts.Planned {
		resolver.Pretend(path, target)
	}
	res := &Result{Resolver: resolver, State: opts.State, external: map[string]map[string]string{}, home: opts.Layers.Home, located: opts.Resolve}
	if res.State == "" {
		if res.State, err = userdir.For(resolver.Root); err != nil && opts.Resolve {
			return nil, err
		}
	}
	opts.Layers.Root, opts.Layers.Tree = resolver.Root, opts.Tree
	set, findings := source.Load(opts.Layers)
	res.Files, res.listed = set.Files, set.Listed
	c := &compilation{opts: opts, res: res, findings: findings}
	c.loadApprovals()
	drafts := c.gather(set.Layers)
	c.checkFolded(drafts)
	c.narrow(set.Layers)
	program := &ir.Program{}
	for _, d := range drafts {
		if t := c.finish(d); t != nil {
			program.Tools = append(program.Tools, t)
		}
	}
	c.finishBindings()
	if !c.findings.Failed() && !opts.Untested {
		for _, t := range program.Tools {
			c.test(t)
		}
	}
	if res.Program = c.apart(program); res.Program != nil && opts.Sensitive {
		c.findings.Add(res.SensitiveFindings(res.Program.Tools)...)
	}
	c.findings.Sort()
	res.Findings = c.findings
	return res, nil
}

// test makes findings of the tests of a tool that fail.
func (c *compilation) test(t *ir.Tool) {
	for _, x := range c.res.Test(t) {
		if !x.Holds() {
			c.findings.Add(x.Finding())
		}
	}
}

// compilation is one run of Compile.
type compilation struct {
	opts     Options
	res      *Result
	findings diag.List
	store    approvals.Store
	// unusable is the reason why the store counts as empty, nil if it can be used.
	unusable error
	// grants are those of the external rules that lead somewhere.
	grants []Grant
	// enable is the setting in the table of defaults.
	enable enabled
}

func (c *compilation) loadApprovals() {
	if !c.opts.Resolve {
		return
	}
	path, err := c.res.Approvals()
	if err == nil {
		c.store, err = approvals.Load(path)
	}
	c.unusable = err
	for path, target := range c.opts.Planned {
		// A binding that cannot be approved stays unapproved, and its rule is dropped.
		_ = c.store.Approve(approvals.Mount{RulePath: path, CanonicalTarget: target})
	}
}

// report adds a finding about a value.
func (c *compilation) report(code diag.Code, path string, v *source.Value, label string) *diag.Diagnostic {
	d := diag.New(code, v.At, v.Span)
	d.Path, d.Label = path, label
	c.findings.Add(d)
	return &c.findings[len(c.findings)-1]
}

// targets reports whether a platform is among those that the run is about.
func (c *compilation) targets(ps ...ir.Platform) bool {
	return len(c.opts.Platforms) == 0 || slices.ContainsFunc(ps, func(p ir.Platform) bool {
		return slices.Contains(c.opts.Platforms, p)
	})
}

// gather collects every layer's tables of every tool, in name order.
func (c *compilation) gather(layers []source.Layer) []*draft {
	tools := map[string]*draft{}
	for _, layer := range layers {
		c.gatherLayer(tools, layer)
	}
	drafts := make([]*draft, 0, len(tools))
	for _, d := range tools {
		drafts = append(drafts, d)
	}
	slices.SortFunc(drafts, func(a, b *draft) int { return strings.Compare(a.name, b.name) })
	return drafts
}

// gatherLayer reads the tool tables of one layer in both spellings.
func (c *compilation) gatherLayer(tools map[string]*draft, layer source.Layer) {
	long := c.toolTable(layer.Root, "conversation", "tools")
	short := c.toolTable(layer.Root, "tools")
	c.checkSpellings(long, short)
	for _, t := range []struct {
		prefix string
		table  *source.Table
	}{{"conversation.tools.", long}, {"tools.", short}} {
		if t.table == nil {
			continue
		}
		for i := range t.table.Entries {
			e := &t.table.Entries[i]
			s := scope{c: c, layer: layer.Kind, path: t.prefix + tomltext.Key(e.Key)}
			c.gatherTool(tools, s, e)
		}
	}
}

func (c *compilation) gatherTool(tools map[string]*draft, s scope, e *source.Entry) {
	table := s.table(e.Value, "the table of a tool")
	if table == nil {
		return
	}
	if e.Key == "*" {
		c.checkDefaults(s, table)
		c.enable.read(table)
		return
	}
	d, ok := tools[e.Key]
	if !ok {
		d = newDraft(e.Key, e)
		tools[e.Key] = d
	}
	d.apply(s, table)
}

// toolTable walks to a table. In a file of another program other values may have the same keys,
// but "tools" itself must be a table.
func (c *compilation) toolTable(root *source.Table, keys ...string) *source.Table {
	for i, k := range keys {
		v := root.Get(k)
		if v == nil {
			return nil
		}
		if v.Kind != source.TableKind {
			if i == len(keys)-1 {
				c.report(diag.WrongType, strings.Join(keys, "."), v, "found "+v.Kind.String()+", expected a table")
			}
			return nil
		}
		root = v.Table
	}
	return root
}

func (c *compilation) checkSpellings(long, short *source.Table) {
	if long == nil || short == nil {
		return
	}
	for i := range short.Entries {
		e := &short.Entries[i]
		if other := long.Entry(e.Key); other != nil {
			d := diag.New(diag.TwoSpellings, e.At, e.Span)
			d.Path = "tools." + tomltext.Key(e.Key)
			d.Label = "found tools." + tomltext.Key(e.Key) + " beside conversation.tools." + tomltext.Key(e.Key)
			d.Related = []diag.Related{{At: other.At, Note: "the other spelling"}}
			d.Hint = "keep one of the two in this file"
			c.findings.Add(d)
		}
	}
}

// See RATIONALE D10.
func (c *compilation) checkDefaults(s scope, table *source.Table) {
	if e := table.Entry("access"); e != nil {
		d := diag.New(diag.AccessOnDefault, e.At, e.Span)
		d.Path, d.Label = s.path+".access", "found access in the table of defaults"
		d.Hint = "write it for each tool that needs it"
		c.findings.Add(d)
	}
}
