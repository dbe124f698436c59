package allow

import (
	"errors"
	"slices"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// Lesson has the rules that recorded operations need.
type Lesson struct {
	// Plan permits the operations that a rule can permit; nil if there are none.
	Plan *Plan
	// Left are operations for which nothing is proposed, with the reason.
	Left []Left
	// Waiting are the paths of external rules that take effect once their targets are approved.
	Waiting []string
	// Own are the indices of operations on places that only the user's own layer can name.
	Own []int
	// Unserved is true where the tool would have no supervisor that its runs needed.
	Unserved bool
}

// Left are operations for which nothing is proposed.
type Left struct {
	Entries []int  `json:"operations"`
	Why     string `json:"why"`
}

// Learn plans one addition for all recorded operations that the policy does not permit. A rule is on a
// directory only if that was listed, or if a program has made names up in it; where such a rule would
// grant something sensitive, the places have rules of their own. served is a recorded operation that needs a
// supervisor, empty for none; note writes the comments of a rule.
// See decisions D177 and D187.
func (p *Planner) Learn(entries []denial.Entry, served string, note func(Added) []string) (*Lesson, error) {
	out := &Lesson{}
	p.served = served
	defer func() {
		slices.SortStableFunc(out.Left, func(a, b Left) int { return a.Entries[0] - b.Entries[0] })
	}()
	s := &selection{p: p, among: candidates{p.Bounds, p.wide}, out: out}
	var open []group
	// A rule also pins its path, and may take away a move that was permitted.
	var stays group
	for _, g := range s.among.recorded(entries) {
		stays.asks = append(stays.asks, g.permitted(p.View)...)
		open = append(open, s.teachable(g)...)
	}
	// A rule on a directory may do for the files in it.
	slices.SortStableFunc(open, func(a, b group) int { return a.depth() - b.depth() })
	if len(open) == 0 && p.written && !p.unserved(p.Tool) {
		return out, nil
	}
	plan, err := p.noted(note, asksOf(append([]group{stays}, open...)))
	if err != nil {
		kept := s.together(stays, open)
		if len(kept) == 1 && p.written && !p.unserved(p.Tool) {
			return out, nil
		}
		plan, err = p.noted(note, asksOf(kept))
	}
	if err != nil {
		return nil, err
	}
	out.Waiting, out.Unserved = plan.Waiting, plan.unserved
	if !plan.Empty() {
		out.Plan = plan
	}
	return out, nil
}

// unserved reports whether a tool would have no supervisor, and its runs needed one.
func (p *Planner) unserved(t *ir.Tool) bool {
	return p.served != "" && !landlock.Serves(t, p.Now.Facts(p.Tool))
}

// permitted are the operations of a group that the policy permits by now.
func (g group) permitted(by *ir.View) []Ask {
	var out []Ask
	for _, a := range g.asks {
		if now := a.alone(); g.broken == "" && now.Allowed(by) {
			now.question, now.entry = a.question, a.entry
			out = append(out, now)
		}
	}
	return out
}

func asksOf(groups []group) []Ask {
	var out []Ask
	for _, g := range groups {
		out = append(out, g.asks...)
	}
	return out
}

// selection are the candidates for which one addition can be planned together.
type selection struct {
	p     *Planner
	among candidates
	out   *Lesson
	// stuck are those for which no plan could be made.
	stuck []group
}

// together are the groups that can be permitted together with what is permitted by now. Where no rule but one on all
// of the workspace permits an operation, such as a move beside protected files, that rule is taken.
func (s *selection) together(stays group, open []group) []group {
	told := slices.Clone(s.out.Left)
	kept := s.possible([]group{stays}, open)
	root := ir.In("")
	all := group{dir: &root}
	for _, g := range s.stuck {
		if s.mayBeWhole(g) {
			all.denials, all.asks = append(all.denials, g.denials...), append(all.asks, g.asks...)
			all.parts = append(all.parts, g)
		}
	}
	if len(all.asks) == 0 || !s.among.whole(root) {
		return kept
	}
	all.asks = slices.Clone(all.asks)
	for i := range all.asks {
		all.asks[i].At, all.asks[i].Needs = &root, all.asks[i].Needs|ir.Write.With(ir.Read)
	}
	s.out.Left = told
	return s.possible([]group{stays}, append([]group{all}, open...))
}

// mayBeWhole reports whether a rule on the workspace would permit the operations of a group.
func (s *selection) mayBeWhole(g group) bool {
	return !slices.ContainsFunc(g.asks, func(a Ask) bool {
		return slices.ContainsFunc(ir.Describe(a.Operation).Places, func(on ir.Place) bool {
			return on.Fault != 0 || on.At.Root.Kind != ir.Workspace || denial.Reserved(s.p.View, on.At) != ""
		})
	})
}

// possible are the groups that can be permitted together with those that are kept: all, or those of
// each half.
func (s *selection) possible(kept, more []group) []group {
	all := slices.Concat(kept, more)
	_, err := s.p.Plan(asksOf(all)...)
	switch half := len(more) / 2; {
	case err == nil, len(more) == 0:
		return all
	case half > 0:
		return s.possible(s.possible(kept, more[:half]), more[half:])
	case len(more[0].parts) == 0:
		s.out.Left, s.stuck = append(s.out.Left, Left{more[0].denials, whyNot(err)}), append(s.stuck, more[0])
		return kept
	}
	parts := s.apart(more[0])
	if len(parts) == 0 {
		return kept
	}
	return s.possible(kept, parts)
}

// whyNot is the reason why a plan fails.
func whyNot(err error) string {
	var refused *Refusal
	if errors.As(err, &refused) {
		return refused.Why
	}
	return "no single rule permits it: " + err.Error()
}

// teachable are the groups for which an addition may be planned: the group, its parts, or none.
func (s *selection) teachable(g group) []group {
	left := func(why string) []group {
		s.out.Left = append(s.out.Left, Left{g.denials, why})
		return nil
	}
	if g.broken != "" {
		return left(g.broken)
	}
	if !slices.ContainsFunc(g.asks, func(a Ask) bool { return !a.alone().Allowed(s.p.View) }) {
		return nil
	}
	if why := s.p.leadsOut(g); why != "" {
		return left(why)
	}
	if s.among.onlyOnce(g) {
		return left("its name is made up, and the next run makes up another; a rule that changes the whole " +
			"workspace is yours to write")
	}
	if g.dir != nil && g.asks[0].Needs.Has(ir.Update) && s.p.acts(*g.dir) {
		// A rule on the directory would let it connect.
		return s.apart(g)
	}
	places := ir.Describe(g.asks[0].Operation).Places
	if !slices.ContainsFunc(places, func(on ir.Place) bool { return on.At.Root.Kind == ir.System }) || g.isRun() {
		return []group{g}
	}
	if len(places) > 1 {
		return left("a move or a link out of the workspace is yours to permit")
	}
	if name := s.p.extension(g); name != "" {
		for i := range g.asks {
			g.asks[i].extends = name
		}
		return []group{g}
	}
	if g.asks[0].sought {
		return left("a preset has it, which is yours to add to those of the tool")
	}
	place, why := s.p.outer(g)
	switch {
	case why != "" && len(g.parts) > 0:
		return s.apart(g)
	case why != "":
		return left(why)
	case !s.p.names(place):
		s.out.Own = append(s.out.Own, g.denials...)
		return nil
	}
	for i := range g.asks {
		g.asks[i].external = place
		g.asks[i].Needs = g.asks[i].own
	}
	return []group{g}
}

// apart are the teachable groups that were put together in one.
func (s *selection) apart(g group) (parts []group) {
	for _, part := range g.parts {
		parts = append(parts, s.teachable(part)...)
	}
	return parts
}
