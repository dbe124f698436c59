package seatbelt

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// moves lists the escalations between a policy's regions that moving files would allow. A
// profile sees the two ends of a move one by one and compares nothing.
type moves struct {
	// renames has, for the names of a region, the first escalation that a rename out of
	// it would allow in spite of the policy.
	renames map[sampled]gain
	// links is true for capabilities that permit hard links; withheld for capabilities of which the policy would permit
	// some.
	links, withheld map[ir.CapSet]bool
}

// gain is an escalation: a capability that a file gets by a move into the region of a rule.
type gain struct {
	what ir.Capability
	into ir.RuleID
}

// sample is a fresh name in a region, standing for all names in all regions of the
// same capabilities.
type sample struct {
	at   ir.Location
	rule ir.RuleID
	sampled
}

// findMoves asks the policy about a move from every kind of region to every other. A hard link
// is permitted where a link does not escalate, and also where a rename escalates in the same
// way: then withholding the link would achieve nothing.
func (p *profile) findMoves() moves {
	out := moves{renames: map[sampled]gain{}, links: map[ir.CapSet]bool{}, withheld: map[ir.CapSet]bool{}}
	samples := p.samples()
	for _, src := range samples {
		renamed, linked, permitted := false, false, false
		for _, dst := range samples {
			if !dst.caps.Contains(creates) {
				continue
			}
			if src.caps.Has(ir.Delete) && !renamed {
				v := p.view.Decide(ir.Rename{
					Src: ir.Direct(src.at), Dst: ir.Direct(dst.at), SrcKind: ir.Dir, DstKind: ir.Absent,
				})
				if renamed = v.Reason == ir.ReasonNoGain; renamed {
					out.renames[src.sampled] = gain{v.Need, dst.rule}
				}
			}
			if src.caps.Contains(linkable) {
				v := p.view.Decide(ir.Link{Src: ir.Direct(src.at), Dst: ir.Direct(dst.at)})
				linked, permitted = linked || v.Reason == ir.ReasonNoGain, permitted || v.Allowed()
			}
		}
		links, before := out.links[src.caps]
		out.links[src.caps] = src.caps.Contains(linkable) && (!linked || renamed) && (links || !before)
		out.withheld[src.caps] = permitted && !out.links[src.caps]
	}
	return out
}

// sampled is all that the moves of a name depend on, its own path aside.
type sampled struct {
	caps  ir.CapSet
	names string
}

// sampledIn is a name in a region with capabilities.
func sampledIn(r *ir.Region, caps ir.CapSet) sampled {
	out := sampled{caps: caps}
	for _, e := range r.ByName {
		out.names += string(e.ID) + " "
	}
	return out
}

// samples finds the first place of each set of capabilities and rules by name.
func (p *profile) samples() []sample {
	var out []sample
	seen := map[sampled]bool{}
	add := func(s sample) {
		if !seen[s.sampled] {
			seen[s.sampled] = true
			out = append(out, s)
		}
	}
	p.walk(func(r *ir.Region) {
		switch {
		case len(r.ByName) > 0:
			p.named(r, add)
		case r.Governing.Rule != nil:
			add(sample{fresh(r), r.ID(), sampledIn(r, r.Caps)})
		}
	})
	return out
}

// named hands out a name in r for each class of names that rules by name tell apart.
func (p *profile) named(r *ir.Region, add func(sample)) {
	rules := namesOf(r)
	lists := make([][]string, len(rules))
	for i, n := range rules {
		lists[i] = ir.FoldNames(n.rule.Names)
	}
	avoid := make([]string, len(r.Below))
	for i, b := range r.Below {
		avoid[i] = b.Name
	}
	names, ok := ir.NameClasses(lists, avoid)
	if !ok {
		p.refuse(rules[0].rule, "patterns that tell too many names apart")
	}
	for _, name := range names {
		s := sample{r.At.Child(name), r.ID(), sampledIn(r, 0)}
		for _, c := range ir.All.List() {
			v := p.view.Decide(ir.Access{Cap: c, On: ir.Direct(s.at)})
			if v.Allowed() {
				s.caps |= ir.Caps(c)
			}
			for _, n := range rules {
				if v.Rule == ir.Rule(n.rule) {
					s.rule = n.id
				}
			}
		}
		add(s)
	}
}

// fresh returns the location of a name in r that no rule is about.
func fresh(r *ir.Region) ir.Location {
	name := "x"
	for slices.ContainsFunc(r.Below, func(b *ir.Region) bool { return b.Name == name }) {
		name += "x"
	}
	return r.At.Child(name)
}
