package winjob

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// plan is the treatment of one named node of the region tree.
type plan struct {
	region *ir.Region
	// above is the grant of the directory above; empty above a root.
	above ir.CapSet
	// root is true where paths are counted from.
	root bool
	// entry is nil where inheritance alone gives the right list.
	entry *Entry
	// unmatched is true where no file can have the path.
	unmatched bool
}

// lost returns the capabilities that the directory above grants and the region withholds.
func (p *plan) lost() ir.CapSet { return p.above &^ p.region.Caps }

// gained returns the capabilities that the region grants and the directory above does not.
func (p *plan) gained() ir.CapSet { return p.region.Caps &^ p.above }

// vacant reports whether something could be moved to a pinned path that is not there.
// Where something pinned lies below, that is there or the tool does not start.
func (p *plan) vacant() bool {
	return p.region.Pinned && len(p.region.Below) == 0 && p.above.Has(ir.Create)
}

// takable reports whether others can move something to a pinned path that was not
// there at the start, and so has no list that keeps the name in its place.
func (p *plan) takable() bool {
	return p.region.Pinned && p.entry != nil && p.entry.Absent == AbsentSkip
}

// guards reports whether the region is that of a protected path, or a name that leads to
// protected paths alone.
func (p *plan) guards() bool { return p.region.LeadsToGuarded() }

// layout is the access lists of one tool: a plan per node, in the order of the tree.
type layout struct {
	view     *ir.View
	target   backends.Target
	plans    []*plan
	refusals []backends.Refusal
	// spelled maps the folded form of every path to its spelling.
	spelled map[string]string
}

func newLayout(v *ir.View, t backends.Target) *layout {
	l := &layout{view: v, target: t, spelled: map[string]string{}}
	if v.Regions(ir.In("").Root) == nil {
		l.root(&ir.Region{At: ir.In("")})
	}
	for _, r := range v.Roots() {
		l.root(v.Regions(r))
	}
	return l
}

func (l *layout) listed() bool { return l.view.Tool.Commands != nil }

// root plans a tree. The list of a root is always protected: whatever is granted to
// AppContainers above it, or by another root that contains it, ends there.
// See RATIONALE D77.
func (l *layout) root(r *ir.Region) {
	if r.At.Root.Kind == ir.System {
		l.below(r, 0)
		return
	}
	p := &plan{region: r, root: true}
	words := wordsFor(r.Caps, l.listed())
	if r.At.Root.Kind == ir.Workspace && len(words) == 0 {
		words = []Grant{GrantEnter}
	}
	l.add(p, Entry{DACL: DACLProtected, Grants: words, Absent: absentRoot(r.At.Root.Kind)})
	l.below(r, r.Caps)
}

func absentRoot(k ir.RootKind) Absent {
	switch k {
	case ir.Home, ir.Temp:
		return AbsentCreate
	case ir.Workspace, ir.System, ir.External:
		return AbsentRefuse
	default:
		return AbsentRefuse
	}
}

func (l *layout) below(r *ir.Region, above ir.CapSet) {
	for _, b := range r.Below {
		l.node(b, above)
	}
}

// node plans a node that is no root. An entry is needed where the region differs from its
// inheritance, and where the name is pinned although the directory above lets it be moved away,
// or, if it is missing, another file be moved into its place.
func (l *layout) node(r *ir.Region, above ir.CapSet) {
	p := &plan{region: r, above: above, unmatched: impossible(r.At)}
	switch {
	case r.Link:
		l.add(p, Entry{DACL: DACLProtected, Grants: []Grant{GrantOpen}, Absent: AbsentRefuse, ReparsePoint: true})
		return
	case l.system(r):
		l.plans = append(l.plans, p)
	case p.lost() != 0 || r.Pinned && above.Has(ir.Delete):
		l.add(p, Entry{DACL: DACLProtected, Grants: wordsFor(r.Caps, l.listed()), Absent: p.absent()})
	case p.gained() != 0 || p.vacant():
		l.add(p, Entry{DACL: DACLGrant, Grants: wordsFor(r.Caps, l.listed()), Absent: p.absent()})
	default:
		l.add(p, Entry{})
	}
	l.below(r, r.Caps)
}

