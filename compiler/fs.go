package compiler

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// fsDraft is an fs rule as a layer wrote it, its path not yet resolved.
type fsDraft struct {
	v        *source.Value
	scope    scope
	path     *source.Value
	names    []string // of a rule by name, sorted
	external bool
	mount    bool
	remove   bool
	caps     ir.CapSet
	// preset and reason belong to a preset's rule. vouched is true where the user's own layer or command line
	// names the preset.
	preset, reason string
	vouched        bool
	leaves         []ir.Leaf
	// glob is true where the path looks like a pattern, and no file has that very name.
	glob bool
}

func (d *fsDraft) value() *source.Value { return d.v }

// exceeds implements grants. Rules that grant by other means count as more.
func (d *fsDraft) exceeds(other grants) bool {
	o, ok := other.(*fsDraft)
	return d.caps != 0 && (!ok || !o.caps.Contains(d.caps) || d.external != o.external || d.mount != o.mount)
}

// fsWinner returns the key that fs rules compete for. Paths are compared as they are spelled
// here; resolution comes later.
func fsWinner(d *fsDraft) string {
	path, err := resolve.Spelling(d.path.Text)
	if err != nil {
		return d.path.Text
	}
	return path.Lexical + strings.Join(append([]string{""}, d.names...), "\x00")
}

// fsRule reads an fs rule. The alias write sets the default of create, update and delete; a
// value written for one of them wins.
func (s scope) fsRule(v *source.Value) (*fsDraft, bool) {
	t := s.table(v, `a table such as { path = "src", read = true }`)
	if t == nil {
		return nil, false
	}
	s.known(t, "an fs rule",
		"path", "names", "external", "read", "write", "create", "update", "delete", "execute", "mount", "remove")
	d := &fsDraft{v: v, scope: s}
	set := map[ir.Capability]bool{}
	alias := false
	for i := range t.Entries {
		e := &t.Entries[i]
		in := s.key(e.Key)
		switch e.Key {
		case "path":
			if _, ok := in.str(e.Value); ok {
				d.path = e.Value
			}
		case "names":
			var ok bool
			if d.names, ok = in.namePatterns(e.Value); !ok {
				return nil, false
			}
		case "external":
			d.external = in.boolean(e.Value)
		case "mount":
			d.mount = in.boolean(e.Value)
		case "write":
			alias = in.boolean(e.Value)
		default:
			c, ok := ir.ParseCapability(e.Key)
			if !ok {
				continue
			}
			set[c] = in.boolean(e.Value)
		}
		d.leaves = append(d.leaves, ir.Leaf{Key: e.Key, At: e.Value.At})
	}
	d.caps, d.remove = expand(set, alias), s.removes(t, "path", "names")
	sortLeaves(d.leaves)
	if t.Get("path") == nil {
		s.missing(v, "an fs rule", "path")
	}
	return d, d.path != nil
}

func expand(set map[ir.Capability]bool, alias bool) ir.CapSet {
	var caps ir.CapSet
	for _, c := range ir.Capabilities {
		granted, written := set[c]
		if granted || !written && alias && ir.Write.Has(c) {
			caps = caps.With(c)
		}
	}
	return caps
}

func sortLeaves(l []ir.Leaf) {
	slices.SortFunc(l, func(a, b ir.Leaf) int { return strings.Compare(a.Key, b.Key) })
}

// finishFS resolves the declared rules, or leaves the default in place. Rules below external ones
// are resolved last, when the targets of the external rules are known.
func (c finisher) finishFS(t *ir.Tool, d *draft) {
	drafts := slices.Concat(d.presetFS(), d.fs.Items())
	if t.Declared.FS = !d.fs.Absent(); !t.Declared.FS && len(drafts) == 0 {
		return
	}
	outer := externals(drafts)
	rules := make([]*ir.FSRule, len(drafts))
	for i, r := range drafts {
		if r.around(outer) == "" {
			rules[i] = c.resolveFS(t, r)
		}
	}
	targets := c.targetsOf(rules)
	for i, r := range drafts {
		if around := r.around(outer); around != "" {
			rules[i] = c.resolveBelow(r, around, targets)
		}
	}
	if t.Declared.FS {
		t.FS = nil
	}
	for i, r := range rules {
		if r != nil {
			t.FS = append(t.FS, *r)
			drafts[i].checkTakes(r, rules)
		}
	}
	linter(c).lintFS(t.FS)
	c.ownProgram(t)
	if c.targets(ir.Darwin, ir.Windows) {
		linter(c).lintFolding(t)
	}
	linter(c).checkOverlap(t)
}

