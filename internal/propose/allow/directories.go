package allow

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
)

// candidates are the operations that one addition each is planned for. Here is decided which directory a rule is
// proposed on: for refusals of a run by refused, for runs that are learned from by recorded.
type candidates struct {
	Bounds
	// wide is true where runs were under the default policy.
	wide bool
}

// group is the operations that one addition is for.
type group struct {
	denials []int
	asks    []Ask
	// dir is the directory that the rule is on, nil for the places themselves.
	dir *ir.Location
	// broken is why the operations cannot be asked about.
	broken string
	// parts are the groups that were put together in this one.
	parts []group
}

// few is how many files of a directory speak for it.
const few = 3

// refused puts the refusals of files in one directory together if that was listed, if it holds
// several of them, or if a program chose the names itself.
func (c candidates) refused(entries []denial.Entry) []group {
	var out []group
	by := map[ir.Location][]int{} // groups by directory
	speaks := map[ir.Location]bool{}
	for i, e := range entries {
		if e.Probe != "" {
			out = append(out, group{}) // programs do without
			continue
		}
		g := c.single(i, e)
		out = append(out, g)
		at, ok := g.file()
		if !ok {
			continue
		}
		abs, _ := c.asker.Bindings.Path(at)
		if _, ok := repository(at, abs); !ok && directory(abs) && g.asks[0].Operation.(ir.Access).Cap == ir.Read {
			speaks[at] = true
			by[at] = append(by[at], i)
		} else if repo, ok := repository(at, abs); ok && c.general(repo) {
			speaks[repo] = true
			by[repo] = append(by[repo], i)
		} else if dir, ok := at.Parent(); ok {
			by[dir] = append(by[dir], i)
			// A rule on the path of a symbolic link would not permit the link.
			link := g.asks[0].Operation.(ir.Access).Name == ir.NameLink
			speaks[dir] = speaks[dir] || temporary(at.Base()) && !exists(abs) || link
		}
	}
	for dir, members := range by {
		if len(members) < 2 && !speaks[dir] || len(files(out, members)) < few && !speaks[dir] || !c.general(dir) {
			continue
		}
		c.join(out, dir, members)
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.denials) == 0 })
}

// recorded puts the operations in one directory together where that was listed and holds several of
// them, or where a program has made up their names.
func (c candidates) recorded(entries []denial.Entry) []group {
	out, moved := c.needs(entries)
	by := map[ir.Location][]int{}
	listed, speaks, names := map[ir.Location]bool{}, map[ir.Location]bool{}, map[ir.Location]bool{}
	for i, g := range out {
		at, ok := g.file()
		if !ok || g.asks[0].sought { // its preset or nothing
			continue
		}
		abs, _ := c.asker.Bindings.Path(at)
		reads := readsDir(g, abs)
		listed[at] = listed[at] || reads
		if g.asks[0].alone().Allowed(c.View) {
			continue // it needs no rule, and speaks as a listing only
		}
		repo, in := repository(at, abs)
		if in && c.general(repo) {
			speaks[repo], by[repo] = true, append(by[repo], i)
		} else if reads {
			speaks[at], by[at] = true, append(by[at], i)
		} else if dir, ok := at.Parent(); ok {
			by[dir] = append(by[dir], i)
			// A derived name in the workspace itself has a rule of its own.
			derived := dir == ir.In("") && fixed.Get().MatchString(at.Base())
			names[dir] = names[dir] || moved[at] || creates(g, at) && !derived
		}
	}
	dirs := slices.SortedFunc(maps.Keys(by), func(a, b ir.Location) int { return strings.Compare(b.Path, a.Path) })
	for _, dir := range dirs {
		members := by[dir]
		files := speaks[dir] || listed[dir] && len(files(out, members)) >= few
		if c.general(dir) && (files || names[dir]) || names[dir] && c.whole(dir) {
			c.join(out, dir, members)
		}
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.denials) == 0 })
}

// files are the different places of some groups.
func files(all []group, members []int) []ir.Location {
	var out []ir.Location
	for _, i := range members {
		if at, ok := all[i].file(); ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// join puts groups together in the first of them, on their directory.
func (c candidates) join(all []group, dir ir.Location, members []int) {
	var joined []int
	var asks []Ask
	var parts []group
	for _, i := range members {
		if at, ok := all[i].file(); ok && at != dir && dir.Root.Kind == ir.Workspace && c.guard(at) != nil {
			continue // it stays alone, with its reason
		}
		asks = append(asks, all[i].asks...)
		joined = append(joined, i)
		parts = append(parts, all[i])
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
	all[joined[0]] = group{denials: joined, asks: asks, dir: &dir, parts: parts}
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

// general reports whether a rule may be on a whole directory. None is proposed for the root of
// anything.
func (c candidates) general(dir ir.Location) bool {
	if dir.Root.Kind == ir.Workspace {
		return dir.Path != "" && c.guard(dir) == nil
	}
	return c.outside("/"+dir.Path, true) == ""
}

// whole reports whether a rule may be on all of the workspace: the runs were permitted to change it, and nothing is in
// it behind which something else acts.
func (c candidates) whole(dir ir.Location) bool { return c.wide && dir == ir.In("") && !c.acts(dir) }

// readsDir reports whether an operation lists a directory.
func readsDir(g group, abs string) bool {
	op, ok := g.asks[0].Operation.(ir.Access)
	return ok && op.Cap == ir.Read && directory(abs)
}

// creates reports whether a program has made up the name that it creates.
func creates(g group, at ir.Location) bool {
	op, ok := g.asks[0].Operation.(ir.Access)
	return ok && op.Cap == ir.Create && op.Name != ir.NameDir && temporary(at.Base())
}

// onlyOnce reports whether a rule would name a file that no later run has: a program has made the name up, in the
// workspace itself.
func (c candidates) onlyOnce(g group) bool {
	at, ok := g.file()
	dir, _ := at.Parent()
	return ok && g.dir == nil && dir == ir.In("") && creates(g, at) && !fixed.Get().MatchString(at.Base())
}

func (g group) isRun() bool {
	_, ok := g.asks[0].Operation.(ir.Run)
	return ok
}

// file is the place of a group that is about one, if a directory can speak for it.
func (g group) file() (ir.Location, bool) {
	if len(g.asks) != 1 || g.asks[0].Operation == nil {
		return ir.Location{}, false
	}
	op, ok := g.asks[0].Operation.(ir.Access)
	return op.On.At, ok && op.On.Fault == 0 && (op.On.At.Root.Kind == ir.Workspace || op.On.At.Root.Kind == ir.System)
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
