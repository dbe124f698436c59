package check

import (
	"cmp"
	"fmt"
	"slices"
)

// Row is a row of a ledger, in a manifest or in the needs of a text.
type Row struct {
	Resource string   `json:"resource"`
	Rules    []string `json:"rules"`
	Aspects  []string `json:"aspects"`
	Platform string   `json:"platform"`
	From     int      `json:"from_level"`
	To       int      `json:"to_level"`
	Is       string   `json:"is"`
	Causes   []string `json:"causes,omitempty"`
	Gap      string   `json:"gap,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Seen     []string `json:"seen,omitempty"`
}

// states reports whether a row is about a cell at all levels of l.
func (r *Row) states(c cell, platform string, l Level) bool {
	return r.Resource == c.resource && r.Platform == platform && r.From <= l.From && l.To <= r.To &&
		slices.Contains(r.Rules, c.rule) && slices.Contains(r.Aspects, c.aspect)
}

// equal reports whether two reasons are the same row for the same cell.
func (r Reason) equal(o Reason) bool {
	return r.Resource == o.Resource && r.Rule == o.Rule && r.Aspect == o.Aspect && r.From == o.From && r.To == o.To &&
		r.Is == o.Is && slices.Equal(r.Causes, o.Causes)
}

// group is a set of acts that a policy permits or refuses together, with the aspects of ledgers that are about them.
type group struct {
	acts    Verdict
	aspects []string
}

var fileGroups = []group{
	{Read | List, []string{"read"}},
	{Create | Fill | Mkdir | Symlink | Fifo | Socket, []string{"create", "move"}},
	{Write | Truncate, []string{"update"}},
	{Delete | Rmdir, []string{"delete", "move"}},
	{Execute, []string{"execute", "program"}},
	{Metadata, []string{"metadata"}},
	{Dial, []string{"socket"}},
}

// cell is an aspect of a rule that a difference may be about.
type cell struct{ resource, rule, aspect string }

// differences are sets of acts of a question, each with the cells of which one must state a difference in them.
func (s *Subject) differences(q Question, rule func(place string, act Verdict) string) (out []difference) {
	switch q.Kind {
	case Files:
		for _, g := range fileGroups {
			acts := g.acts & s.Text.Acts()
			if s.Policy.link(q.Target) {
				acts &= names
			}
			d := difference{acts: acts | acts<<Late}
			id := rule(q.Target, g.acts)
			for _, aspect := range g.aspects {
				switch {
				case aspect == "program":
					d.cells = append(d.cells, cell{"commands", "default", aspect})
				case aspect != "move" || s.Policy.nodes[q.Target].pinned:
					d.cells = append(d.cells, cell{"fs", id, aspect})
				}
			}
			if s.known[q.Target] {
				d.excused = d.acts &^ (1<<Late - 1) // what is named is taken to exist at the start
			}
			if id == "base" && g.acts == Metadata {
				d.excused = d.acts // of devices, which belong to root
			}
			out = append(out, d)
		}
	case Moves:
		d := difference{acts: RenameFile | RenameDir | ReplaceFile | Link}
		if root(q.Target) != root(q.To) {
			d.excused = d.acts // they may be other file systems
		}
		for _, aspect := range []string{"move", "create", "update", "delete"} {
			is := slices.IndexFunc(fileGroups, func(g group) bool { return slices.Contains(g.aspects, aspect) })
			act := fileGroups[is].acts
			for _, at := range []string{q.Target, q.To} {
				d.cells = append(d.cells, cell{"fs", rule(at, act), aspect})
			}
		}
		out = append(out, d)
	case Hosts:
		e, aspect := parseEndpoint(q.Target), "connect"
		if e.listen {
			aspect = "listen"
		}
		_, by := s.Policy.reaches(e)
		out = append(out, difference{acts: Permit, cells: []cell{{"net", by, aspect}}})
	case Programs:
		out = append(out, difference{acts: Permit, cells: []cell{
			{"commands", "commands." + q.Target, "program"}, {"commands", "default", "program"},
		}})
	case Variables:
		out = append(out, difference{acts: Permit, cells: []cell{{"env", "default", "forward"}}})
	case Limits:
		out = append(out, difference{acts: ^Verdict(0), cells: []cell{{"limits", q.Target, "limit"}}})
	case Names:
	}
	return out
}

type difference struct {
	acts    Verdict
	excused Verdict // of which a text may permit less without a row
	cells   []cell
}

// Explain lists the rows of the ledger that state how the text's answers differ from the policy's verdict. Rule is the
// rule that decides about acts at a place. The error names a difference that no row states.
func (s *Subject) Explain(
	q Question, policy Verdict, answers []Verdict, rule func(place string, act Verdict) string,
) ([]Reason, error) {
	if !slices.ContainsFunc(answers, func(a Verdict) bool { return a != policy }) {
		return nil, nil
	}
	var out []Reason
	for i, l := range s.Text.Levels() {
		if answers[i]&Odd != 0 {
			return nil, fmt.Errorf("at level %d the text can be read in two ways", l.From)
		}
		for _, d := range s.differences(q, rule) {
			more, less := answers[i]&^policy&d.acts, policy&^answers[i]&d.acts&^d.excused
			if q.Kind == Limits { // none, or a higher limit, permits more
				if more, less = 0, 0; answers[i]-1 > policy-1 {
					more = Permit
				} else if answers[i] != policy {
					less = Permit
				}
			}
			for _, acts := range []Verdict{more, less} {
				c := slices.IndexFunc(d.cells, func(c cell) bool {
					r := s.row(c, l)
					return r != nil && (acts == more && r.permits(c.aspect, l) || acts == less && r.refuses(l))
				})
				if acts == 0 || c >= 0 && slices.ContainsFunc(out, s.reason(d.cells[c], l).equal) {
					continue
				}
				if c < 0 {
					return nil, fmt.Errorf("at level %d%s the text permits %q more and %q less, and the ledger has no row of %s "+
						"of %s for it", l.From, map[bool]string{true: " without a supervisor"}[l.Alone], more.Text(q.Kind),
						less.Text(q.Kind), d.cells[0].aspect, d.cells[0].rule)
				}
				out = append(out, s.reason(d.cells[c], l))
			}
		}
	}
	slices.SortFunc(out, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Aspect, b.Aspect), cmp.Compare(a.From, b.From))
	})
	return out, nil
}

// reason is the row about a cell.
func (s *Subject) reason(c cell, l Level) Reason {
	r := s.row(c, l)
	return Reason{c.resource, c.rule, c.aspect, r.From, r.To, r.Is, r.Causes}
}

// permits reports whether a row says that more may be permitted than the policy does. Where a supervisor holds a cell,
// a text alone permits less, but for what means without names and modes cannot hold: moves, modes, and protected names.
func (r *Row) permits(aspect string, l Level) bool {
	switch r.Is {
	case "weaker", "advisory", "none":
		return true
	case "supervised":
		return l.Alone && r.Gap != "" && (aspect == "move" || aspect == "metadata" || r.Gap == "fs.protected")
	default:
		return false
	}
}

// refuses reports whether a row says that less may be permitted than the policy does, by itself or beside what it says
// more of: any but an exact row of a system that has no supervisor.
func (r *Row) refuses(l Level) bool {
	return r.Is == "stricter" || r.Is == "weaker" && len(r.Causes) > 1 || l.Alone && r.Is != "exact"
}

// row is the row of a cell, nil where the ledger has none for all of the level.
func (s *Subject) row(c cell, l Level) *Row {
	for i := range s.Tool.Ledger {
		if r := &s.Tool.Ledger[i]; r.states(c, s.platform, l) {
			return r
		}
	}
	return nil
}

// Unmet are the rows of the ledger that a loader must meet or have accepted and that the text does not list among its
// needs, and the needs that are no such rows. A text without such a list has neither.
func (s *Subject) Unmet() (unmet, idle []Row) {
	needs := s.Text.Needs()
	if needs == nil {
		return nil, nil
	}
	idle = slices.Clone(needs)
	for _, r := range s.Tool.Ledger {
		open := r.Is == "supervised" && r.Gap != "" || slices.Contains([]string{"weaker", "advisory", "none"}, r.Is)
		if r.Platform != s.platform || !open || r.To == 0 && r.Platform == "linux" {
			continue
		}
		like := func(n Row) bool {
			return n.Resource == r.Resource && n.From == r.From && n.To == r.To && n.Is == r.Is && n.Gap == r.Gap &&
				slices.Equal(n.Rules, r.Rules) && slices.Equal(n.Aspects, r.Aspects) && slices.Equal(n.Causes, r.Causes)
		}
		if i := slices.IndexFunc(idle, like); i >= 0 {
			idle = slices.Delete(idle, i, i+1)
		} else {
			unmet = append(unmet, r)
		}
	}
	return unmet, idle
}
