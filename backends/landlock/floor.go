package landlock

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// group is a set of rights that stand or fall together along a tree.
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

// rights returns the rights of the groups in g. REFER is what a move or link
// between directories needs on both (it never lets a file gain a right), so it goes
// with everything that can take part in one.
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

// plan is what the floor does at one named node of the region tree.
type plan struct {
	region *ir.Region
	// wants is what the node's own capabilities allow the kernel to be given.
	wants group
	// lacks is what some node at or below does not want.
	lacks group
	below []*plan
}

// whole is granted on the directory itself and reaches everything below it.
func (p *plan) whole() group { return p.wants &^ p.lacks }

// spine is granted on the entries, because something below is an exception.
func (p *plan) spine() group { return p.wants & p.lacks }

// planTree decides for a region and everything below it. The symlink of an
// external rule has no contents, so only what concerns its name counts there.
func planTree(r *ir.Region, listed bool) *plan {
	p := &plan{region: r, wants: groupsFor(r.Caps, listed)}
	for _, b := range r.Below {
		c := planTree(b, listed)
		if b.Link {
			c.lacks |= ^c.wants & (groupCreate | groupDelete)
			c.wants = 0
		}
		p.below = append(p.below, c)
		p.lacks |= c.lacks
	}
	if !r.Link {
		p.lacks |= ^p.wants
	}
	return p
}

// emit lists the grants of p and below, given what reaches it from above.
func (p *plan) emit(t backends.Target, above group, out []Path) []Path {
	if grant := p.whole(); grant&^above != 0 {
		out = append(out, Path{Path: t.Place(p.region.At), Access: p.access(grant)})
		above |= grant
	}
	if grant := p.spine() &^ above; grant != 0 {
		out = append(out, Path{
			Path: t.Place(p.region.At), Access: p.access(grant), Entries: &Entries{Except: p.names()},
		})
	}
	for _, b := range p.below {
		if !b.region.Link {
			out = b.emit(t, above, out)
		}
	}
	return out
}

func (p *plan) names() []string {
	names := []string{}
	for _, b := range p.below {
		names = append(names, b.region.At.Base())
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
	rs = slices.DeleteFunc(rs, func(r Right) bool { return at.Path != "dev/pts" && FSMask([]Right{r})&FileMask == 0 })
	if slices.Contains(terminals, at.Path) {
		rs = append(rs, IoctlDev)
	}
	return rs
}

var terminals = []string{"dev/tty", "dev/ptmx", "dev/pts"}

// floor is the plans of every root of a view.
type floor struct {
	view  *ir.View
	plans []*plan
}

func newFloor(v *ir.View) *floor {
	f := &floor{view: v}
	for _, r := range v.Roots() {
		f.plans = append(f.plans, planTree(v.Regions(r), v.Tool.Commands != nil))
	}
	return f
}

// paths lists the grants in a stable order: by root, then by path.
func (f *floor) paths(t backends.Target) []Path {
	out := []Path{}
	for _, p := range f.plans {
		out = p.emit(t, 0, out)
	}
	for i := range out {
		if out[i].Path == "/proc" {
			out[i].Entries = &Entries{Except: []string{}, OwnProcess: true}
		}
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
