package undo

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// plan is how a run is taken back. Everything in it is in the order in which it is done: what has moved is taken to a
// side directory, the deepest first; names are cleared and filled from the top down; further names of a file follow;
// then contents, and last mode, owner, times and attributes, of directories from the bottom up.
type plan struct {
	parks []place
	names []filling
	links []linking
	files []restoring
	// back are names whose files have been away, and are back.
	back []string
	// conflicts are the paths that others have changed since, or that cannot be brought back.
	conflicts []Conflict
	// gone are the originals that are nowhere, by ID: the disk has them as new files afterwards.
	gone map[string]bool
	// whole is set where no paths were asked for.
	whole bool
}

// place is a file at a path.
type place struct{ path, id string }

// filling is a name to be cleared of everything but a file, and filled with it: want is nil for none.
type filling struct {
	path string
	want *print
	// parked says that it has moved, kept is what is kept of it if it is gone; neither where it has another name.
	parked bool
	kept   *kept
}

// linking is a further name of a file.
type linking struct{ path, of string }

// restoring is a file whose contents, or the rest, are brought back.
type restoring struct {
	path     string
	kept     *kept
	contents bool
}

// Conflict is a path that keeps a run from being taken back.
type Conflict struct {
	Path, Why string
	// Lost says that not even by force can it be brought back.
	Lost bool
}

// layout finds where originals are in a state of the disk.
type layout struct {
	*journal
	now   map[string]*print
	byID  map[string][]string
	memo  map[string]string
	from  map[string]string // the original paths of directories, by where they are now
	paths []string          // that were asked for, none for all
	taken map[string]bool   // whether a name is taken back, by its path
	// originals are the IDs of all that stood at names, once they are asked for.
	originals map[string]bool
}

func newLayout(j *journal, now map[string]*print) *layout {
	l := &layout{journal: j, now: now, byID: map[string][]string{}, memo: map[string]string{}}
	for p, f := range now {
		l.byID[f.ID] = append(l.byID[f.ID], p)
	}
	for _, list := range l.byID {
		slices.Sort(list)
	}
	return l
}

// isPlace reports whether a path is a place of the run, which nothing moves, or outside of all.
func (l *layout) isPlace(p string) bool { return !l.holds(p) || slices.Contains(l.Places, name(p)) }

// at is where the original of a path is now, empty where it is nowhere.
func (l *layout) at(p string) string {
	if l.isPlace(p) {
		return p
	}
	if known, ok := l.memo[p]; ok {
		return known
	}
	out := l.slot(p)
	if n := l.names[p]; n != nil {
		switch f := l.now[out]; {
		case n.Was == nil:
			out = ""
		case out != "" && f != nil && f.ID == n.Was.ID:
		case len(l.byID[n.Was.ID]) > 0:
			out = l.byID[n.Was.ID][0]
		default:
			out = ""
		}
	}
	l.memo[p] = out
	return out
}

// slot is the path now of a name in its original directory, empty where that is nowhere.
func (l *layout) slot(p string) string {
	if l.isPlace(p) {
		return p
	}
	if dir := l.at(path.Dir(p)); dir != "" {
		return path.Join(dir, path.Base(p))
	}
	return ""
}

// origin is the original path of what stands at a path now, if it is an original in its own directory whose name the
// run has not touched, or one of the journal that has moved there; empty otherwise.
func (l *layout) origin(q string) string {
	if l.isPlace(q) {
		return q
	}
	if l.from == nil {
		l.from = map[string]string{}
		for p, n := range l.names {
			if at := l.at(p); at != "" && n.Was.dir() {
				l.from[at] = p
			}
		}
	}
	if p, ok := l.from[q]; ok {
		return p
	}
	dir := l.origin(path.Dir(q))
	if p := path.Join(dir, path.Base(q)); dir != "" && l.names[p] == nil {
		return p
	}
	return ""
}

// stands is the original path of a file that has kept one of its names, which the journal does not list; empty where
// it has none.
func (l *layout) stands(id string) string {
	for _, q := range l.byID[id] {
		if p := l.origin(q); p != "" && l.names[p] == nil {
			return p
		}
	}
	return ""
}

// held reports whether the original of a path is in its own directory, under its own name.
func (l *layout) held(p string) bool {
	n, s := l.names[p], l.slot(p)
	return n.Was != nil && s != "" && l.now[s] != nil && l.now[s].ID == n.Was.ID
}

// shadowed reports whether a path is below a name that was no directory when the run began: it is nobody's original.
func (l *layout) shadowed(p string) bool {
	for !l.isPlace(p) {
		p = path.Dir(p)
		if n := l.names[p]; n != nil && !n.Was.dir() {
			return true
		}
	}
	return false
}

