package winjob

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// layout is the access lists of one tool.
type layout struct {
	view   *ir.View
	target backends.Target
	// regions are the regions that lists could be set for, in the order of their roots, parents first.
	regions []*ir.Region
	// lists has no entry where inheritance by itself gives the right list.
	lists    map[*ir.Region]Entry
	refusals []backends.Refusal
	// spelled maps the folded form of every path to its spelling.
	spelled map[string]string
}

func newLayout(v *ir.View, t backends.Target) *layout {
	l := &layout{view: v, target: t, lists: make(map[*ir.Region]Entry, len(v.Entries())),
		spelled: make(map[string]string, len(v.Entries()))}
	for _, r := range v.Tree() {
		l.root(r)
	}
	return l
}

func (l *layout) listed() bool { return l.view.Tool.Commands != nil }

// above returns the access that the list of the directory above a region grants in it. The list of a root
// is always protected, so nothing is inherited there, and none is set for the system's root.
func above(r *ir.Region) ir.CapSet {
	if r.IsRoot() || r.Above.IsRoot() && r.At.Root.Kind == ir.System {
		return 0
	}
	return r.Above.Caps
}

// lost returns the capabilities that the directory above grants and the region withholds.
func lost(r *ir.Region) ir.CapSet { return above(r) &^ r.Caps }

// gained returns the capabilities that the region grants and the directory above does not.
func gained(r *ir.Region) ir.CapSet { return r.Caps &^ above(r) }

// vacant reports whether something could be moved to a pinned path that is not there.
// Where something pinned lies below, that is there or the tool does not start.
func vacant(r *ir.Region) bool {
	return r.Pinned && len(r.Below) == 0 && above(r).Has(ir.Create)
}

// takable reports whether others can move something to a pinned path that was not
// there at the start, and so has no list that keeps the name in its place.
func (l *layout) takable(r *ir.Region) bool { return r.Pinned && l.skipped(r) }

// skipped reports whether a region gets its list only if it is there at the start.
func (l *layout) skipped(r *ir.Region) bool { return l.lists[r].Absent == AbsentSkip }

