package compiler

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// Options are the input of Compile.
type Options struct {
	// Root is the workspace root; it must exist.
	Root string
	// Part, unless empty, is a directory of Root, slash-separated, that is the workspace in its place: with Tree it
	// need not be on the disk. Names of files count from Root.
	Part string
	// Layers selects the layers to read; its Root, Base, Tree and Host are set by Compile.
	Layers source.Request
	// Tree, unless nil, replaces the workspace on the disk: the tree of a revision.
	Tree fs.ReadLinkFS
	// Approved reports whether an external rule of this path may lead to a canonical target, and
	// otherwise which target was approved instead, empty for none. Rules that may not are
	// dropped with a warning. Where Approved is nil the policy is portable: it keeps every
	// external rule as a symbol.
	Approved func(rulePath, target string) (ok bool, was string)
	// Unfit, unless nil, returns why no external rule may grant a set of capabilities at a canonical target; empty if a
	// rule may.
	Unfit func(target string, caps ir.CapSet) string
	// Platforms are the platforms whose limits apply; nil means all.
	Platforms []ir.Platform
	// Apart lets an error in a tool stop only that tool.
	Apart bool
	// Planned maps the paths of external rules to canonical targets, and has the workspace look as if
	// it had them.
	Planned map[string]string
	// Repository is the common directory of the workspace's repository where that is elsewhere, empty otherwise. The
	// path CommonDir leads to it.
	Repository string
	// Host is the disk around Tree, or with the workspace; where it is nil there is none.
	Host Host
}

// Host is the disk that a configuration is read from, and that the paths of its rules are looked up on.
type Host interface {
	resolve.FileSystem
	source.Host
}

// Result is a compiled configuration: the program, or the findings that stopped it.
type Result struct {
	// Program is nil when an error stopped the run. Compiled apart, it has the tools without
	// errors.
	Program *ir.Program
	// Rulesets are nil when an error stopped the run, or is in one of them.
	Rulesets []*ruleset.Set
	// Agents are the types of subagents, by name. Those that the layers do not list have the policy of their parent.
	Agents   map[string]Agent
	Findings diag.List // sorted by place
	// Files are the texts of the files that were read, for quoting lines of them.
	Files source.Files
	// Listed are the directories in which a new file may become a layer.
	Listed []string
	// Dangling are symlinks whose targets may become layers.
	Dangling []string
	// Members are the patterns by which the workspace lists workspaces in it.
	Members []string
	// Patterns are the patterns by which it may.
	Patterns []source.Pattern
	// Bindings are the targets of external rules, approved or not, sorted by rule path. A
	// portable policy has none.
	Bindings []Binding
	// Resolver evaluates further paths against the same workspace.
	Resolver *resolve.Resolver

	apart bool
	// named are the tools and servers that say how they are run.
	named map[string]name
	// first are the places where tools are first mentioned.
	first map[string]ir.Pos
	// wrong are the tools that errors take out of the program.
	wrong map[string]bool
	// disabled are the tools that are not enabled.
	disabled map[string]bool
}

// Compile compiles a configuration. The error is about the workspace root; mistakes of the
// configuration are findings.
func Compile(opts Options) (*Result, error) {
	resolver, err := opts.workspace()
	if err != nil {
		return nil, err
	}
	opts.Layers.Base = resolver.Root
	if opts.Part != "" {
		resolver = resolver.Part(opts.Part)
	}
	if opts.Tree != nil {
		resolver.Replace(opts.Tree)
	}
	if opts.Repository != "" {
		resolver.Pretend(CommonDir, opts.Repository)
	}
	for path, target := range opts.Planned {
		if !(ir.Root{Kind: ir.External, Name: path}).Direct() {
			resolver.Pretend(path, target)
		}
	}
	resolver.Home = filepath.ToSlash(opts.Layers.Home)
	opts.Layers.Root, opts.Layers.Tree, opts.Layers.Host = resolver.Root, opts.Tree, opts.Host
	set, findings := source.Load(opts.Layers)
	res := &Result{Program: &ir.Program{}, Files: set.Files, Listed: set.Listed, Patterns: set.Patterns,
		Dangling: set.Dangling, Members: set.Members, Resolver: resolver, apart: opts.Apart,
		disabled: map[string]bool{}}
	c := &compilation{opts: opts, res: res, findings: findings}
	drafts := c.gather(set.Layers)
	res.first, res.named = map[string]ir.Pos{}, map[string]name{}
	for _, d := range drafts {
		if d.source != nil || d.server != nil {
			c.sourced = append(c.sourced, d.name)
		}
		res.first[d.name] = d.first.At
		if n, is := nameOf(d); is {
			res.named[d.name] = n
		}
	}
	c.checkFolded(drafts)
	c.checkAfter(drafts)
	narrower{c}.narrow(set.Layers)
	for _, d := range drafts {
		if t := (finisher{c}).finish(d); t != nil {
			res.Program.Tools = append(res.Program.Tools, t)
		}
	}
	res.Agents = c.agents(set.Layers)
	res.Rulesets = ruleGatherer{c}.rulesets(set.Layers)
	c.finishBindings()
	res.Report(c.findings...)
	return res, nil
}

