package ir

import "strings"

// byName is a rule by name in effect.
// See decision D470.
type byName struct {
	ref   int // of the rule
	match []nameMatcher
}

// ByName reports whether the rule is about names below its place.
func (r *FSRule) ByName() bool { return len(r.Names) > 0 }

// patterns are the rule's names in the spelling of shells, such as "{.env,*.pem}".
func (r *FSRule) patterns() string {
	if len(r.Names) == 1 {
		return r.Names[0]
	}
	return "{" + strings.Join(r.Names, ",") + "}"
}

// Matches returns the length of the part of at's path that ends in the deepest name that the rule is about, and
// false where it is about none of its names. A rule that is no rule by name matches its own place and all below
// it.
func (r *FSRule) Matches(at Location) (length int, ok bool) {
	if !at.Under(r.At) {
		return 0, false
	}
	if !r.ByName() {
		return len(r.At.Path), true
	}
	path := at.Path
	for len(path) > len(r.At.Path) {
		above := max(strings.LastIndexByte(path, '/'), 0)
		if MatchNames(r.Names, strings.TrimPrefix(path[above:], "/")) {
			return len(path), true
		}
		path = path[:above]
	}
	return 0, false
}

// MatchNames reports whether some pattern matches a name.
func MatchNames(patterns []string, name string) bool {
	for _, p := range patterns {
		if MatchName(p, name) {
			return true
		}
	}
	return false
}

// MatchNamesFolded is MatchNames on a file system that does not tell upper from lower case.
func MatchNamesFolded(patterns []string, name string) bool {
	for _, p := range patterns {
		if m := newNameMatcher(p, true); m.matches(name) {
			return true
		}
	}
	return false
}

// growNames plants a rule by name at the place that it counts from.
func (v *View) growNames(entry int, r *FSRule) {
	v.refs = append(v.refs, ruleRef{entry: entry, caps: r.Caps})
	n := v.zone(r.At.Root).make(r.At.Path, &v.arena)
	b := &byName{ref: len(v.refs) - 1}
	for _, p := range r.Names {
		b.match = append(b.match, newNameMatcher(p, v.folds()))
	}
	n.byName = append(n.byName, b)
	n.base = r.At.Path != ""
	if r.External && !r.At.Root.Direct() {
		// The symlink is the rule's, where no rule is about the whole target.
		link := v.zone(Root{Kind: Workspace}).make(r.At.Root.Name, &v.arena)
		if link.rule < 0 {
			v.plant(In(r.At.Root.Name), ruleRef{entry: entry, pin: true})
		}
	}
}

// grantsNames reports whether a rule by name grants some of caps in a root.
func (v *View) grantsNames(root Root, caps CapSet) bool {
	for i := range v.rules {
		if r := v.rules[i].Rule; r.ByName() && r.At.Root == root && r.Caps&caps != 0 {
			return true
		}
	}
	return false
}

// inherit joins the rules by name of a directory with those around it, in the order in which ties are decided.
func inherit(around, own []*byName) []*byName {
	if len(own) == 0 {
		return around
	}
	out := make([]*byName, 0, len(around)+len(own))
	for len(around) > 0 && len(own) > 0 {
		if around[0].ref < own[0].ref {
			out, around = append(out, around[0]), around[1:]
		} else {
			out, own = append(out, own[0]), own[1:]
		}
	}
	return append(append(out, around...), own...)
}

// last is the reference of the rule that decides about a name among those about the names of a directory, -1 if
// none is.
func last(rules []*byName, name string) int {
	for i := len(rules) - 1; i >= 0; i-- {
		for j := range rules[i].match {
			if rules[i].match[j].matches(name) {
				return rules[i].ref
			}
		}
	}
	return -1
}

// spot is the state of a path on the way down: which rule decides there.
type spot struct {
	// win is the index of the reference that governs this path, -1 for default-deny.
	win  int
	caps CapSet
	// named is true where win is a rule by name.
	named bool
	// guard is the reference of the protected path around, -1 if there is none.
	guard int
}

// nowhere is the state above all roots.
var nowhere = spot{win: -1, guard: -1}

// decider is the reference of the rule that decides about a capability.
func (s spot) decider(refs []ruleRef, c Capability) int {
	if s.guard >= 0 && !s.caps.Has(c) && s.win >= 0 && refs[s.win].caps.Has(c) {
		return s.guard
	}
	return s.win
}

// under is the state where a rule by name decides.
func (s spot) under(refs []ruleRef, ref int) spot {
	s.win, s.caps, s.named = ref, refs[ref].caps, true
	if s.guard >= 0 {
		s.caps &^= Write
	}
	return s
}

// name is the state after a name that no rule is written for.
func (s spot) name(refs []ruleRef, rules []*byName, name string) spot {
	if ref := last(rules, name); ref >= 0 {
		return s.under(refs, ref)
	}
	return s
}

// names is the state at the end of a path on which no rule is written for a name.
func (s spot) names(refs []ruleRef, rules []*byName, path string) spot {
	for path != "" {
		above := strings.LastIndexByte(path, '/')
		if ref := last(rules, path[above+1:]); ref >= 0 {
			return s.under(refs, ref)
		}
		path = path[:max(above, 0)]
	}
	return s
}

// rule is the state at a name for which a rule is written, given that before it.
func (s spot) rule(refs []ruleRef, rule int, rules []*byName, name string) spot {
	if rule < 0 {
		return s
	}
	own := spot{win: rule, caps: refs[rule].caps, guard: -1}
	switch refs[rule].kind {
	case decides:
		if ref := last(rules, name); ref > rule {
			return spot{guard: -1}.under(refs, ref)
		}
	case guards:
		if own.guard = rule; s.named {
			s.guard = rule
			return s.under(refs, s.win)
		}
	case opens:
		if s.named {
			s.guard = -1
			return s.under(refs, s.win)
		}
	case closes:
	}
	return own
}

// folds reports whether the file systems of the platform, as they are set up, do not tell upper from lower case.
func (v *View) folds() bool { return v.Platform != Linux }