// root lays out a tree. The list of a root is always protected: whatever is granted to
// AppContainers above it, or by another root that contains it, ends there.
// See decision D77.
func (l *layout) root(r *ir.Region) {
	if r.At.Root.Kind != ir.System {
		words := wordsFor(r.Caps, l.listed())
		if r.At.Root.Kind == ir.Workspace && len(words) == 0 {
			words = []Grant{GrantEnter}
		}
		l.regions = append(l.regions, r)
		l.set(r, Entry{DACL: DACLProtected, Grants: words, Absent: absentRoot(r.At.Root.Kind)})
	}
	l.below(r)
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

// below lays out the regions below a region in its root.
func (l *layout) below(r *ir.Region) {
	for _, b := range r.Below {
		if b.IsRoot() {
			continue
		}
		l.regions = append(l.regions, b)
		if !impossible(b.At) && !l.system(b) {
			l.set(b, l.entry(b))
		}
		if !b.Link {
			l.below(b)
		}
	}
}

// entry returns the list of a region that is no root. An entry is needed where the region differs from
// its inheritance, and where the name is pinned although the directory above lets it be moved
// away, or, if it is missing, another file be moved into its place.
func (l *layout) entry(r *ir.Region) Entry {
	words := wordsFor(r.Caps, l.listed())
	switch {
	case r.Link:
		return Entry{DACL: DACLProtected, Grants: []Grant{GrantOpen}, Absent: AbsentRefuse, ReparsePoint: true}
	case lost(r) != 0 || r.Pinned && above(r).Has(ir.Delete):
		return Entry{DACL: DACLProtected, Grants: words, Absent: absent(r)}
	case gained(r) != 0 || vacant(r):
		return Entry{DACL: DACLGrant, Grants: words, Absent: absent(r)}
	case matched(r):
		// Without an entry the loader would take the name for one of the rule by name.
		return Entry{DACL: DACLGrant, Grants: words, Absent: AbsentSkip}
	default:
		return Entry{}
	}
}

// matched reports whether the name of a region is one of a rule by name around it.
func matched(r *ir.Region) bool {
	return slices.ContainsFunc(r.Above.ByName, func(e ir.Entry) bool {
		return ir.MatchNamesFolded(e.Rule.Names, r.Name)
	})
}

// system reports whether a region belongs to the base or to no rule outside of all
// roots. Such lists belong to the system: they are used as they are.
func (l *layout) system(r *ir.Region) bool {
	return r.At.Root.Kind == ir.System && (r.Governing.Rule == nil || r.Governing.Rule.Origin.Layer == ir.LayerBase)
}

// absent decides for a path that is missing at the start. A file that the tool or the user
// makes there would inherit the grants of the directory above. That is harmless if they are no
// more than the rule's and the tool cannot make the file, or move one there. Protected paths
// are many, and few of them exist.
func absent(r *ir.Region) Absent {
	if r.LeadsToGuarded() || lost(r) == 0 && !above(r).Has(ir.Create) {
		return AbsentSkip
	}
	return AbsentRefuse
}

// set records the list of a region, unless that is empty, and refuses a path that can have none.
func (l *layout) set(r *ir.Region, e Entry) {
	e.Path, e.Rule = path(l.target, r.At), string(r.ID())
	if why := misplaced(e.Path); why != "" {
		l.refuse(r, why)
		return
	}
	key := fold(e.Path)
	if other, ok := l.spelled[key]; ok && other != e.Path {
		l.refuse(r, "Windows cannot tell "+e.Path+" from "+other)
		return
	}
	l.spelled[key] = e.Path
	if e.DACL != "" {
		l.lists[r] = e
	}
}

func (l *layout) refuse(r *ir.Region, why string) {
	refusal := backends.Refusal{Why: why}
	if r.Governing.Rule != nil {
		refusal.Rule = r.Governing.Rule
	}
	l.refusals = append(l.refusals, refusal)
}

// entries lists the access lists in the order of the tree.
func (l *layout) entries() []Entry {
	out := []Entry{}
	for _, r := range l.regions {
		if e, ok := l.lists[r]; ok {
			out = append(out, e)
		}
	}
	return out
}

// byName are the regions in which each rule by name is about names. Access lists belong to files and know no names, so
// the loader gives those that it finds lists of their own.
// See decision D77.
func (l *layout) byName() map[ir.RuleID][]backends.Named {
	out := map[ir.RuleID][]backends.Named{}
	for _, r := range l.regions {
		for _, n := range backends.NamedIn(r) {
			out[n.ID] = append(out[n.ID], n)
		}
	}
	return out
}

// patterns lists the rules by name of each region in which they, or what they grant, are not those of the region
// above.
func (l *layout) patterns() []Pattern {
	var out []Pattern
	for _, r := range l.regions {
		own := l.patternsIn(r)
		var above []Pattern
		if r.Above != nil {
			above = l.patternsIn(r.Above)
		}
		if slices.EqualFunc(own, above, func(a, b Pattern) bool {
			return a.Rule == b.Rule && slices.Equal(a.Grants, b.Grants)
		}) || impossible(r.At) {
			continue
		}
		if len(own) == 0 { // a root in another
			own = []Pattern{{Names: []string{}, Grants: []Grant{}, Rule: string(r.ID())}}
		}
		for _, p := range own {
			p.Path = path(l.target, r.At)
			out = append(out, p)
		}
	}
	return out
}

func (l *layout) patternsIn(r *ir.Region) []Pattern {
	var out []Pattern
	for _, n := range backends.NamedIn(r) {
		out = append(out, Pattern{"", n.Rule.Names, wordsFor(n.Caps, l.listed()), string(n.ID)})
	}
	return out
}

func (l *layout) unmatched() []Unmatched {
	var out []Unmatched
	for _, r := range l.regions {
		if !impossible(r.At) {
			continue
		}
		if r.Named {
			out = append(out, Unmatched{path(l.target, r.At), string(r.ID())})
		}
		for _, e := range r.ByName {
			if e.Rule.At == r.At {
				out = append(out, Unmatched{path(l.target, r.At), string(e.ID)})
			}
		}
	}
	return out
}

// ambient lists the directories that are open to every AppContainer: the directories of the base, listed whether or not
// the policy has one.
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
const ambientCaps = ir.CapSet(1<<ir.Read | 1<<ir.Execute)
