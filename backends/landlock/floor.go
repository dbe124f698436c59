package landlock

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// group is a set of rights that are granted together along a tree.
type group uint8

const (
	groupRead group = 1 << iota
	groupUpdate
	groupCreate
	groupDelete
	groupExecute
)

// groupOf maps a capability to its group.
func groupOf(c ir.Capability) group {
	switch c {
	case ir.Read:
		return groupRead
	case ir.Create:
		return groupCreate
	case ir.Update:
		return groupUpdate
	case ir.Delete:
		return groupDelete
	case ir.Execute:
		return groupExecute
	default:
		return 0
	}
}

// caps is the inverse of groupOf.
func (g group) caps() ir.CapSet {
	var s ir.CapSet
	for _, c := range ir.Capabilities {
		if g&groupOf(c) != 0 {
			s = s.With(c)
		}
	}
	return s
}

// rights returns the rights of the groups in g. A move or link between directories needs REFER
// on both (it never lets a file gain a right), so REFER goes with every right that can take
// part in one.
func (g group) rights() []Right {
	var out []Right
	add := func(has bool, rs ...Right) {
		if has {
			out = append(out, rs...)
		}
	}
	add(g&groupExecute != 0, Execute)
	add(g&groupRead != 0, ReadFile, ReadDir)
	add(g&groupUpdate != 0, WriteFile, Truncate)
	add(g&groupCreate != 0, MakeReg, MakeDir, MakeSym, MakeFifo, MakeSock)
	add(g&groupDelete != 0, RemoveFile, RemoveDir)
	linkable := groupRead | groupUpdate
	add(g&(groupCreate|groupDelete) != 0 || g&linkable == linkable, Refer)
	return out
}

// groupsFor returns the groups that the kernel may be given for a set of
// capabilities without permitting more than the set:
//   - execve(2) opens the image for reading, so execute alone starts nothing;
//   - create and delete together let a rename replace a file, which needs update;
//     without it the kernel is not given create;
//   - where the policy lists programs, execute is granted on their files instead.
func groupsFor(c ir.CapSet, listed bool) group {
	var g group
	for _, have := range c.List() {
		g |= groupOf(have)
	}
	if !c.Has(ir.Read) || listed {
		g &^= groupExecute
	}
	if c.Has(ir.Create) && c.Has(ir.Delete) && !c.Has(ir.Update) {
		g &^= groupCreate
	}
	return g
}

// plan is the part of the ruleset for one named node of the region tree.
type plan struct {
	region *ir.Region
	// name is the node's name in the directory above.
	name string
	// pinned is true where the policy lets the name not be moved.
	pinned bool
	// wants are the rights that the node's own capabilities permit granting.
	wants group
	// lacks are the rights that some node at or below does not want.
	lacks group
	// below are the nodes of the tree that are directly below, by name.
	below []*plan
}

// whole is granted on the directory itself and reaches everything below it.
func (p *plan) whole() group { return p.wants &^ p.lacks }

// spine returns the rights of an expanded directory: they are granted on its entries, because
// something below is an exception.
func (p *plan) spine() group { return p.wants & p.lacks }

// brings reports whether the tool can itself put a name into the directory of p, or
// another file in the place of one: by making it or by moving it over.
func (p *plan) brings() bool {
	replaces := groupDelete | groupUpdate
	return p.region.Caps.Has(ir.Create) || p.wants&replaces == replaces
}

// late returns the rights on the entries of p that names which appear later do not get, since
// the tool cannot make them appear and there is no supervisor for those of other processes.
// See RATIONALE D52.
func (p *plan) late() group {
	if p.brings() {
		return 0
	}
	return p.spine() &^ (groupCreate | groupDelete)
}

// governed reports whether p is a place that rules are written about: the base and the
// private directories are granted as wholes.
func (p *plan) governed() bool {
	kind := p.region.At.Root.Kind
	return kind == ir.Workspace || kind == ir.External
}

// fills reports whether the policy lets files be made in p that the ruleset would not let
// be filled.
func (p *plan) fills() bool {
	return p.region.Caps.Has(ir.Create) && !p.region.Caps.Has(ir.Update)
}

