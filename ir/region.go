package ir

import (
	"slices"
	"strings"
)

// region is a node of the region tree: a path that some rule names, or an ancestor of such a path. A
// path without a node of its own belongs to the region of its deepest ancestor that has a node.
type region struct {
	children children
	// rule is the index of the reference that names this very path, -1 if none.
	rule int
	spot
	// byName are the rules by name that are about names in this directory and below, in the order in which ties
	// are decided.
	byName []*byName
	// plain are the capabilities that the path has without rules by name.
	plain CapSet
	// base is true at the place that a rule by name counts from, and not the root.
	base bool
	// pinned is true where moving the name would change the permissions: the path begins a region of other
	// capabilities, or leads to such a region.
	pinned bool
	// anchor is true at the place of another bound root, of a listed program, or of a symlink
	// that a rule is written through: the name may not move although no rule on files is
	// written for it.
	anchor bool
	// program is true where anchor is set only for a listed program: the file may be created
	// again.
	program bool
	// link is true at a symlink that a rule is written through.
	link bool
}

// arena has regions that are not yet in a tree. They are allocated together.
type arena struct{ free []region }

// piece is how many regions are allocated at a time.
const piece = 64

func (s *arena) region() *region {
	if len(s.free) == 0 {
		s.free = make([]region, piece)
	}
	r := &s.free[0]
	s.free = s.free[1:]
	r.rule, r.spot = -1, nowhere
	return r
}

func (r *region) child(name string, s *arena) *region {
	if c := r.children.find(name); c != nil {
		return c
	}
	c := s.region()
	r.children.add(name, c)
	return c
}

// children are the regions of the names in a directory. Most directories have few, which are found fastest one by one.
// See decision D330.
type children struct {
	list []named // in the order of the names once the tree has settled
	// index has all of them by name where there are more than a few, and is nil otherwise.
	index map[string]*region
}

type named struct {
	name string
	*region
}

// few is the number of names up to which there is no index.
const few = 8

// find returns the region of a name, nil if there is none.
func (c *children) find(name string) *region {
	if c.index != nil {
		return c.index[name]
	}
	for i := range c.list {
		if c.list[i].name == name {
			return c.list[i].region
		}
	}
	return nil
}

func (c *children) add(name string, r *region) {
	c.list = append(c.list, named{name, r})
	switch {
	case c.index != nil:
		c.index[name] = r
	case len(c.list) > few:
		c.index = make(map[string]*region, 8*few)
		for _, n := range c.list {
			c.index[n.name] = n.region
		}
	}
}

// sort puts the list into the order of the names.
func (c *children) sort() {
	slices.SortFunc(c.list, func(a, b named) int { return strings.Compare(a.name, b.name) })
}

// make returns the node of path, which it creates with its ancestors if needed.
func (r *region) make(path string, s *arena) *region {
	for path != "" {
		var name string
		name, path = cut(path)
		r = r.child(name, s)
	}
	return r
}

// settle hands the governing rule down the tree, marks the pinned names, and sorts the children. It
// reports whether r or anything below it begins a region of other capabilities
// than its parent's.
func (v *View) settle(r *region, name string, parent *region) bool {
	pins := r.anchor || r.base
	plain := r.plain // without rules by name
	if parent != nil {
		plain = parent.plain
	}
	if r.rule >= 0 {
		// What is protected stays at its place also where a rule by name leaves it the same capabilities.
		kind := v.refs[r.rule].kind
		pins = pins || parent != nil && (kind == guards || kind == opens) && v.refs[r.rule].caps != plain
		plain = v.refs[r.rule].caps
	}
	r.plain = plain
	switch {
	case parent != nil:
		around := parent.spot.name(v.refs, parent.byName, name)
		r.spot = around.rule(v.refs, r.rule, parent.byName, name)
		pins = pins || r.rule >= 0 && (r.caps != around.caps || v.refs[r.rule].pin)
		r.byName = inherit(parent.byName, r.byName)
	case r.rule >= 0:
		r.spot = nowhere.rule(v.refs, r.rule, nil, "")
	}
	if r.rule >= 0 && v.refs[r.rule].kind == closes {
		r.byName = nil
	}
	r.children.sort()
	for _, c := range r.children.list {
		if v.settle(c.region, c.name, r) {
			pins = true
		}
	}
	r.pinned = pins
	return pins
}

// find returns the deepest node on the way to path, and the part of path below it.
// See decision D1.
func (r *region) find(path string) (n *region, rest string) {
	for path != "" {
		if r.children.list == nil {
			return r, path
		}
		name, rest := cut(path)
		c := r.children.find(name)
		if c == nil {
			return r, path
		}
		r, path = c, rest
	}
	return r, ""
}

// ruleFor returns the reference of the rule that governs path, -1 if there is none, and
// whether the rule is written for path itself.
func (r *region) ruleFor(path string) (ref int, exact bool) {
	ref = r.rule
	for path != "" {
		name, rest := cut(path)
		c := r.children.find(name)
		if c == nil {
			return ref, false
		}
		if r, path = c, rest; r.rule >= 0 {
			ref = r.rule
		}
	}
	return ref, r.rule >= 0
}

// ruleRef is the place of a rule in a tree. An external rule has two: its target,
// and its symlink in the workspace.
type ruleRef struct {
	// entry is the index of the rule in View.rules.
	entry int
	caps  CapSet
	// pin marks a path that may not move whatever its capabilities are.
	pin  bool
	kind refKind
}

// refKind says how a rule meets those around it.
type refKind uint8

const (
	// decides: the rule takes the place of all others.
	decides refKind = iota
	// guards: the rule takes writing away, whatever else decides.
	guards
	// opens: what guards the directory around ends here.
	opens
	// closes: nothing is granted from here on.
	closes
)

// count is the number of regions from r on down.
func (r *region) count() int {
	n := 1
	for _, c := range r.children.list {
		n += c.count()
	}
	return n
}