// order is the paths of the names from the top down.
func (l *layout) order() []string {
	var out []string
	for p := range l.names {
		if !l.shadowed(p) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, fromTop)
	return out
}

func depth(p string) int { return strings.Count(p, "/") }

func fromTop(a, b string) int { return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b)) }

// planFor plans to take a run back, or some of its paths. now is the state of its files.
func planFor(j *journal, now map[string]*print, paths []string) *plan {
	l := newLayout(j, now)
	l.choose(paths)
	p := &plan{gone: map[string]bool{}, whole: len(paths) == 0}
	placed := l.fill(p)
	slices.SortFunc(p.parks, func(a, b place) int { return fromTop(b.path, a.path) })
	l.restore(p, placed)
	l.since(p)
	slices.SortFunc(p.conflicts, func(a, b Conflict) int { return cmp.Compare(a.Path, b.Path) })
	return p
}

// choose finds the names that have to be taken back with some paths: the directories that these were in, and the other
// end of each move. No path stands for all.
func (l *layout) choose(paths []string) {
	l.paths, l.taken = paths, map[string]bool{}
	wanted := map[string][]string{}
	for _, p := range l.order() {
		n := l.names[p]
		l.taken[p] = len(paths) == 0 || slices.ContainsFunc(paths, func(s string) bool {
			return within(p, s) || within(s, p) && n.Was != nil
		})
		if n.Was != nil {
			wanted[n.Was.ID] = append(wanted[n.Was.ID], p)
		}
	}
	for more := true; more; {
		more = false
		add := func(p string) {
			if taken, is := l.taken[p]; is && !taken {
				l.taken[p], more = true, true
			}
		}
		for p, taken := range l.taken {
			if !taken || l.held(p) {
				continue
			}
			if l.names[p].Was != nil {
				add(l.at(p))
			}
			// What the run has moved here, or into a directory here, goes back first.
			if f, here := l.now[l.slot(p)], l.slot(p); f != nil {
				for _, other := range wanted[f.ID] {
					add(other)
				}
				for other := range l.taken {
					if at := l.at(other); f.dir() && at != "" && l.names[other].Was != nil && within(at, here) {
						add(other)
					}
				}
			}
			add(path.Dir(p))
		}
	}
}

// fill plans the names, and returns where each original is afterwards.
func (l *layout) fill(p *plan) map[string]string {
	placed := map[string]string{}
	for _, at := range l.order() {
		if l.held(at) {
			placed[l.names[at].Was.ID] = at
			if l.taken[at] {
				p.back = append(p.back, at)
			}
		}
	}
	for _, at := range l.order() {
		if !l.taken[at] || l.held(at) {
			continue
		}
		was := l.names[at].Was
		f := filling{path: at, want: was}
		switch {
		case !l.same(at):
			p.lost(at, "its directory is another now")
			continue
		case was == nil && l.now[l.slot(at)] == nil:
			continue
		case was == nil:
		case placed[was.ID] == "" && l.stands(was.ID) != "":
			placed[was.ID] = l.stands(was.ID)
			p.links = append(p.links, linking{at, placed[was.ID]})
		case placed[was.ID] != "":
			p.links = append(p.links, linking{at, placed[was.ID]})
		case l.at(at) != "":
			f.parked = true
			p.parks = append(p.parks, place{l.at(at), was.ID})
			placed[was.ID] = at
		default:
			f.kept = l.files[was.ID]
			if f.kept == nil || f.kept.Mode&typeMask == typeFile && f.kept.Blob == "" {
				p.lost(at, "is nowhere any more, and the run did not remove it")
				continue
			}
			placed[was.ID] = at
			p.gone[was.ID] = true
		}
		p.names = append(p.names, f)
	}
	return placed
}

// same reports whether the directory that a name was in is the directory of its path, or will be.
func (l *layout) same(p string) bool {
	in, dir := l.names[p].In, path.Dir(p)
	if n := l.names[dir]; n != nil {
		return n.Was != nil && n.Was.ID == in
	}
	f := l.now[l.at(dir)]
	return f != nil && f.ID == in
}

func (p *plan) lost(at, why string) { p.conflicts = append(p.conflicts, Conflict{at, why, true}) }

// restore plans contents and metadata.
func (l *layout) restore(p *plan, placed map[string]string) {
	for id, k := range l.files {
		at := placed[id]
		if at == "" {
			at = l.stays(id, k)
		}
		if at == "" && l.missing(k) {
			at = l.replace(p, k)
		}
		now := l.present(id)
		if at == "" || !l.includes(at) || now != nil && now.CTime == k.CTime && !k.dir() {
			continue
		}
		p.files = append(p.files, restoring{at, k, k.Blob != "" && !k.Linked && !p.gone[id]})
	}
	slices.SortFunc(p.files, func(a, b restoring) int { return fromTop(b.path, a.path) })
	slices.SortFunc(p.names, func(a, b filling) int { return fromTop(a.path, b.path) })
}

