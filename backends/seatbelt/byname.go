package seatbelt

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// deepest is how many directories below a name two rules by name are told apart that grant different things. Their
// expressions are written once for each, from the deepest up to the names themselves: so the name that is nearest to
// the end of a path decides. Two names with more below both get nothing.
// See decision D474.
const deepest = 4

// named is a rule by name in a region, with its grant there.
type named struct {
	id   ir.RuleID
	rule *ir.FSRule
	caps ir.CapSet
}

// namesOf lists the rules by name that are about names in a region and below it.
func namesOf(r *ir.Region) []named {
	out := make([]named, len(r.ByName))
	for i, e := range r.ByName {
		out[i] = named{e.ID, e.Rule, e.Rule.Caps}
		if r.Guard.Rule != nil {
			out[i].caps &^= ir.Write
		}
	}
	return out
}

// beginsNames reports whether the rules by name are others in r than in the directory above.
func beginsNames(r *ir.Region) bool {
	if r.Above == nil || r.Above.At.Root != r.At.Root {
		return len(r.ByName) > 0
	}
	return len(r.ByName) > 0 && len(r.ByName) != len(r.Above.ByName)
}

// namesAt reports whether the rules by name are written at r: wherever a place or they begin, since a rule of the
// place comes after all that is written above it.
func namesAt(r *ir.Region) bool {
	return len(r.ByName) > 0 && !grouped(r) && (written(r) || beginsNames(r))
}

// mixed reports whether rules by name grant different things.
func mixed(rules []named) bool {
	return slices.ContainsFunc(rules, func(n named) bool { return n.caps != rules[0].caps })
}

// addNames notes the grants of rules by name in a region.
func (p *profile) addNames(r *ir.Region) {
	if !namesAt(r) {
		return
	}
	rules := namesOf(r)
	for _, n := range rules {
		if s := sampledIn(r, n.caps); !slices.Contains(p.byName[n.id], s) {
			p.byName[n.id] = append(p.byName[n.id], s)
		}
		p.deep[n.id] = p.deep[n.id] || slices.ContainsFunc(rules, func(o named) bool { return o.caps != n.caps })
	}
}

// names writes the rules by name in a region.
func (p *profile) names(w *writer, r *ir.Region) {
	rules := namesOf(r)
	write := func(end string) {
		for _, n := range rules {
			p.statements(w, string(n.id), n.rule.Caps, r.Guard, n.caps, lines(p.expressions(r.At, n.rule.Names, end)))
		}
	}
	for _, n := range rules {
		w.comment(string(n.id) + "  " + n.rule.Subject() + "  " + capsWord(n.caps))
	}
	write(andBelow)
	if !mixed(rules) {
		return
	}
	all := p.split(grant{}).deny
	for i, n := range rules {
		for _, o := range rules[:i] {
			if o.caps != n.caps {
				w.deny(string(n.id), all, p.both(r.At, n.rule.Names, o.rule.Names, below(deepest+1)+andBelow))
			}
		}
	}
	for n := deepest; n >= 0; n-- {
		write(below(n) + "$")
	}
}

// both lists filters for paths that two lists of patterns match, with an end.
func (p *profile) both(at ir.Location, a, b []string, end string) [][]string {
	var out [][]string
	for _, x := range p.expressions(at, a, end) {
		for _, y := range p.expressions(at, b, end) {
			out = append(out, []string{"(require-all " + x + " " + y + ")"})
		}
	}
	return out
}

// statements writes the permissions of a rule by name. Protection takes some of it away, and is named for that.
func (p *profile) statements(w *writer, id string, full ir.CapSet, guard ir.Entry, caps ir.CapSet, at [][]string) {
	s, whole := p.split(p.byNameGrant(caps)), p.split(p.byNameGrant(full))
	var own, guarded []string
	for _, op := range s.deny {
		if slices.Contains(whole.allow, op) && guard.Rule != nil {
			guarded = append(guarded, op)
		} else {
			own = append(own, op)
		}
	}
	w.deny(id, s.first, at)
	w.allow(s.allow, at)
	w.deny(id, own, at)
	w.deny(string(guard.ID), guarded, at)
}

// byNameGrant is the form of the grants of a rule by name.
func (p *profile) byNameGrant(caps ir.CapSet) grant {
	return grant{caps: caps, links: p.moves.links[caps], listed: p.tool.Commands != nil}
}

func lines(filters []string) [][]string {
	out := make([][]string, len(filters))
	for i, f := range filters {
		out[i] = []string{f}
	}
	return out
}

// carries reports whether a directory in r may be cloned with a name in it that is not to be read.
func (p *profile) carries(r *ir.Region) bool {
	clones := func(caps ir.CapSet) bool { return p.byNameGrant(caps).has(opClone) }
	some, none := clones(r.Caps), false
	for _, n := range namesOf(r) {
		some, none = some || clones(n.caps), none || !clones(n.caps)
	}
	return some && none
}

// gives reports whether a rule by name grants something in r.
func gives(r *ir.Region) bool {
	return slices.ContainsFunc(namesOf(r), func(n named) bool { return n.caps != 0 })
}
