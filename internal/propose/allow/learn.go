package allow

import (
	"errors"
	"maps"
	"slices"
	"strings"

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
	// stuck are those for which no plan could be made.
	stuck []group
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
	var open []group
	// A rule also pins its path, and may take away a move that was permitted.
	var stays group
	for _, g := range p.lessons(entries) {
		stays.asks = append(stays.asks, p.permitted(g)...)
		open = append(open, p.teachable(g, out)...)
	}
	// A rule on a directory may do for the files in it.
	slices.SortStableFunc(open, func(a, b group) int { return a.depth() - b.depth() })
	if len(open) == 0 && p.req.Fresh == "" && !p.unserved(p.Tool) {
		return out, nil
	}
	plan, err := p.noted(note, asksOf(append([]group{stays}, open...)))
	if err != nil {
		kept := p.together(stays, open, out)
		if len(kept) == 1 && p.req.Fresh == "" && !p.unserved(p.Tool) {
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
func (p *Planner) permitted(g group) []Ask {
	var out []Ask
	for _, a := range g.asks {
		if now := p.asked(a); g.broken == "" && now.Allowed(p.View) {
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

// together are the groups that can be permitted together with what is permitted by now. Where no rule but one on all
// of the workspace permits an operation, such as a move beside protected files, that rule is taken.
func (p *Planner) together(stays group, open []group, out *Lesson) []group {
	told := slices.Clone(out.Left)
	kept := p.possible([]group{stays}, open, out)
	root := ir.In("")
	all := group{dir: &root}
	for _, g := range out.stuck {
		if p.mayBeWhole(g) {
			all.denials, all.asks, all.parts = append(all.denials, g.denials...), append(all.asks, g.asks...), append(all.parts, g)
		}
	}
	if len(all.asks) == 0 || !p.whole(root) {
		return kept
	}
	all.asks = slices.Clone(all.asks)
	for i := range all.asks {
		all.asks[i].At, all.asks[i].Needs = &root, all.asks[i].Needs|ir.Write.With(ir.Read)
	}
	out.Left = told
	return p.possible([]group{stays}, append([]group{all}, open...), out)
}

// mayBeWhole reports whether a rule on the workspace would permit the operations of a group.
func (p *Planner) mayBeWhole(g group) bool {
	return !slices.ContainsFunc(g.asks, func(a Ask) bool {
		return slices.ContainsFunc(ir.Describe(a.Operation).Places, func(on ir.Place) bool {
			return on.Fault != 0 || on.At.Root.Kind != ir.Workspace || denial.Reserved(p.View, on.At) != ""
		})
	})
}

// possible are the groups that can be permitted together with those that are kept: all, or those of
// each half.
func (p *Planner) possible(kept, more []group, out *Lesson) []group {
	all := slices.Concat(kept, more)
	_, err := p.Plan(asksOf(all)...)
	switch half := len(more) / 2; {
	case err == nil, len(more) == 0:
		return all
	case half > 0:
		return p.possible(p.possible(kept, more[:half], out), more[half:], out)
	case len(more[0].parts) == 0:
		out.Left, out.stuck = append(out.Left, Left{more[0].denials, whyNot(err)}), append(out.stuck, more[0])
		return kept
	}
	parts := p.apart(more[0], out)
	if len(parts) == 0 {
		return kept
	}
	return p.possible(kept, parts, out)
}

// depth is how many names lead to the place of a group.
func (g group) depth() int {
	if g.dir != nil {
		return strings.Count(g.dir.Path, "/")
	}
	if places := ir.Describe(g.asks[0].Operation).Places; len(places) == 1 {
		return strings.Count(places[0].At.Path, "/")
	}
	const last = 1 << 16 // moves, and operations on no file
	return last
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
func (p *Planner) teachable(g group, out *Lesson) []group {
	left := func(why string) []group {
		out.Left = append(out.Left, Left{g.denials, why})
		return nil
	}
	if g.broken != "" {
		return left(g.broken)
	}
	if !slices.ContainsFunc(g.asks, func(a Ask) bool { return !p.asked(a).Allowed(p.View) }) {
		return nil
	}
	if why := p.leadsOut(g); why != "" {
		return left(why)
	}
	if p.onlyOnce(g) {
		return left("its name is made up, and the next run makes up another; a rule that changes the whole workspace is yours to write")
	}
	if g.dir != nil && g.asks[0].Needs.Has(ir.Update) && p.acts(*g.dir) {
		// A rule on the directory would let it connect.
		return p.apart(g, out)
	}
	places := ir.Describe(g.asks[0].Operation).Places
	if !slices.ContainsFunc(places, func(on ir.Place) bool { return on.At.Root.Kind == ir.System }) || p.isRun(g) {
		return []group{g}
	}
	if len(places) > 1 {
		return left("a move or a link out of the workspace is yours to permit")
	}
	if name := p.extension(g); name != "" {
		for i := range g.asks {
			g.asks[i].extends = name
		}
		return []group{g}
	}
	if g.asks[0].sought {
		return left("a preset has it, which is yours to add to those of the tool")
	}
	place, why := p.outer(g)
	switch {
	case why != "" && len(g.parts) > 0:
		return p.apart(g, out)
	case why != "":
		return left(why)
	case !p.names(place):
		out.Own = append(out.Own, g.denials...)
		return nil
	}
	for i := range g.asks {
		g.asks[i].external = place
		g.asks[i].Needs = g.asks[i].own
	}
	return []group{g}
}

// apart are the teachable groups that were put together in one.
func (p *Planner) apart(g group, out *Lesson) (parts []group) {
	for _, part := range g.parts {
		parts = append(parts, p.teachable(part, out)...)
	}
	return parts
}

// onlyOnce reports whether a rule would name a file that no later run has: a program has made the name up, in the workspace
// itself.
func (p *Planner) onlyOnce(g group) bool {
	at, ok := g.file()
	dir, _ := at.Parent()
	return ok && g.dir == nil && dir == ir.In("") && p.madeUp(g, at) && !fixed.Get().MatchString(at.Base())
}

// acts reports whether a directory of the workspace holds a socket or the like, or too much is in it to
// be looked at.
func (p *Planner) acts(dir ir.Location) bool {
	abs, ok := p.asker.Bindings.Path(dir)
	return !ok || holds(abs, acts)
}

// lessons puts the operations in one directory together where that was listed and holds several of
// them, or where a program has made up their names.
func (p *Planner) lessons(entries []denial.Entry) []group {
	var out []group
	by := map[ir.Location][]int{}
	listed, speaks, names := map[ir.Location]bool{}, map[ir.Location]bool{}, map[ir.Location]bool{}
	moved, strangers := p.moved(entries), strangers(entries)
	for i, e := range entries {
		if e.Probe != "" {
			out = append(out, group{}) // programs do without
			continue
		}
		g := p.single(i, e)
		for i := range g.asks {
			g.asks[i].recorded, g.asks[i].sought, g.asks[i].bound = true, e.Sought, e.Own && !strangers[e.Question[1]]
		}
		if e.Sought {
			out = append(out, g) // its preset or nothing
			continue
		}
		if !e.Own && (len(e.Question) < 2 || !strangers[e.Question[1]]) {
			p.repeats(g)
		}
		at, ok := g.file()
		if ok && moved[at] {
			// No rule on the file lets it be renamed, so that one on its directory has to.
			g.asks[0].Needs |= ir.Write.With(ir.Read)
		}
		abs, _ := p.asker.Bindings.Path(at)
		reads := ok && p.readsDir(g, abs)
		listed[at] = listed[at] || reads
		if ok && p.asked(g.asks[0]).Allowed(p.View) {
			ok = false // it needs no rule, and speaks as a listing alone
		}
		out = append(out, g)
		if !ok {
			continue
		}
		repo, in := repository(at, abs)
		if in && p.general(repo) {
			speaks[repo], by[repo] = true, append(by[repo], i)
		} else if reads {
			speaks[at], by[at] = true, append(by[at], i)
		} else if dir, ok := at.Parent(); ok {
			by[dir] = append(by[dir], i)
			derived := dir == ir.In("") && fixed.Get().MatchString(at.Base()) // in the workspace itself it has a rule of its own
			names[dir] = names[dir] || moved[at] || p.madeUp(g, at) && !derived
		}
	}
	dirs := slices.SortedFunc(maps.Keys(by), func(a, b ir.Location) int { return strings.Compare(b.Path, a.Path) })
	for _, dir := range dirs {
		members := by[dir]
		files := speaks[dir] || listed[dir] && len(p.files(out, members)) >= few
		if p.general(dir) && (files || names[dir]) || names[dir] && p.whole(dir) {
			p.join(out, dir, members)
		}
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.denials) == 0 })
}

// repeats adds the changing of a file to its creation, and the creation to the changing: the next run finds the file
// that this one has made, or finds that a clean has removed it. To change a socket is to connect to it.
// See decision D187.
func (p *Planner) repeats(g group) {
	at, ok := g.file()
	if !ok || at.Root.Kind != ir.Workspace {
		return
	}
	switch g.asks[0].Operation.(ir.Access).Cap {
	case ir.Create:
		g.asks[0].Needs = g.asks[0].Needs.With(ir.Update)
	case ir.Update:
		g.asks[0].Needs = g.asks[0].Needs.With(ir.Create)
	case ir.Read, ir.Delete, ir.Execute:
	}
}

// strangers are the socket files at which programs were met that are not known to be the tool's own.
func strangers(entries []denial.Entry) map[string]bool {
	out := map[string]bool{}
	for _, e := range entries {
		if len(e.Question) > 1 && e.Question[0] == "dial" && !e.Own {
			out[e.Question[1]] = true
		}
	}
	return out
}

// whole reports whether a rule may be on all of the workspace: the runs were permitted to change it, and nothing is in
// it behind which something else acts.
func (p *Planner) whole(dir ir.Location) bool { return p.req.Wide && dir == ir.In("") && !p.acts(dir) }

// moved are the files of the workspace that were renamed within their directory: programs write a
// file under another name first, so that no other program reads half of it.
func (p *Planner) moved(entries []denial.Entry) map[ir.Location]bool {
	out := map[ir.Location]bool{}
	for i, e := range entries {
		g := p.single(i, e)
		if g.broken != "" {
			continue
		}
		op, ok := g.asks[0].Operation.(ir.Rename)
		if !ok || op.Src.Fault != 0 || op.Dst.Fault != 0 || op.Src.At.Root.Kind != ir.Workspace {
			continue
		}
		from, _ := op.Src.At.Parent()
		to, _ := op.Dst.At.Parent()
		if from == to && !p.asked(g.asks[0]).Allowed(p.View) {
			out[op.Src.At] = true
		}
	}
	return out
}

// readsDir reports whether an operation lists a directory.
func (p *Planner) readsDir(g group, abs string) bool {
	op, ok := g.asks[0].Operation.(ir.Access)
	return ok && op.Cap == ir.Read && directory(abs)
}

// madeUp reports whether a program has made up the name that it creates.
func (p *Planner) madeUp(g group, at ir.Location) bool {
	op, ok := g.asks[0].Operation.(ir.Access)
	return ok && op.Cap == ir.Create && op.Name != ir.NameDir && temporary(at.Base())
}

// Granted are the capabilities on the file at an absolute canonical path.
func (p *Planner) Granted(abs string) ir.CapSet {
	var out ir.CapSet
	for _, c := range ir.Capabilities {
		if p.View.Decide(ir.Access{Cap: c, On: ir.Direct(p.asker.Bindings.Locate(abs))}).Allowed() {
			out = out.With(c)
		}
	}
	return out
}

// Sensitive reports whether a pattern of sensitive paths covers a place.
func (p *Planner) Sensitive(abs string) bool {
	return denial.Sensitive(p.View, p.asker.Bindings.Locate(abs))
}

// Permits reports whether the policy permits a recorded operation.
func (p *Planner) Permits(e denial.Entry) bool {
	g := p.single(0, e)
	return g.broken == "" && p.asked(g.asks[0]).Allowed(p.View)
}