// missing reports whether others have removed a file of which the run has not touched the name, or put another in its
// place, as many editors do.
func (l *layout) missing(k *kept) bool {
	at := string(k.Path)
	return l.names[at] == nil && !l.shadowed(at) && l.includes(at) && l.at(at) != ""
}

// replace plans to put back such a file, and returns its path; empty where its contents were not kept.
func (l *layout) replace(p *plan, k *kept) string {
	at := string(k.Path)
	if k.Mode&typeMask == typeFile && (k.Blob == "" || k.Linked) || l.isPlace(at) {
		p.lost(at, "is nowhere any more, and was not kept")
		return ""
	}
	if l.now[l.at(at)] == nil || l.ended == nil {
		p.conflicts = append(p.conflicts, Conflict{Path: at, Why: "was removed since"})
	}
	p.names = append(p.names, filling{path: at, want: &k.print, kept: k})
	p.gone[k.ID] = true
	return at
}

// stays is the original path of a file whose name nothing has changed, empty where it is not there any more.
func (l *layout) stays(id string, k *kept) string {
	for _, at := range append([]string{string(k.Path)}, k.also...) {
		if f := l.now[l.at(at)]; f != nil && f.ID == id && !l.shadowed(at) && l.names[at] == nil {
			return at
		}
	}
	return ""
}

// present is a file as it is now, nil where it is nowhere.
func (l *layout) present(id string) *print {
	if at := l.byID[id]; len(at) > 0 {
		return l.now[at[0]]
	}
	return nil
}

// includes reports whether the file at an original path is taken back: its name, or its path was asked for, or it is a
// directory of which a name is.
func (l *layout) includes(at string) bool {
	if len(l.paths) == 0 || l.taken[at] || slices.ContainsFunc(l.paths, func(s string) bool { return within(at, s) }) {
		return true
	}
	for p, taken := range l.taken {
		if taken && path.Dir(p) == at {
			return true
		}
	}
	return false
}

// since finds what others have changed since the end of the run.
func (l *layout) since(p *plan) {
	if l.ended == nil {
		return // nobody knows
	}
	roots := map[string]bool{}
	for at, taken := range l.taken {
		if s := l.slot(at); taken {
			roots[s], roots[at] = true, true
		}
	}
	for _, k := range p.parks {
		roots[k.path] = true
	}
	themselves := map[string]bool{}
	for _, f := range p.files {
		themselves[f.path], themselves[l.at(f.path)] = true, true
	}
	under := func(at string) bool {
		if themselves[at] {
			return true
		}
		for ; at != "/"; at = path.Dir(at) {
			if roots[at] {
				return true
			}
		}
		return false
	}
	for at, was := range l.left {
		switch now := l.now[at]; {
		case !under(at) || was.same(now) || now != nil && l.class(*was) == l.class(*now):
		case now == nil:
			p.conflicts = append(p.conflicts, Conflict{Path: at, Why: "was removed since"})
		default:
			p.conflicts = append(p.conflicts, Conflict{Path: at, Why: "was changed since"})
		}
	}
	for at := range l.now {
		if l.left[at] == nil && under(at) && !l.undone[at] {
			p.conflicts = append(p.conflicts, Conflict{Path: at, Why: "was made since"})
		}
	}
}

// accept takes over what undos have done: a file that they have brought back counts as it was, whatever its ID is now.
// The list is in the order in which that was done.
func (j *journal) accept(list []again) {
	j.equal = map[print]print{}
	for _, a := range list {
		if x, y := j.class(a.Then), j.class(a.Now); x != y {
			j.equal[x] = y
		}
		if a.Then.ID != a.Now.ID {
			j.renumber(a.Then.ID, a.Now.ID)
		}
	}
}

// class stands for all states of a file that are equal to one.
func (j *journal) class(p print) print {
	for {
		q, more := j.equal[p]
		if !more {
			return p
		}
		p = q
	}
}

// renumber gives a file the ID that it has now.
func (j *journal) renumber(old, id string) {
	for _, n := range j.names {
		if n.Was != nil && n.Was.ID == old {
			n.Was.ID = id
		}
		if n.In == old {
			n.In = id
		}
	}
	for _, f := range j.left {
		if f.dir() && f.ID == old {
			f.ID = id
		}
	}
	if k := j.files[old]; k != nil {
		delete(j.files, old)
		k.ID = id
		j.files[id] = k
	}
}