// unopened reports whether files of p may be started and not be read, so that the kernel
// starts none. The rules of protected paths share one identifier and differ in this.
func (p *plan) unopened() bool {
	return p.region.Caps.Has(ir.Execute) && !p.region.Caps.Has(ir.Read)
}

// foreign reports whether the name of a rule's own path, which the rule lets be made or
// removed, is in a directory on which the ruleset withholds some of g.
func (p *plan) foreign(parent *plan, g group) bool {
	g &= p.wants
	return parent != nil && p.region.Named && p.region.At.Path != "" && parent.whole()&g != g
}

// loose reports whether the ruleset lets a name be moved or replaced that leads to a rule:
// that of p itself, or one directly in p.
func (p *plan) loose(parent *plan) bool {
	movable := func(dir *plan) bool { return dir != nil && dir.whole()&(groupCreate|groupDelete) != 0 }
	return p.pinned && movable(parent) ||
		movable(p) && slices.ContainsFunc(p.below, func(c *plan) bool { return c.pinned })
}

// planTree copies a region and everything below it.
// See RATIONALE D40.
func planTree(r *ir.Region, listed bool) *plan {
	p := &plan{region: r, name: r.At.Base(), pinned: r.Pinned, wants: groupsFor(r.Caps, listed)}
	for _, b := range r.Below {
		p.below = append(p.below, planTree(b, listed))
	}
	return p
}

// graft puts the plan of a root at its directory's place in p, where it replaces the plan of p:
// the kernel knows one tree, and grants above reach down.
func (p *plan) graft(path string, root *plan) {
	name, rest, deeper := strings.Cut(path, "/")
	i, there := slices.BinarySearchFunc(p.below, name, func(b *plan, name string) int { return strings.Compare(b.name, name) })
	if !deeper {
		root.name, root.pinned = name, true
		if !there {
			p.below = slices.Insert(p.below, i, root)
		}
		p.below[i] = root
		return
	}
	if !there {
		between := &ir.Region{At: p.region.At.Child(name), Caps: p.region.Caps, Governing: p.region.Governing}
		p.below = slices.Insert(p.below, i, &plan{region: between, name: name, pinned: true, wants: p.wants})
	}
	p.below[i].graft(rest, root)
}

// settle computes the rights that are lacking below. The symlink of an external rule has no
// contents, so only the rights on its name count there.
func (p *plan) settle() {
	for _, c := range p.below {
		c.settle()
		if c.region.Link {
			c.lacks |= ^c.wants & (groupCreate | groupDelete)
			c.wants = 0
		}
		p.lacks |= c.lacks
	}
	if !p.region.Link {
		p.lacks |= ^p.wants
	}
}

// emit lists the grants of p and below. above are the rights that reach it from the directories
// above, and keep filters each grant.
func (p *plan) emit(t backends.Target, keep func(*plan, group) group, above group, out []Path) []Path {
	if p.answered() {
		return out
	}
	if grant := keep(p, p.whole()); grant&^above != 0 {
		out = append(out, Path{Path: t.Place(p.region.At), Access: p.access(grant)})
		above |= grant
	}
	if grant := keep(p, p.spine()) &^ above; grant != 0 {
		out = append(out, Path{
			Path: t.Place(p.region.At), Access: p.access(grant), Entries: &Entries{Except: p.names()},
		})
	}
	for _, b := range p.below {
		if !b.region.Link {
			out = b.emit(t, keep, above, out)
		}
	}
	return out
}

// answered reports whether p is a place of the base that no rule on a file can be about:
// a supervisor answers for it.
func (p *plan) answered() bool {
	return p.region.At == ir.Sys(ir.LinuxShared) || p.region.At == ir.Sys(ir.LinuxStandard)
}

func (p *plan) names() []string {
	names := []string{}
	for _, b := range p.below {
		names = append(names, b.name)
	}
	return names
}

