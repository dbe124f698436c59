package check

import (
	"fmt"
	"slices"
	"strings"
)

// Moves are the moves that the policy permits: both ends need their capabilities, no name moves that leads to a rule,
// and nothing that is moved may be used for more at its new place.
func (p *Policy) Moves(src, dst string) Verdict {
	from, to := p.walk(src), p.walk(dst)
	at := func(s spot, place string) caps {
		c := p.granted(s)
		if s.pattern {
			c &^= capWrite
		}
		if place == root(place) {
			c &^= capCreate | capDelete
		}
		return c
	}
	had, has := at(from, src), at(to, dst)
	var out Verdict
	if had&capDelete != 0 && has&capCreate != 0 {
		out |= RenameFile | RenameDir
	}
	if had&capDelete != 0 && has&capUpdate != 0 {
		out |= ReplaceFile
	}
	if had&(capRead|capUpdate) == capRead|capUpdate && has&capCreate != 0 {
		out |= Link
	}
	if p.nodes[dst].pinned || dst == root(dst) {
		return 0
	}
	if p.nodes[src].pinned || src == root(src) {
		out &= Link
	}
	matters := caps(capAll)
	if p.doc.Commands != nil {
		matters &^= capExecute // listed files do not move
	}
	if p.granted(to)&^p.granted(from)&matters&(capRead|capUpdate|capExecute) != 0 {
		out &= RenameDir
	}
	if p.gains(src, dst, matters) {
		out &^= RenameDir
	}
	return out
}

// gains reports whether anything in a directory could be used for more after a move, or would be protected there and
// can be made here.
func (p *Policy) gains(src, dst string, matters caps) bool {
	if root(dst) == workspace {
		for _, g := range p.guards {
			had := uint64(0)
			if root(src) == workspace {
				had = p.guardBelow(g, src)
			}
			if p.guardBelow(g, dst)&^had != 0 {
				return true
			}
		}
		for _, r := range p.rules {
			rest, below := strings.CutPrefix(r.at, src+"/")
			if below && root(src) == workspace && p.walk(child(dst, rest)).pattern && !p.walk(r.at).pattern {
				return true
			}
		}
	}
	in := slices.Concat(p.active(src), p.active(dst))
	slices.Sort(in)
	names, ok := p.classes(slices.Compact(in), nil)
	for _, way := range append(ways(names), "") {
		from, to := src, dst
		if way != "" {
			from, to = child(src, way), child(dst, way)
		}
		if p.granted(p.find(to))&^p.granted(p.find(from))&matters != 0 {
			return true
		}
	}
	return !ok
}

// ways are all names and pairs of names.
func ways(names []string) (out []string) {
	for _, a := range names {
		out = append(out, a)
		for _, b := range names {
			out = append(out, a+"/"+b)
		}
	}
	return out
}

// guardBelow are the positions in a pattern from which names in a place may match.
func (p *Policy) guardBelow(parts []string, place string) uint64 {
	states := closure(parts, 1)
	for _, at := range prefixes(place)[1:] {
		states = p.guardStep(parts, states, base(at))
	}
	return states &^ (1 << len(parts))
}

// moves are moves that stand for all: between any two names of which policy and text think otherwise, and for each
// place that either mentions from and to a name beside it. In has a name in each place, and near the name beside each.
func (s *Subject) moves(places []string, in []Question, near map[string]string) (out []Question) {
	if s.Text.Answer(Question{Moves, child(workspace, "a"), child(workspace, "b")}) == nil {
		return nil // the model knows no moves
	}
	seen := map[string]bool{}
	var kinds []string
	for _, q := range in {
		if key := s.state(q.Target, q.To); !seen[key] && root(q.Target) != system {
			seen[key] = true
			kinds = append(kinds, q.Target)
		}
	}
	for _, at := range places {
		up, ok := parent(at)
		beside := near[up]
		if !ok || beside == "" {
			continue
		}
		others := []string{beside}
		if key := s.state(at, up) + s.state(beside, up) + fmt.Sprint(s.Policy.nodes[at].pinned); !seen[key] {
			seen[key] = true
			others = append(others, kinds...)
		}
		slices.Sort(others)
		for _, o := range slices.Compact(others) {
			out = append(out, Question{Moves, at, o}, Question{Moves, o, at})
		}
	}
	for _, a := range kinds {
		for _, b := range kinds {
			if a == b { // in a directory, and between two
				b += "2"
				out = append(out, Question{Moves, a, child(b, base(a))})
			}
			out = append(out, Question{Moves, a, b})
		}
	}
	return out
}

// state is the same for two names that policy and text treat alike.
func (s *Subject) state(place, from string) string {
	w := s.Policy.walk(place)
	key := fmt.Sprint(w.win, w.guarded, w.pattern, s.Policy.active(place), s.Text.Answer(Question{Files, place, from}))
	if t, ok := s.Text.(interface{ Region(place string) string }); ok {
		key += t.Region(place)
	}
	return key
}
