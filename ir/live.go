package ir

import "slices"

// Live is a policy that can be widened during a run: by grants that its list May covers, and by
// nothing else. It is immutable and safe for concurrent use.
type Live struct {
	tool     *Tool
	platform Platform
	facts    Facts
	// own is the policy without any grant, may the rules of May alone, and full the policy with all
	// that can be granted.
	own, may, full *View
	// protected are never granted for writing, whatever the policy itself may change.
	protected []ProtectedPath
}

// NewLive prepares the policy of a tool on one host for grants.
func NewLive(t *Tool, p Platform, f Facts) *Live {
	l := &Live{
		tool: t, platform: p, facts: f, own: NewView(t, p, f), may: NewView(Grantable(t), p, Facts{Protected: f.Protected}),
		protected: slices.Concat(ProtectedPaths(), t.Protected, f.Protected),
	}
	l.full = l.granted(t.May)
	return l
}

// Grantable has as its policy the rules of a tool's list May. Writing to protected paths is cut from them, also
// where the tool's own rules may change these.
func Grantable(t *Tool) *Tool {
	return &Tool{Name: t.Name, Source: t.Source, Base: BaseNone, Home: HomeReal, FS: t.May, Protects: true, Protected: t.Protected}
}

// Own returns the policy without any grant.
func (l *Live) Own() *View { return l.own }

// With returns the policy with grants. At every place it permits what the policy does, and of
// the grants those capabilities that May has there. Grants outside of the workspace have no
// effect. No move gains anything under it, under the policy without grants, or with all of them: a
// file that is moved or linked stays where it is when grants change.
// See RATIONALE D202.
func (l *Live) With(grants []FSRule) *View {
	v := l.granted(grants)
	v.beside = []*View{l.own, l.full}
	return v
}

func (l *Live) granted(grants []FSRule) *View {
	t := *l.tool
	t.FS = slices.Clone(t.FS)
	for _, at := range l.places(grants) {
		t.FS = append(t.FS, l.rule(at, grants))
	}
	return NewView(&t, l.platform, l.facts)
}

// Ceiling returns the capabilities that can be granted at a place of the workspace, and the rule
// of May that governs it, nil for none. Writing to a protected path is never among them.
func (l *Live) Ceiling(at Location) (CapSet, *FSRule) {
	r := l.may.region(at)
	if at.Root.Kind != Workspace || r == nil || r.win < 0 {
		return 0, nil
	}
	caps := r.caps
	for _, p := range l.protected {
		if at.Under(In(p.Path)) {
			caps &^= Write
		}
	}
	return caps, l.may.rules[l.may.refs[r.win].entry].Rule
}

// Question is a denied operation that can be granted: all of Ops are permitted once the Grants are
// added to those given before. By is the rule of May that covers the first of them.
type Question struct {
	Ops    []Operation // those that have to be permitted
	Grants []FSRule    // on places of the workspace
	By     *FSRule     // of May
}

// Ask finds the smallest grants under which all of some operations are permitted, beside grants
// given before, under which the policy is now: on the places themselves, on the directories that
// hold them, and at last on the places of the rules of May. It is false where the policy denies
// the operations with any of them.
func (l *Live) Ask(now *View, given []FSRule, ops ...Operation) (Question, bool) {
	lacks, by := l.lacking(now, ops)
	if by == nil {
		return Question{}, false
	}
	for _, on := range []func(Location) Location{l.itself, l.holder, l.ruled} {
		var grants []FSRule
		for _, r := range lacks {
			at := on(r.At)
			if i := slices.IndexFunc(grants, func(g FSRule) bool { return g.At == at }); i >= 0 {
				grants[i].Caps |= r.Caps
				continue
			}
			grants = append(grants, FSRule{Written: at.Short(), At: at, Caps: r.Caps})
		}
		q := Question{Ops: ops, Grants: grants, By: by}
		if q.Answered(l.With(slices.Concat(given, grants))) {
			return q, true
		}
	}
	return Question{}, false
}

// Covers reports whether May has all capabilities that some operations lack. It costs less than
// Ask, which can still find that no grant permits them.
func (l *Live) Covers(now *View, ops ...Operation) bool {
	_, by := l.lacking(now, ops)
	return by != nil
}

// Answered reports whether a view permits all operations of the question.
func (q Question) Answered(v *View) bool {
	return !slices.ContainsFunc(q.Ops, func(op Operation) bool { return !v.Decide(op).Allowed() })
}

// lacking are the capabilities that operations need and a view does not have, by place; and the
// rule of May on the first place, nil where May lacks some of them, too, or nothing is lacking.
func (l *Live) lacking(v *View, ops []Operation) (out []FSRule, by *FSRule) {
	for _, op := range ops {
		about := Describe(op)
		if about.Resource != FS {
			return nil, nil
		}
		for i, p := range about.Places {
			var has CapSet
			if r := v.region(p.At); r != nil {
				has = r.caps
			}
			lacks := about.Needs[i] &^ has
			ceiling, may := l.Ceiling(p.At)
			if !ceiling.Contains(lacks) {
				return nil, nil
			}
			if lacks != 0 {
				out = append(out, FSRule{At: p.At, Caps: lacks})
				if by == nil {
					by = may
				}
			}
		}
	}
	return out, by
}

func (l *Live) itself(at Location) Location { return at }

// holder is the directory of a place.
func (l *Live) holder(at Location) Location {
	if dir, ok := at.Parent(); ok {
		return dir
	}
	return at
}

// ruled is the place of the rule of May that governs a place.
func (l *Live) ruled(at Location) Location {
	if _, may := l.Ceiling(at); may != nil {
		return may.At
	}
	return at
}

// places are those where the capabilities of the policy, of May or of a grant begin to differ
// from the place above, as far as a grant covers them.
func (l *Live) places(grants []FSRule) []Location {
	var out []Location
	seen := map[Location]bool{}
	add := func(at Location) {
		covered := at.Root.Kind == Workspace && slices.ContainsFunc(grants, func(g FSRule) bool { return at.Under(g.At) })
		if covered && !seen[at] {
			seen[at] = true
			out = append(out, at)
		}
	}
	for _, rules := range [][]FSRule{grants, l.tool.FS, l.tool.May} {
		for i := range rules {
			add(rules[i].At)
		}
	}
	if !l.tool.Protects {
		for _, p := range l.protected {
			add(In(p.Path))
		}
	}
	return out
}

// rule is the policy's own rule at a place, with the granted part of May added.
func (l *Live) rule(at Location, grants []FSRule) FSRule {
	out := FSRule{Written: at.Short(), At: at}
	if r := l.own.region(at); r != nil && r.win >= 0 {
		out.Caps, out.Origin = r.caps, l.own.rules[l.own.refs[r.win].entry].Rule.Origin
	}
	ceiling, may := l.Ceiling(at)
	for i := range grants {
		if at.Under(grants[i].At) && grants[i].Caps&ceiling&^out.Caps != 0 {
			out.Caps |= grants[i].Caps & ceiling
			out.Origin = may.Origin
		}
	}
	return out
}
