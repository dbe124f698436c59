package ir

import "slices"

// Live is a policy that can be widened during a run: by grants that its lists May and MayNet cover, and by
// nothing else. It is immutable and safe for concurrent use.
type Live struct {
	tool     *Tool
	platform Platform
	facts    Facts
	// own is the policy without any grant, may only the rules of May, and full the policy with all
	// that can be granted.
	own, may, full *View
	// protected are never granted for writing, whatever the policy itself may change.
	protected []ProtectedPath
}

// NewLive prepares the policy of a tool on a host for grants.
func NewLive(t *Tool, p Platform, f Facts) *Live {
	l := &Live{
		tool: t, platform: p, facts: f, own: NewView(t, p, f),
		may:       NewView(Grantable(t), p, Facts{Protected: f.Protected}),
		protected: slices.Concat(ProtectedPaths(), t.Protected, f.Protected),
	}
	l.full = l.granted(t.May)
	return l
}

// Grantable has as its policy the rules of a tool's lists May and MayNet. Writing to protected paths is cut from them,
// also where the tool's own rules may change these.
func Grantable(t *Tool) *Tool {
	return &Tool{
		Name: t.Name, Source: t.Source, Base: BaseNone, Home: HomeReal, FS: t.May, Net: t.MayNet, Protects: true,
		Protected: t.Protected,
	}
}

// Own returns the policy without any grant.
func (l *Live) Own() *View { return l.own }

// Given are grants: on files, and rules that allow hosts.
type Given struct {
	FS  []FSRule  // on places of the workspace
	Net []NetRule // that allow hosts
}

// And returns the grants of both.
func (g Given) And(o Given) Given {
	return Given{FS: slices.Concat(g.FS, o.FS), Net: slices.Concat(g.Net, o.Net)}
}

// With returns the policy with grants. At every place it permits what the policy does, and of
// the grants those capabilities that May has there. Grants outside of the workspace have no
// effect. No move gains anything under it, under the policy without grants, or with all of them: a
// file that is moved or linked stays where it is when grants change. Of the requests that the policy
// denies, it permits those that both a granted rule and MayNet allow.
// See decisions D202 and D216.
func (l *Live) With(grants Given) *View {
	v := l.granted(grants.FS)
	v.beside = []*View{l.own, l.full}
	v.net.lent = &lent{may: l.may.net, given: indexNet(grants.Net)}
	return v
}

// Lent reports whether a verdict on a request rests on MayNet.
func (l *Live) Lent(v Verdict) bool {
	r, ok := v.Rule.(*NetRule)
	if !ok || !v.Allowed() {
		return false
	}
	for i := range l.may.net.rules {
		if r == &l.may.net.rules[i] {
			return true
		}
	}
	return false
}

// MayName reports whether some request to a host can be granted.
func (l *Live) MayName(h Host) Verdict { return l.may.Named(h) }

func (l *Live) granted(grants []FSRule) *View {
	t := *l.tool
	t.FS = slices.Clone(t.FS)
	places := l.places(grants)
	slices.SortStableFunc(places, func(a, b Location) int { return a.Depth() - b.Depth() })
	for _, at := range places {
		t.FS = append(t.FS, l.byName(at, grants)...)
	}
	for _, at := range places {
		t.FS = append(t.FS, l.rule(at, grants))
	}
	return NewView(&t, l.platform, l.facts)
}

// byName are the policy's own rules by name that are about names below a place, with the granted part of May added.
func (l *Live) byName(at Location, grants []FSRule) []FSRule {
	var out []FSRule
	for i := range l.tool.FS {
		if r := l.tool.FS[i]; r.ByName() && at.Under(r.At) {
			r.At = at
			l.add(&r, at, grants)
			out = append(out, r)
		}
	}
	return out
}

// Ceiling returns the capabilities that can be granted at a place of the workspace, and the rule
// of May that governs it, nil for none. Writing to a protected path is never among them.
func (l *Live) Ceiling(at Location) (CapSet, *FSRule) {
	r := l.may.spot(at)
	if at.Root.Kind != Workspace || r.win < 0 {
		return 0, nil
	}
	caps := r.caps
	for _, p := range l.protected {
		if p.Covers(at) {
			caps &^= Write
		}
	}
	return caps, l.may.rules[l.may.refs[r.win].entry].Rule
}

