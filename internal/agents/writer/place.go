package writer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Access is how far a program opens a place, as one that tells only reading and writing apart.
type Access uint8

// The kinds of access; each includes the one before it.
const (
	None Access = iota
	Read
	Write
)

// written are the capabilities that writing takes; no agent knows a part of it.
const written = ir.CapSet(1<<ir.Read | 1<<ir.Create | 1<<ir.Update | 1<<ir.Delete)

// Wanted is the access that capabilities are, as far as a program can tell.
func Wanted(caps ir.CapSet) Access {
	switch {
	case caps.Contains(written):
		return Write
	case caps.Has(ir.Read):
		return Read
	default:
		return None
	}
}

// Place is a place of the policy in a program's settings.
type Place struct {
	*ir.Region
	// Path is its spelling there, empty where it needs none.
	Path string
	// Wants is the access that the policy gives, Has that of the settings. Less is why it is less.
	Wants, Has Access
	Less       ir.CauseID
	// Outer is the place around it, nil for a place that is in no other. Least and Most are the
	// access of the place around it: they differ where it is not known which one that is.
	Outer       *Place
	Least, Most Access
}

// A Dialect is how a program spells and nests places.
type Dialect struct {
	// Spell returns the path of a location in the settings. It is empty for a location that is the
	// program's own affair, and there is a reason for one that the settings cannot have.
	Spell func(backends.Target, ir.Location) (string, ir.CauseID)
	// Give returns the access that settings can give a place that the policy wants some for, after
	// the places around it are settled, with the reason where that is less.
	Give func(*Place) (Access, ir.CauseID)
	// Workspace is the access that the program gives the directory in which it starts by itself.
	Workspace Access
	// Names returns patterns for the names of a rule that gets less than the places around it, and whether they
	// are about further names; nil for settings without patterns. Least is the access that patterns leave in
	// any case; Closes is true of those that take all access, and not writing alone.
	Names  func(*Named) (patterns []string, wider bool)
	Least  Access
	Closes bool
}

// Plan is a policy with the places that a program's settings have for it.
type Plan struct {
	Tool   *ir.Tool        // with its rules
	Target backends.Target // the form, and the host
	View   *ir.View        // of the tool, as on Linux
	// Places are all places of the policy, outer ones first.
	Places []*Place
	// Named are its rules by name.
	Named []*Named

	dialect Dialect
	known   map[*ir.Region]*Place
	roots   []*ir.Region
}

// NewPlan settles the places of a policy. A portable policy has the base of Linux.
func NewPlan(t *ir.Tool, target backends.Target, d Dialect) *Plan {
	facts := target.Facts
	if target.Form != backends.Resolved {
		facts = ir.Facts{Bindings: named(t)}
	}
	p := &Plan{Tool: t, Target: target, View: ir.NewView(t, ir.Linux, facts), dialect: d,
		known: map[*ir.Region]*Place{}}
	p.roots = p.View.Tree()
	for _, root := range p.roots {
		root.WalkRoot(func(r *ir.Region) { p.settle(r) })
	}
	p.name()
	return p
}

// named binds the roots that name their places by themselves: "~/a" lies in "~" on every host.
func named(t *ir.Tool) *ir.Bindings {
	b := &ir.Bindings{External: map[string]string{}}
	for i := range t.FS {
		if r := t.FS[i].At.Root; r.Direct() {
			b.External[r.Name] = strings.TrimSuffix(r.Name, "/")
		}
	}
	return b
}

// settle makes the place of a region, after those around it.
func (p *Plan) settle(r *ir.Region) *Place {
	if at, done := p.known[r]; done {
		return at
	}
	at := &Place{Region: r, Wants: Wanted(r.Caps)}
	p.known[r] = at
	p.surround(at)
	at.Has = at.Wants
	var why ir.CauseID
	switch at.Path, why = p.dialect.Spell(p.Target, r.At); {
	case at.Path != "":
		at.Has, why = p.dialect.Give(at)
	case why == WhyPattern:
		at.Has = at.Most // no entry, so it is as the place around it
	case why != "":
		at.Has = None
	}
	if at.Has < at.Wants {
		at.Less = why
	}
	p.Places = append(p.Places, at)
	return at
}

// surround finds the place around another one. A symlink is a name of the place that it is in.
func (p *Plan) surround(at *Place) {
	for r := at.Above; r != nil && at.Outer == nil; r = r.Above {
		if !r.Link && !r.Through {
			at.Outer = p.settle(r)
		}
	}
	if at.Outer != nil {
		at.Least, at.Most = at.Outer.Has, at.Outer.Has
	}
	// No external rule leads into the workspace, and those of the home lie in each other by their names.
	if at.workspace() && p.Target.Form != backends.Resolved {
		at.Most = max(at.Most, p.elsewhere(at.Region))
	}
	if at.workspace() {
		at.Most = max(at.Most, p.dialect.Workspace)
	}
}

// Top is the access of the workspace.
func (p *Plan) Top() Access {
	for _, at := range p.Places {
		if at.workspace() {
			return at.Has
		}
	}
	return None
}

// elsewhere is the most access that the settings can give any place outside of the workspace: where
// that of a portable policy lies is not known.
func (p *Plan) elsewhere(root *ir.Region) Access {
	most := None
	for _, o := range p.roots {
		if o == root {
			continue
		}
		o.WalkRoot(func(r *ir.Region) {
			if path, _ := p.dialect.Spell(p.Target, r.At); path != "" {
				most = max(most, Wanted(r.Caps))
			}
		})
	}
	return most
}

// In reports whether a place lies in another one.
func (p *Place) In(dir *Place) bool {
	for o := p.Outer; o != nil; o = o.Outer {
		if o == dir {
			return true
		}
	}
	return false
}

// Kernel reports whether a location is one of the directories that the kernel fills, which every
// program that confines others treats in a way of its own.
func Kernel(l ir.Location) bool {
	first, _, _ := strings.Cut(l.Path, "/")
	return l.Root.Kind == ir.System && slices.Contains([]string{"dev", "proc", "sys"}, first)
}

// Plainly returns a function that gives a place the access that the policy wants, for programs whose entries nest as
// places do. Where a place directly below has a name with one of some characters, which the program reads as a pattern,
// it has no entry; the place around it gets no more than that one and those in it.
func Plainly(odd string) func(*Place) (Access, ir.CauseID) {
	return func(p *Place) (Access, ir.CauseID) {
		is, why := p.Wants, ir.CauseID("")
		for _, b := range p.Below {
			if !strings.ContainsAny(b.Name, odd) {
				continue
			}
			b.Walk(func(r *ir.Region) {
				if w := Wanted(r.Caps); w < is && !r.Link && !r.Through {
					is, why = w, WhyPattern
				}
			})
		}
		return is, why
	}
}

// Relative spells a location for a program that is started in the workspace: from the workspace,
// from "~", or absolutely.
func Relative(target backends.Target, l ir.Location) (string, ir.CauseID) {
	if target.Form == backends.Resolved && target.Facts.Bindings != nil {
		if abs, ok := target.Facts.Bindings.Path(l); ok {
			return abs, ""
		}
	}
	switch {
	case l.Root.Kind == ir.Workspace && l.Path == "":
		return ".", ""
	case l.Root.Kind == ir.Workspace:
		return "./" + l.Path, ""
	case l.Root.Kind == ir.System:
		return "/" + l.Path, ""
	case l.Root.Kind == ir.Temp:
		return "", WhyTemp
	case l.Root.Direct() && !strings.Contains(l.Root.Name, ":"):
		return strings.TrimSuffix(l.Short(), "/"), ""
	}
	return "", WhyUnbound
}
