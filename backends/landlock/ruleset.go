package landlock

import (
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// ruleset lays out the rules that the kernel is given for a view: a lower bound of its policy. A grant on
// a directory reaches everything below it, and the kernel takes nothing away there.
type ruleset struct {
	view *ir.View
	// tops are the trees of the roots that are not known to lie in another.
	tops []*ir.Region
	// lacks are the capabilities that some region at or below it does not want granted, and lacksByName those
	// that rules by name take away there.
	lacks, lacksByName map[*ir.Region]ir.CapSet
}

// See decision D40.
func newRuleset(v *ir.View) *ruleset {
	s := &ruleset{
		view: v, lacks: make(map[*ir.Region]ir.CapSet, len(v.Entries())), lacksByName: map[*ir.Region]ir.CapSet{},
	}
	for _, r := range v.Tree() {
		if r.Above == nil {
			s.tops = append(s.tops, r)
			s.findLacks(r)
			s.findLacksByName(r)
		}
	}
	return s
}

// findLacks records the capabilities that r and everything below it lack. The symlink of an external rule has no
// contents, so only the capabilities on its name count there.
func (s *ruleset) findLacks(r *ir.Region) ir.CapSet {
	lacks := ir.All &^ s.wants(r)
	if r.Link {
		lacks = names &^ s.grantable(r)
	}
	for _, b := range r.Below {
		lacks |= s.findLacks(b)
	}
	s.lacks[r] = lacks
	return lacks
}

// findLacksByName records the capabilities that rules by name take away in r and everything below it.
// See decision D40.
func (s *ruleset) findLacksByName(r *ir.Region) ir.CapSet {
	lacks := s.takenByName(r)
	for _, b := range r.Below {
		lacks |= s.findLacksByName(b)
	}
	if lacks != 0 {
		s.lacksByName[r] = lacks
	}
	return lacks
}

// takenByName and givenByName are the capabilities that r by itself grants and a rule by name does not at the
// names in it, and the other way round.
func (s *ruleset) takenByName(r *ir.Region) (caps ir.CapSet) {
	for _, e := range r.ByName {
		caps |= s.wants(r) &^ s.grantableOf(e.Rule)
	}
	return caps
}

func (s *ruleset) givenByName(r *ir.Region) (caps ir.CapSet) {
	for _, e := range r.ByName {
		caps |= s.grantableOf(e.Rule) &^ s.wants(r)
	}
	return caps
}

func (s *ruleset) grantableOf(r *ir.FSRule) ir.CapSet {
	return grantable(r.Caps, s.view.Tool.Commands != nil)
}

// byName lists the rules by name.
func (s *ruleset) byName() []*ir.FSRule {
	var out []*ir.FSRule
	for i := range s.view.Tool.FS {
		if r := &s.view.Tool.FS[i]; r.ByName() {
			out = append(out, r)
		}
	}
	return out
}

func (s *ruleset) grantable(r *ir.Region) ir.CapSet {
	return grantable(r.Caps, s.view.Tool.Commands != nil)
}

// wants returns the capabilities that r by itself permits granting.
func (s *ruleset) wants(r *ir.Region) ir.CapSet {
	if r.Link {
		return 0
	}
	return s.grantable(r)
}

// whole is granted on the directory itself and reaches everything below it.
func (s *ruleset) whole(r *ir.Region) ir.CapSet { return s.wants(r) &^ s.lacks[r] &^ s.lacksByName[r] }

// expanded is granted on the entries of the directory, because something below is an exception; where that is a
// name, on entries that have no such name below them.
func (s *ruleset) expanded(r *ir.Region) ir.CapSet {
	return s.wants(r) & (s.lacks[r] | s.lacksByName[r])
}

// brings reports whether the tool can itself put a name into the directory of r, or another file in the place of a
// name: by making it or by moving it over.
func (s *ruleset) brings(r *ir.Region) bool {
	return r.Caps.Has(ir.Create) || s.wants(r).Contains(ir.Caps(ir.Delete, ir.Update))
}

// late returns the capabilities on the entries of r that names which appear later do not get,
// since the tool cannot make them appear and there is no supervisor for the names of other processes.
// See decision D40.
func (s *ruleset) late(r *ir.Region) ir.CapSet {
	if s.brings(r) {
		return 0
	}
	return s.expanded(r) &^ names &^ s.takenByName(r)
}

// governed reports whether r is a place that rules are written about: the base and the
// private directories are granted as wholes.
func governed(r *ir.Region) bool {
	kind := r.At.Root.Kind
	return kind == ir.Workspace || kind == ir.External
}

// fills reports whether the policy lets files be made in r that the ruleset would not let
// be filled.
func fills(r *ir.Region) bool { return r.Caps.Has(ir.Create) && !r.Caps.Has(ir.Update) }

// unopened reports whether files of r may be started and not be read, so that the kernel
// starts none. The rules of protected paths share an identifier and differ in this.
func unopened(r *ir.Region) bool { return r.Caps.Has(ir.Execute) && !r.Caps.Has(ir.Read) }

// foreign returns the capabilities on the name of a rule's own path that the ruleset withholds on the directory
// with that name.
func (s *ruleset) foreign(r *ir.Region) ir.CapSet {
	if r.Above == nil || !r.Named || r.IsRoot() {
		return 0
	}
	return s.wants(r) &^ s.whole(r.Above)
}

// loose reports whether the ruleset lets a name be moved or replaced that leads to a rule: the name of r itself, or a
// name directly in r.
func (s *ruleset) loose(r *ir.Region) bool {
	movable := func(dir *ir.Region) bool { return dir != nil && s.whole(dir)&names != 0 }
	return r.Pinned && movable(r.Above) ||
		movable(r) && slices.ContainsFunc(r.Below, func(b *ir.Region) bool { return b.Pinned })
}

// answered reports whether r is a place of the base that no rule on a file can be about:
// a supervisor answers for it.
func answered(r *ir.Region) bool {
	return r.At == ir.Sys(ir.LinuxShared) || r.At == ir.Sys(ir.LinuxStandard)
}

// paths lists the grants of a tool without a supervisor, in a stable order: by root, then by
// path. Where a rule by name takes something away, nothing of it is granted.
func (s *ruleset) paths(t backends.Target) []Path {
	return s.grants(t, s.whole, func(r *ir.Region) ir.CapSet { return s.expanded(r) &^ s.takenByName(r) })
}

// supervisedPaths lists the grants of a tool under a supervisor. Of the classes of calls that it answers itself
// the ruleset grants nothing in the workspace and in external targets, so that files which are moved there
// bring no rights along. Programs are an exception: only the kernel can start a program, and opens it for reading.
// Rules by name take nothing from the ruleset: all that they take away is judged.
func (s *ruleset) supervisedPaths(t backends.Target, j Judges) []Path {
	keep := func(r *ir.Region, c ir.CapSet) ir.CapSet {
		if !governed(r) {
			return c
		}
		if j.Updates {
			c = c.Without(ir.Update)
		}
		if j.Names {
			c &^= names
		}
		if j.Reads && !c.Has(ir.Execute) {
			c = c.Without(ir.Read)
		}
		return c
	}
	return s.grants(t,
		func(r *ir.Region) ir.CapSet { return keep(r, s.wants(r)&^s.lacks[r]) },
		func(r *ir.Region) ir.CapSet {
			entries := s.wants(r) & s.lacks[r]
			if entries.Has(ir.Execute) {
				entries |= s.wants(r) & ir.Caps(ir.Read) // the directory as a whole has lost it
			}
			return keep(r, entries)
		},
	)
}

// grants lists the grants of all trees, on directories as wholes and on their entries.
func (s *ruleset) grants(t backends.Target, whole, expanded func(*ir.Region) ir.CapSet) []Path {
	out := []Path{}
	var add func(r *ir.Region, above ir.CapSet)
	add = func(r *ir.Region, above ir.CapSet) {
		if answered(r) || r.Link || r.Through {
			return // the loader opens no symlink, and the kernel knows no rights on a symlink
		}
		if grant := whole(r); grant&^above != 0 {
			out = append(out, Path{Path: t.Place(r.At), Access: access(r.At, grant), Image: ofImage(t, r)})
			above |= grant
		}
		if grant := expanded(r) &^ above; grant != 0 {
			out = append(out, Path{
				Path: t.Place(r.At), Access: access(r.At, grant), Entries: &Entries{Except: exceptions(r)},
				Image: ofImage(t, r),
			})
		}
		for _, b := range r.Below {
			add(b, above)
		}
	}
	for _, top := range s.tops {
		add(top, 0)
	}
	return out
}

// ofImage reports whether a place is one of an image that nothing has looked at.
// See decision D259.
func ofImage(t backends.Target, r *ir.Region) bool { return t.Image && r.At.Root.Kind == ir.System }

// exceptions are the names in a directory that have grants of their own.
func exceptions(r *ir.Region) []string {
	out := []string{}
	for _, b := range r.Below {
		out = append(out, b.Name)
	}
	return out
}

// walk visits every region, parents first.
func (s *ruleset) walk(visit func(*ir.Region)) {
	for _, top := range s.tops {
		top.Walk(visit)
	}
}