// workspace returns what evaluates paths of the workspace, which only a tree can have without a host.
func (o *Options) workspace() (*resolve.Resolver, error) {
	if o.Host != nil {
		return resolve.New(o.Root, resolve.Through(o.Host))
	}
	root, err := filepath.Abs(o.Root)
	switch {
	case err != nil:
		return nil, err
	case o.Tree == nil:
		return nil, errors.New("there is no disk that has " + o.Root)
	}
	return resolve.In(filepath.ToSlash(root), resolve.Through(resolve.Nowhere{})), nil
}

// First is the place in the lowest layer that mentions a tool.
func (r *Result) First(tool string) ir.Pos { return r.first[tool] }

// The stages of a compilation, which share what it has found so far.
type (
	// finisher makes a tool of a draft: rules get places and approvals.
	finisher struct{ *compilation }
	// linter looks for rules of a finished tool that take nothing, or that an order decides.
	linter struct{ *compilation }
	// ruleGatherer makes the rulesets.
	ruleGatherer struct{ *compilation }
	// narrower compares what the layers grant with and without a layer that may only narrow.
	narrower struct{ *compilation }
)

// compilation is a run of Compile.
type compilation struct {
	opts     Options
	res      *Result
	findings diag.List
	// grants are the grants of the external rules that lead somewhere.
	grants []Grant
	// enable and run are settings in the table of defaults, and defaults what it says of access, nil for nothing.
	enable   enabled
	run      string
	defaults *draft
	// sourced are the names of the tools that some layer says how to run.
	sourced []string
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
	slices.SortFunc(drafts, func(a, b *draft) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.path(), b.path()))
	})
	return drafts
}

// gatherLayer reads the tool tables of a layer in both spellings, and its servers.
func (c *compilation) gatherLayer(tools map[string]*draft, layer source.Layer) {
	long := c.toolTable(layer.Root, "conversation", "tools")
	short := c.toolTable(layer.Root, "tools")
	c.checkSpellings(long, short)
	presets := c.filePresets(layer)
	c.understood(layer)
	for _, t := range []struct {
		prefix string
		table  *source.Table
	}{{"conversation.tools.", long}, {"tools.", short}, {serverPrefix, c.toolTable(layer.Root, ir.ServersTable)}} {
		if t.table == nil {
			continue
		}
		for i := range t.table.Entries {
			e := &t.table.Entries[i]
			s := scope{c: c, layer: layer.Kind, confined: layer.Confined, foreign: c.foreign(layer),
				path: t.prefix + tomltext.Key(e.Key)}
			if t.prefix == serverPrefix {
				c.gatherServer(tools, s, e, presets)
			} else {
				c.gatherTool(tools, s, e, presets)
			}
		}
	}
}

func (c *compilation) gatherTool(tools map[string]*draft, s scope, e *source.Entry, presets []*presetDraft) {
	table := s.table(e.Value, "the table of a tool")
	if table == nil {
		return
	}
	if e.Key == "*" {
		if access := table.Entry("access"); access != nil {
			c.applyDefaults(s, access)
		}
		s.fields(table, "the table of defaults", defaultKeys)
		c.enable.read(table)
		if v := table.Get("run"); v != nil && v.Kind == source.StringKind {
			c.run = v.Text
		}
		return
	}
	d, ok := tools[e.Key]
	if !ok {
		d = newDraft(e.Key, e)
		d.usersOwn = true
		tools[e.Key] = d
	}
	d.usersOwn = d.usersOwn && s.layer == ir.LayerUser
	d.extend(presets)
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

// inherited are the keys of access that may stand in the table of defaults: they grant nothing, or are the same for
// all.
var inherited = []string{"base", "limits", "sensitive_paths"}

// applyDefaults reads the access of the table of defaults.
// See decision D10.
func (c *compilation) applyDefaults(s scope, e *source.Entry) {
	if c.defaults == nil {
		c.defaults = newDraft("*", e)
	}
	s = s.key("access")
	table := s.table(e.Value, "a table of "+strings.Join(inherited, ", "))
	if table == nil {
		return
	}
	var others []string
	for i := range table.Entries {
		rule := &table.Entries[i]
		if slices.Contains(inherited, rule.Key) || !slices.Contains(accessKeys, rule.Key) {
			continue
		}
		others = append(others, rule.Key)
		d := diag.New(diag.AccessOnDefault, rule.At, rule.Span)
		d.Path, d.Label = s.path+"."+rule.Key, "found "+rule.Key+" in the table of defaults"
		d.Hint = "write it for each tool that needs it"
		c.findings.Add(d)
	}
	c.defaults.applyAccess(s, table.Without(others...))
}

// inherit gives a draft what the table of defaults says and no layer says of the tool.
func (c *compilation) inherit(d *draft) {
	if c.defaults == nil {
		return
	}
	if !d.based {
		d.base = c.defaults.base
	}
	for k, l := range c.defaults.limits {
		if _, own := d.limits[k]; !own {
			d.limits[k] = l
		}
	}
	d.everywhere = c.defaults.sensitive.Items()
}
