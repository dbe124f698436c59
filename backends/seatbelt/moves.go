package seatbelt

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// moves lists the escalations between a policy's regions that moving files would allow. A
// profile sees the two ends of a move one by one and compares nothing.
type moves struct {
	// renames has, for the capabilities of a region, the first escalation that a rename out of
	// it would allow in spite of the policy.
	renames map[ir.CapSet]gain
	// links is true for capabilities that permit hard links; withheld for those of
	// which the policy would permit some.
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
	caps ir.CapSet
}

// findMoves asks the policy about a move from every kind of region to every other. A hard link
// is permitted where a link does not escalate, and also where a rename escalates in the same
// way: then withholding the link would achieve nothing.
func (p *profile) findMoves() moves {
	out := moves{renames: map[ir.CapSet]gain{}, links: map[ir.CapSet]bool{}, withheld: map[ir.CapSet]bool{}}
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
					out.renames[src.caps] = gain{v.Need, dst.rule}
				}
			}
			if src.caps.Contains(linkable) {
				v := p.view.Decide(ir.Link{Src: ir.Direct(src.at), Dst: ir.Direct(dst.at)})
				linked, permitted = linked || v.Reason == ir.ReasonNoGain, permitted || v.Allowed()
			}
		}
		out.links[src.caps] = src.caps.Contains(linkable) && (!linked || renamed)
		out.withheld[src.caps] = permitted && !out.links[src.caps]
	}
	return out
}

// samples finds the first region of each set of capabilities.
func (p *profile) samples() []sample {
	var out []sample
	seen := map[ir.CapSet]bool{}
	p.walk(func(r *ir.Region) {
		if r.Governing.Rule != nil && !seen[r.Caps] {
			seen[r.Caps] = true
			out = append(out, sample{fresh(r), r.ID(), r.Caps})
		}
	})
	return out
}

// fresh returns the location of a name in r that no rule is about.
func fresh(r *ir.Region) ir.Location {
	name := "x"
	for slices.ContainsFunc(r.Below, func(b *ir.Region) bool { return b.Name == name }) {
		name += "x"
	}
	return r.At.Child(name)
}