// system reports whether a node belongs to the base or to no rule outside of all
// roots. Such lists belong to the system: they are used as they are.
func (l *layout) system(r *ir.Region) bool {
	return r.At.Root.Kind == ir.System && (r.Governing.Rule == nil || r.Governing.Rule.Origin.Layer == ir.LayerBase)
}

// absent decides for a path that is missing at the start. A file that the tool or the user
// makes there would inherit the grants of the directory above. That is harmless if they are no
// more than the rule's and the tool cannot make the file, or move one there. Protected paths
// are many, and few of them exist.
func (p *plan) absent() Absent {
	if p.guards() || p.lost() == 0 && !p.above.Has(ir.Create) {
		return AbsentSkip
	}
	return AbsentRefuse
}

// add records a plan, with an entry unless that is empty or belongs to another root.
func (l *layout) add(p *plan, e Entry) {
	l.plans = append(l.plans, p)
	at := p.region.At
	if p.unmatched || l.elsewhere(at) {
		return
	}
	e.Path, e.Rule = path(l.target, at), string(governing(p.region))
	if why := misplaced(e.Path); why != "" {
		l.refuse(p.region, why)
		return
	}
	key := fold(e.Path)
	if other, ok := l.spelled[key]; ok && other != e.Path {
		l.refuse(p.region, "Windows cannot tell "+e.Path+" from "+other)
		return
	}
	l.spelled[key] = e.Path
	if e.DACL != "" {
		p.entry = &e
	}
}

// elsewhere reports whether a location is another root's on this host, such as a
// home directory in the workspace: then that root's rules decide, here as in the view.
func (l *layout) elsewhere(at ir.Location) bool {
	b := l.target.Facts.Bindings
	if l.target.Form != backends.Resolved || b == nil {
		return false
	}
	abs, ok := b.Path(at)
	return ok && at.Root.Kind != ir.System && b.Locate(abs) != at
}

func (l *layout) refuse(r *ir.Region, why string) {
	refusal := backends.Refusal{Why: why}
	if r.Governing.Rule != nil {
		refusal.Rule = r.Governing.Rule
	}
	l.refusals = append(l.refusals, refusal)
}

func governing(r *ir.Region) ir.RuleID {
	if r.Governing.Rule == nil {
		return ir.DefaultRule
	}
	return r.Governing.ID
}

// entries lists the access lists in the order of the tree.
func (l *layout) entries() []Entry {
	out := []Entry{}
	for _, p := range l.plans {
		if p.entry != nil {
			out = append(out, *p.entry)
		}
	}
	return out
}

func (l *layout) unmatched() []Unmatched {
	var out []Unmatched
	for _, p := range l.plans {
		if p.unmatched && p.region.Named {
			out = append(out, Unmatched{path(l.target, p.region.At), string(governing(p.region))})
		}
	}
	return out
}

// ambient lists the directories that are open to every AppContainer: those of the
// base, listed whether or not the policy has one.
func (l *layout) ambient() []Ambient {
	var out []Ambient
	for _, e := range l.view.Entries() {
		if e.Rule.Origin.Layer == ir.LayerBase {
			out = append(out, Ambient{path(l.target, e.Rule.At), e.Rule.Caps.Contains(ambientCaps)})
		}
	}
	if out == nil {
		for _, r := range ir.BaseRules(ir.BaseSystem, ir.Windows) {
			out = append(out, Ambient{path(backends.Target{}, r.At), false})
		}
	}
	return out
}

// ambientCaps is the grant of the entry for ALL APPLICATION PACKAGES there.
var ambientCaps = ir.Caps(ir.Read, ir.Execute)