// rule is the rule as far as it is known before its path is resolved.
func (d *fsDraft) rule() *ir.FSRule {
	return &ir.FSRule{
		Written: d.path.Text, Names: d.names, Caps: d.caps, External: d.external, Mount: d.mount,
		Origin: d.scope.origin(d.v.At), Leaves: d.leaves,
	}
}

// resolveFS resolves the path of a rule. A rule that must not enter the policy is nil.
func (c finisher) resolveFS(t *ir.Tool, d *fsDraft) *ir.FSRule {
	rule, s := d.rule(), d.scope.key("path")
	if d.scope.layer == ir.LayerPreset && !c.there(d) {
		return nil
	}
	found, ok := c.ruleAt(d)
	if !ok {
		return nil
	}
	if strings.ContainsAny(d.path.Text, "*?") {
		f := s.report(diag.GlobInPath, d.path, "this names one file with that very name")
		f.Hint = "name the directory instead: a rule covers everything below its path"
		if by := asNames(d.path.Text); by != "" {
			f.Hint = "write " + by + ": a rule by name, about every file of that name below the path"
		}
	}
	d.glob = found.Kind == ir.Absent && (strings.ContainsAny(d.path.Text, "*?{") || strings.HasPrefix(d.path.Text, "!"))
	switch {
	case found.Inside && d.external && (found.Direct || found.Kind != ir.Absent):
		f := s.report(diag.ExternalInside, d.path, "leads to "+found.At.Short()+" in the workspace")
		f.Hint = "external belongs on a rule whose own path is a symlink that leaves the workspace; remove it, or " +
			"name the symlink"
		if found.Direct {
			f.Hint = "write path = " + tomltext.String(found.At.Spelled()) + " without external"
		}
		return nil
	case found.Inside && !d.external:
		rule.At, rule.Links = found.At, found.Links
		return rule
	case !d.external:
		f := s.report(diag.PathOutside, d.path, "leads to "+found.Abs)
		f.Hint = "add external = true if the tool is to follow this symlink"
		return nil
	}
	rule.At = ir.Location{Root: ir.Root{Kind: ir.External, Name: found.Lexical}}
	if _, ok := resolve.Below(found.Lexical, CommonDir); ok && c.opts.Approved != nil && c.opts.Repository == "" {
		return nil
	}
	if !c.approve(t, s, d, found) {
		return nil
	}
	return rule
}

// checkTakes refuses a rule that was to take away what another grants, by a pattern: rules have none.
func (d *fsDraft) checkTakes(r *ir.FSRule, rules []*ir.FSRule) {
	takes := func(o *ir.FSRule) bool { return o != nil && r.At.Under(o.At) && !r.Caps.Contains(o.Caps) }
	if d.glob && slices.ContainsFunc(rules, takes) {
		f := d.scope.key("path").report(diag.TakesNothing, d.path,
			"no file has that very name, so the rule takes nothing away")
		f.Hint = "name each file, or the directory that holds them"
		if by := asNames(d.path.Text); by != "" {
			f.Hint = "write " + by
		}
	}
}

// lintFS warns about rules whose effect differs from their appearance.
func (c linter) lintFS(rules []ir.FSRule) {
	last := map[string]*ir.FSRule{}
	for i := range rules {
		r := &rules[i]
		if r.Caps.Has(ir.Execute) && !r.Caps.Has(ir.Read) {
			f := diag.New(diag.ExecuteNoRead, leafAt(r.Leaves, "execute", r.Origin), len("true"))
			f.Path = r.Origin.Path + ".execute"
			f.Label = "the kernel opens a program for reading before it starts it"
			f.Hint = "add read = true"
			c.findings.Add(f)
		}
		subject := r.At.String() + strings.Join(append([]string{""}, r.Names...), "\x00")
		if before, ok := last[subject]; ok && before.Caps != r.Caps {
			c.orderDecides(before, r, leafAt(r.Leaves, "path", r.Origin), "the later rule wins: "+r.Caps.String())
		}
		last[subject] = r
	}
}