// Question is a denied operation that can be granted: all of Ops are permitted once the Grants are
// added to those given before. By is the rule that covers the first of them.
type Question struct {
	Ops    []Operation // those that have to be permitted
	Grants Given       // on places of the workspace, or a host and port
	By     Rule        // of May or MayNet
}

// Whole is all that a rule of May or MayNet covers.
func (l *Live) Whole(rule Rule) Given {
	if by, ok := rule.(*NetRule); ok {
		return Given{Net: []NetRule{*by}}
	}
	by, ok := rule.(*FSRule)
	if !ok {
		return Given{}
	}
	ceiling, _ := l.Ceiling(by.At)
	return Given{FS: []FSRule{{At: by.At, Caps: ceiling}}}
}

// Ask finds the smallest grants under which all of some operations are permitted, beside grants
// given before, under which the policy is now: on the places themselves, on the directories that
// hold them, and at last on the places of the rules of May. For a request it is the host and port,
// with the schemes that MayNet permits there. It is false where the policy denies
// the operations with any of them.
func (l *Live) Ask(now *View, given Given, ops ...Operation) (Question, bool) {
	if to, ok := request(ops); ok {
		grants, by := l.Host(to)
		q := Question{Ops: ops, Grants: grants, By: by}
		return q, by != nil && !q.Answered(now) && q.Answered(l.With(given.And(grants)))
	}
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
		q := Question{Ops: ops, Grants: Given{FS: grants}, By: by}
		if q.Answered(l.With(given.And(q.Grants))) {
			return q, true
		}
	}
	return Question{}, false
}

// request is the target of the only request of a question.
func request(ops []Operation) (Endpoint, bool) {
	if len(ops) != 1 {
		return Endpoint{}, false
	}
	op, ok := ops[0].(Connect)
	return op.To, ok && !op.Own
}

// Host is the grant of a host and port: a rule for each scheme that MayNet permits there, and the
// rule by which it permits the scheme of the request itself; nil where it does not.
func (l *Live) Host(to Endpoint) (out Given, by Rule) {
	for _, scheme := range []string{to.Scheme, "https", "http", Stream} {
		at := Endpoint{Scheme: scheme, Host: to.Host, Port: to.Port}
		v := l.may.net.ruled(at, "")
		known := slices.ContainsFunc(out.Net, func(r NetRule) bool { return r.Scheme == scheme })
		switch {
		case !v.Allowed() || scheme == "" || to.Port == 0:
			if scheme == to.Scheme {
				return Given{}, nil
			}
		case !known:
			out.Net = append(out.Net, NetRule{Written: to.Host.String(), Host: to.Host, Port: to.Port, Scheme: scheme,
				Allow: true})
			if by == nil {
				by = v.Rule
			}
		}
	}
	return out, by
}

// Covers reports whether May has all capabilities that some operations lack. It costs less than
// Ask, which can still find that no grant permits them.
func (l *Live) Covers(now *View, ops ...Operation) bool {
	if to, ok := request(ops); ok {
		_, by := l.Host(to)
		return by != nil
	}
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
			lacks := about.Needs[i] &^ v.caps(p.At)
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

// places are the places where the capabilities of the policy, of May or of a grant begin to differ
// from the place above, as far as a grant covers them.
func (l *Live) places(grants []FSRule) []Location {
	var out []Location
	seen := map[Location]bool{}
	add := func(at Location) {
		covered := at.Root.Kind == Workspace && slices.ContainsFunc(grants, func(g FSRule) bool {
			return at.Under(g.At)
		})
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
			add(p.At())
		}
	}
	return out
}

// rule is the policy's own rule at a place, with the granted part of May added.
func (l *Live) rule(at Location, grants []FSRule) FSRule {
	out := FSRule{Written: at.Short(), At: at}
	if r := l.own.spot(at); r.win >= 0 {
		out.Caps, out.Origin = r.caps, l.own.rules[l.own.refs[r.win].entry].Rule.Origin
	}
	l.add(&out, at, grants)
	return out
}

// add adds to a rule the part of May at a place that grants cover.
func (l *Live) add(r *FSRule, at Location, grants []FSRule) {
	ceiling, may := l.Ceiling(at)
	for i := range grants {
		if at.Under(grants[i].At) && grants[i].Caps&ceiling&^r.Caps != 0 {
			r.Caps |= grants[i].Caps & ceiling
			r.Origin = may.Origin
		}
	}
}