// access returns the rights of a grant. On the devices of the base those that only
// directories have are left out, and on its terminals the ioctl right is added:
// without it (ABI 5) a program that opens /dev/tty cannot set its modes.
func (p *plan) access(g group) []Right {
	rs := g.rights()
	at := p.region.At
	if at.Root.Kind != ir.System || !strings.HasPrefix(at.Path, "dev/") {
		return rs
	}
	rs = slices.DeleteFunc(rs, func(r Right) bool { return FSMask([]Right{r})&FileMask == 0 })
	if slices.Contains(terminals, at.Path) {
		rs = append(rs, IoctlDev)
	}
	return rs
}

var terminals = []string{ir.LinuxTerminal, "dev/ptmx", "dev/pts/ptmx"}

// floor plans the ruleset of a view: one plan for each root that is not known to lie in
// another.
type floor struct {
	view  *ir.View
	plans []*plan
}

// newFloor plans for a view. Where the bindings are not known, as in a portable specification,
// every root has a plan of its own.
func newFloor(v *ir.View, b *ir.Bindings) *floor {
	byRoot := map[ir.Root]*plan{}
	roots := v.Roots()
	if b == nil {
		b = &ir.Bindings{}
	}
	for _, r := range b.Roots() {
		if !slices.Contains(roots, r) {
			// It has no rule, so nothing is granted there, whatever is around it.
			roots = append(roots, r)
		}
	}
	for _, r := range roots {
		tree := v.Regions(r)
		if tree == nil {
			tree = &ir.Region{At: ir.Location{Root: r}}
		}
		byRoot[r] = planTree(tree, v.Tool.Commands != nil)
	}
	inner := graftRoots(byRoot, b)
	f := &floor{view: v}
	for _, r := range roots {
		if !inner[r] {
			byRoot[r].settle()
			f.plans = append(f.plans, byRoot[r])
		}
	}
	return f
}

// graftRoots puts every root into the one around it and returns those that are not to
// be planned for by themselves any more.
// See RATIONALE D41.
func graftRoots(plans map[ir.Root]*plan, b *ir.Bindings) map[ir.Root]bool {
	inner := map[ir.Root]bool{}
	for _, r := range b.Roots() {
		at := b.Outer(r)
		outer := plans[at.Root]
		abs, _ := b.Path(ir.Location{Root: r})
		switch {
		case b.Locate(abs).Root != r:
			inner[r] = true // of two roots of one directory the other one decides
		case outer == nil:
		case at.Path != "":
			outer.graft(at.Path, plans[r])
			inner[r] = true
		case at.Root.Kind == ir.System:
			// A root that is the whole file system leaves nothing to the base.
			inner[at.Root] = true
		}
	}
	return inner
}

// paths lists the grants of a tool without a supervisor, in a stable order: by root, then by
// path.
func (f *floor) paths(t backends.Target) []Path {
	return f.emit(t, func(_ *plan, g group) group { return g })
}

// supervisedPaths lists the grants of a tool under a supervisor. Of the classes of calls
// that it answers itself the ruleset grants nothing in the workspace and in external
// targets, so that files which are moved there bring no rights along. Programs are an
// exception: the kernel alone can start one, and opens it for reading.
func (f *floor) supervisedPaths(t backends.Target, j Judges) []Path {
	return f.emit(t, func(p *plan, g group) group {
		if !p.governed() {
			return g
		}
		if j.Updates {
			g &^= groupUpdate
		}
		if j.Names {
			g &^= groupCreate | groupDelete
		}
		if j.Reads && g&groupExecute == 0 {
			g &^= groupRead
		}
		return g
	})
}

func (f *floor) emit(t backends.Target, keep func(*plan, group) group) []Path {
	out := []Path{}
	for _, p := range f.plans {
		out = p.emit(t, keep, 0, out)
	}
	return out
}

// walk visits every plan with its parent, nil for a root.
func (f *floor) walk(visit func(p, parent *plan)) {
	var down func(p, parent *plan)
	down = func(p, parent *plan) {
		visit(p, parent)
		for _, b := range p.below {
			down(b, p)
		}
	}
	for _, p := range f.plans {
		down(p, nil)
	}
}
