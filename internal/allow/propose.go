package allow

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/shellword"
	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/ir"
)

// Proposal is what would permit some refused operations, or why there is nothing.
type Proposal struct {
	// Denials are the indices of the operations.
	Denials []int
	// Permitted is true where the present policy permits all of them.
	Permitted bool
	// Command is the command that adds the rules, Plan their text; Plan is nil for a mount.
	Command string
	Plan    *Plan
	// Approve are the paths of rules that need an approval of the user besides.
	Approve []string
	// WhyNot is why nothing is proposed.
	WhyNot string
}

// Propose finds additions for the refusals of a run: one for each, and one for a directory for
// which several speak.
// See RATIONALE D177.
func (p *Planner) Propose(entries []denial.Entry) []Proposal {
	var out []Proposal
	for _, g := range p.groups(entries) {
		out = append(out, p.propose(g))
	}
	return out
}

// group is the refusals that one addition is for.
type group struct {
	denials []int
	asks    []Ask
	// dir is the directory that the rule is on, nil for the places themselves.
	dir *ir.Location
	// broken is why the operations cannot be asked about.
	broken string
}

// few is how many files of a directory speak for it.
const few = 3

// groups puts the refusals of files in one directory together if that was listed, if it holds
// several of them, or if a program chose the names itself.
func (p *Planner) groups(entries []denial.Entry) []group {
	var out []group
	by := map[ir.Location][]int{} // groups by directory
	speaks := map[ir.Location]bool{}
	for i, e := range entries {
		if e.Probe != "" {
			continue // programs do without
		}
		g := p.single(i, e)
		out = append(out, g)
		at, ok := p.file(g)
		if !ok {
			continue
		}
		abs, _ := p.asker.Bindings.Path(at)
		reads := g.asks[0].Operation.(ir.Access).Cap == ir.Read
		if _, ok := repository(at, abs); !ok && directory(abs) && reads {
			speaks[at] = true
			by[at] = append(by[at], i)
		} else if repo, ok := repository(at, abs); ok && reads && p.general(repo) {
			speaks[repo] = true
			by[repo] = append(by[repo], i)
		} else if dir, ok := at.Parent(); ok {
			by[dir] = append(by[dir], i)
			speaks[dir] = speaks[dir] || temporary(at.Base()) && !exists(abs)
		}
	}
	for dir, members := range by {
		if len(members) < 2 && !speaks[dir] || len(p.files(out, members)) < few && !speaks[dir] || !p.general(dir) {
			continue
		}
		p.join(out, dir, members)
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.denials) == 0 })
}

// repository is the work tree of git outside of the workspace that a place lies in: git reads its
// files one by one, and needs all of them.
func repository(at ir.Location, abs string) (ir.Location, bool) {
	for at.Root.Kind == ir.System && at.Path != "" {
		if exists(path.Join(abs, ".git")) {
			return at, true
		}
		at, _ = at.Parent()
		abs = path.Dir(abs)
	}
	return ir.Location{}, false
}

// single is the group of one refusal.
func (p *Planner) single(i int, e denial.Entry) group {
	g := group{denials: []int{i}}
	if e.Question == nil {
		g.broken = "no rule permits it"
		return g
	}
	a, err := p.Question(e.Question)
	if err != nil {
		g.broken = err.Error()
		return g
	}
	for _, n := range e.Needs {
		if c, ok := ir.ParseCapability(n); ok {
			a.Needs = a.Needs.With(c)
		}
	}
	if op, ok := a.Operation.(ir.Access); ok {
		a.Needs = a.Needs.With(op.Cap)
		if a.own = a.Needs; op.Cap == ir.Create && (op.Name == ir.NameDir || temporary(op.On.At.Base())) {
			// A program fills the directory that it makes, and renames or removes what it has made up.
			a.Needs |= ir.Write.With(ir.Read)
		}
	}
	g.asks = []Ask{a}
	return g
}

// file is the place of a group that is about one, if a directory can speak for it.
func (p *Planner) file(g group) (ir.Location, bool) {
	if len(g.asks) != 1 || g.asks[0].Operation == nil {
		return ir.Location{}, false
	}
	op, ok := g.asks[0].Operation.(ir.Access)
	at := op.On.At
	if abs, beyond := p.beyond(at); beyond {
		at = ir.Sys(strings.TrimPrefix(abs, "/"))
	}
	return at, ok && op.On.Fault == 0 && (at.Root.Kind == ir.Workspace || at.Root.Kind == ir.System)
}