// orderDecides warns about two rules of equal specificity that differ.
func (c linter) orderDecides(before, after ir.Rule, at ir.Pos, label string) {
	f := diag.New(diag.OrderDecides, at, len(writtenSubject(after))+len(`""`))
	f.Path, f.Label = after.Source().Path, label
	f.Related = []diag.Related{{At: before.Source().Pos, Note: "the rule that it overrides"}}
	f.Hint = `remove one of them, or write the list with strategy = "replace"`
	c.findings.Add(f)
}

// writtenSubject returns the subject of a rule as its layer spells it.
func writtenSubject(r ir.Rule) string {
	switch r := r.(type) {
	case *ir.FSRule:
		return r.Written
	case *ir.NetRule:
		return r.Written
	case *ir.EnvRule, *ir.CommandRule:
		return r.Subject()
	default:
		return ""
	}
}

func leafAt(leaves []ir.Leaf, key string, or ir.Origin) ir.Pos {
	for _, l := range leaves {
		if l.Key == key {
			return l.At
		}
	}
	return or.Pos
}

// lintFolding refuses rule paths that some systems cannot tell apart.
func (c linter) lintFolding(t *ir.Tool) {
	seen := map[string]*ir.FSRule{}
	for i := range t.FS {
		r := &t.FS[i]
		if r.ByName() {
			continue
		}
		key := resolve.Fold(r.At.Root.String() + "/" + r.At.Path)
		other, ok := seen[key]
		if !ok {
			seen[key] = r
			continue
		}
		if other.At == r.At {
			continue
		}
		f := diag.New(diag.FoldCollision, leafAt(r.Leaves, "path", r.Origin), len(r.Written)+2)
		f.Path = r.Origin.Path + ".path"
		f.Label = "macOS and Windows cannot tell this from " + other.Written
		f.Related = []diag.Related{{At: leafAt(other.Leaves, "path", other.Origin), Note: "the other path"}}
		f.Hint = "keep one of them, or build for linux alone with --target linux"
		c.findings.Add(f)
	}
}

// alike reports whether a rule by name has its like, on the target of another external rule.
func alike(rules []*ir.FSRule, r *ir.FSRule, target string) bool {
	return r.ByName() && slices.ContainsFunc(rules, func(o *ir.FSRule) bool {
		return o.At.Root.Name == target && o.Caps == r.Caps && slices.Equal(o.Names, r.Names)
	})
}

// checkOverlap refuses external rules that reach one place by different names with
// different capabilities: the system sees the place, not the name.
func (c linter) checkOverlap(t *ir.Tool) {
	targets := map[string]string{}
	for _, b := range c.res.Bindings {
		targets[b.RulePath] = b.Target
	}
	var rules []*ir.FSRule
	for i := range t.FS {
		if t.FS[i].External && targets[t.FS[i].At.Root.Name] != "" {
			rules = append(rules, &t.FS[i])
		}
	}
	slices.SortStableFunc(rules, func(a, b *ir.FSRule) int {
		return cmp.Compare(targets[a.At.Root.Name], targets[b.At.Root.Name])
	})
	for i, r := range rules {
		for _, o := range rules[:i] {
			a, b := o.At.Root.Name, r.At.Root.Name
			rest, nested := resolve.Below(targets[b], targets[a])
			if !nested || o.Caps == r.Caps && slices.Equal(o.Names, r.Names) {
				continue
			}
			if same, ok := resolve.Below(b, a); ok && same == rest || alike(rules, o, b) && alike(rules, r, a) {
				continue
			}
			f := diag.New(diag.TargetsOverlap, leafAt(r.Leaves, "path", r.Origin), len(r.Written)+2)
			f.Path = r.Origin.Path + ".path"
			f.Label = b + " → " + targets[b] + " lies in " + a + " → " + targets[a]
			f.Related = []diag.Related{{At: leafAt(o.Leaves, "path", o.Origin), Note: "grants " + o.Caps.String()}}
			f.Hint = "give both the same capabilities"
			c.findings.Add(f)
		}
	}
}
