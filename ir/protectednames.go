package ir

import (
	"slices"
	"strings"
)

// MaxPatternParts is how many components the pattern of a protected path has at most.
const MaxPatternParts = 62

// namePattern is a pattern of protected paths in effect. A set of its states is a set of bits: a part that may come
// next, and behind them the bit of a name that matches.
type namePattern struct {
	parts []string
	rule  *FSRule
}

func newPattern(p string) namePattern { return namePattern{parts: strings.Split(p, "/")} }

func (p *namePattern) matched() uint64 { return 1 << len(p.parts) }

// closure adds the states that "**" may be left out for.
func (p *namePattern) closure(states uint64) uint64 {
	for i, part := range p.parts {
		if part == "**" && states&(1<<i) != 0 {
			states |= 1 << (i + 1)
		}
	}
	return states
}

// step returns the states after a name.
func (p *namePattern) step(states uint64, name string) uint64 {
	var next uint64
	for i, part := range p.parts {
		switch {
		case states&(1<<i) == 0:
		case part == "**":
			next |= 1 << i
		case MatchName(part, name):
			next |= 1 << (i + 1)
		}
	}
	return p.closure(next)
}

// below returns the states at a path of the workspace, from which names in it may match.
func (p *namePattern) below(path string) uint64 {
	states := p.closure(1)
	for path != "" && states != 0 {
		var name string
		name, path = cut(path)
		states = p.step(states, name)
	}
	return states &^ p.matched()
}

// Covers reports whether a place is a protected path, or lies below a protected path.
func (p *ProtectedPath) Covers(at Location) bool {
	if p.Open || at.Root != p.At().Root {
		return false
	}
	path := at.Path
	if !p.Pattern {
		return Within(path, p.Path)
	}
	n := newPattern(p.Path)
	states := n.closure(1)
	for path != "" {
		var name string
		name, path = cut(path)
		if states = n.step(states, name); states&n.matched() != 0 {
			return true
		}
	}
	return false
}

// protectNames has patterns protect the names that they match. They are in effect on Linux, where a supervisor judges
// each name when it is made, and where some rule lets names of the workspace be written. See decision D358.
func (v *View) protectNames() {
	writes := func(e Entry) bool {
		return e.Rule.At.Root.Kind == Workspace && e.Rule.Caps&Write != 0
	}
	if v.Platform != Linux || !slices.ContainsFunc(v.rules, writes) {
		return
	}
	for _, p := range v.protected {
		if !p.Pattern {
			continue
		}
		n := newPattern(p.Path)
		n.rule = &FSRule{Written: p.Path, At: In(p.Path), Origin: p.Origin}
		n.rule.Origin.Layer = LayerProtected
		v.add(protectedID, n.rule)
		v.names = append(v.names, n)
	}
}

// ProtectsNames reports whether patterns of protected paths are in effect.
func (v *View) ProtectsNames() bool { return len(v.names) > 0 }

// guard is the pattern that protects a path of the workspace, nil if there is none: the path or a directory on the way
// to it matches, and no rule is written for that place or for a place between it and the path.
func (v *View) guard(path string) *namePattern {
	var out *namePattern
	var room [8]uint64 // most policies have few patterns
	states := room[:0]
	for i := range v.names {
		states = append(states, v.names[i].closure(1))
	}
	at := v.zones[Workspace]
	for path != "" {
		var name string
		name, path = cut(path)
		if at != nil {
			at = at.children.find(name)
		}
		own := at != nil && at.rule >= 0
		if own {
			out = nil
		}
		for i := range v.names {
			n := &v.names[i]
			states[i] = n.step(states[i], name)
			if states[i]&n.matched() != 0 && !own {
				out = n
			}
		}
	}
	return out
}

// guarded decides a capability that a region grants, where a pattern may take it away.
func (v *View) guarded(c Capability, at Location) *namePattern {
	if len(v.names) == 0 || !Write.Has(c) || at.Root.Kind != Workspace {
		return nil
	}
	return v.guard(at.Path)
}

// brings is a pattern that protects a name below a directory's new place and not the same name below its old place, nil
// if there is none: the tool may have made it there.
func (v *View) brings(src, dst Location) *namePattern {
	if dst.Root.Kind != Workspace {
		return nil
	}
	for i := range v.names {
		n := &v.names[i]
		var had uint64
		if src.Root.Kind == Workspace {
			had = n.below(src.Path)
		}
		if n.below(dst.Path)&^had != 0 {
			return n
		}
	}
	if len(v.names) == 0 || src.Root.Kind != Workspace {
		return nil
	}
	return v.lifted(src, dst)
}

// lifted is a pattern that protects, below a directory's new place, a name that a rule below its old place lets the
// tool make.
func (v *View) lifted(src, dst Location) *namePattern {
	for i := range v.rules {
		r := v.rules[i].Rule
		rest, below := strings.CutPrefix(r.At.Path, src.Path+"/")
		if !below || r.At.Root.Kind != Workspace || r.Origin.Layer == LayerProtected {
			continue
		}
		if n := v.guard(dst.Path + "/" + rest); n != nil && v.guard(r.At.Path) == nil {
			return n
		}
	}
	return nil
}