// files are the different places of some groups.
func (p *Planner) files(all []group, members []int) []ir.Location {
	var out []ir.Location
	for _, i := range members {
		if at, ok := p.file(all[i]); ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// join puts groups together in the first of them, on their directory.
func (p *Planner) join(all []group, dir ir.Location, members []int) {
	var joined []int
	var asks []Ask
	for _, i := range members {
		if at, ok := p.file(all[i]); ok && at != dir && dir.Root.Kind == ir.Workspace && p.guard(at) != nil {
			continue // it stays alone, with its reason
		}
		asks = append(asks, all[i].asks...)
		joined = append(joined, i)
	}
	if len(joined) == 0 {
		return
	}
	var caps ir.CapSet
	for _, a := range asks {
		caps |= a.Needs
	}
	for i := range asks {
		asks[i].At, asks[i].Needs = &dir, caps
	}
	for _, i := range joined {
		all[i] = group{}
	}
	all[joined[0]] = group{denials: joined, asks: asks, dir: &dir}
}

// temporary reports whether a program has probably made up a name.
func temporary(name string) bool {
	if madeUp.MatchString(name) {
		return true
	}
	const made = 6 // as mkstemp(3) makes them
	i := strings.LastIndexAny(name, "._-")
	return i >= 0 && len(name)-i > made && random.MatchString(name[i+1:]) && strings.ContainsAny(name[i+1:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

var random = regexp.MustCompile(`^[A-Za-z0-9]+$`)

// madeUp are names as mkstemp(3), editors and databases make them.
var madeUp = regexp.MustCompile(`^(sed|tmp|\.tmp)[A-Za-z0-9_]{6,8}$|^4913$|~$|^\.?#|\.sw[a-px]$|-(journal|wal|shm)$|\.(tmp|lock)$`)

// general reports whether a rule may be on a whole directory. None is proposed for the root of
// anything.
func (p *Planner) general(dir ir.Location) bool {
	if dir.Root.Kind == ir.Workspace {
		return dir.Path != "" && p.guard(dir) == nil
	}
	return p.outside("/"+dir.Path, true, ir.Caps(ir.Read)) == ""
}

func (p *Planner) propose(g group) Proposal {
	out := Proposal{Denials: g.denials, WhyNot: g.broken}
	if g.broken != "" {
		return out
	}
	if out.Permitted = !slices.ContainsFunc(g.asks, func(a Ask) bool { return !p.asked(a).Allowed(p.View) }); out.Permitted {
		return out
	}
	if out.WhyNot = p.leadsOut(g); out.WhyNot != "" {
		return out
	}
	if p.mounted(g) {
		out.Command, out.WhyNot = p.mount(g)
		return out
	}
	plan, err := p.Plan(g.asks...)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		out.WhyNot = refused.Why
	case err != nil:
		out.WhyNot = "no single rule permits it: " + err.Error()
	default:
		out.Plan = plan
		out.Command, out.Approve = p.command(g), plan.Approve
	}
	return out
}

// mounted reports whether only a mount can permit the operations of a group.
func (p *Planner) mounted(g group) bool {
	places := ir.Describe(g.asks[0].Operation).Places
	if len(places) != 1 || places[0].At.Root.Kind != ir.System || p.isRun(g) {
		return false
	}
	at, _ := g.asks[0].place()
	_, named := p.external(at)
	return !named
}

// asked is the operation as the run needed it, without what its directory would need.
func (p *Planner) asked(a Ask) Ask {
	if op, ok := a.Operation.(ir.Access); ok {
		return Ask{Operation: op, Needs: a.own}
	}
	return a
}

func (p *Planner) isRun(g group) bool {
	_, ok := g.asks[0].Operation.(ir.Run)
	return ok
}

// leadsOut is why operations are not proposed that have others act for the tool.
func (p *Planner) leadsOut(g group) string {
	for _, a := range g.asks {
		switch op := a.Operation.(type) {
		case ir.Dial:
			return "whatever listens at a socket may act for the tool, outside of the sandbox"
		case ir.Access:
			if abs, ok := p.asker.Bindings.Path(op.On.At); ok && special(abs) {
				return "it is a socket, a device or a FIFO, behind which something outside of the sandbox may act"
			}
			if op.On.At == ir.In("") {
				return "a rule on the whole workspace is yours to write"
			}
		case ir.Connect, ir.Copy, ir.Exchange, ir.Forward, ir.Link, ir.Listen, ir.Rename, ir.Run, ir.Start:
			// What they reach is what the rule names.
		}
	}
	return ""
}

// command is the command line that plans the same.
func (p *Planner) command(g group) string {
	words := []string{"accessc", "allow", p.Tool.Name}
	if p.req.Layer != ir.LayerLocal {
		words = []string{"accessc", "allow", "--layer", p.req.Layer.String(), p.Tool.Name}
	}
	add := func(op ...string) {
		if word := shellword.Quote(strings.Join(op, " ")); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, a := range g.asks {
		for _, op := range p.words(a) {
			add(op...)
		}
	}
	return strings.Join(words, " ")
}

// words are the operations of an ask as the command takes them.
func (p *Planner) words(a Ask) [][]string {
	at, one := a.place()
	external, isExternal := p.external(at)
	name := shellword.Quote(at.Short())
	if isExternal {
		name = tilde(external.Short())
	}
	var out [][]string
	about := ir.Describe(a.Operation)
	switch op := a.Operation.(type) {
	case ir.Access:
		for _, c := range a.Needs.List() {
			out = append(out, []string{c.String(), name})
		}
	case ir.Connect, ir.Listen, ir.Forward:
		out = append(out, []string{about.Verb, about.Subject})
	case ir.Run:
		if one && isExternal {
			return append(out, []string{"execute", name})
		}
		line := []string{"run", shellword.Quote(op.Program)}
		for _, arg := range op.Args {
			line = append(line, shellword.Quote(arg))
		}
		out = append(out, line)
	case ir.Start:
		out = append(out, []string{"execute", name})
	default:
		line := []string{about.Verb}
		for _, place := range about.Places {
			line = append(line, shellword.Quote(place.At.Short()))
		}
		out = append(out, line)
	}
	return out
}
