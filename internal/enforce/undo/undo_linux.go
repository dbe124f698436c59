package undo

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/text/plural"
)

// Refusal is why a run is not taken back. Nothing was changed.
type Refusal struct {
	Run       int
	Conflicts []Conflict
	// Killed says that accessc was killed during the run, so that nobody knows who changed what since.
	Killed bool
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Killed {
		return fmt.Sprintf("accessc was killed during run %d, so others may have changed its files since", r.Run)
	}
	return fmt.Sprintf("others have changed %s of run %d since: %s %s", plural.Count(len(r.Conflicts), "file"), r.Run,
		r.Conflicts[0].Path, r.Conflicts[0].Why)
}

// Outcome is what an undo has done.
type Outcome struct {
	// Run is the number of the undo itself, Of that of the run that it has taken back.
	Run, Of int
	Changes int
	// Lost are the files that could not be brought back.
	Lost []Conflict
}

// Undo takes a run back, or of it some absolute paths, whole or not at all. Number 0 is the latest run of a tool that
// has not been taken back. Unless forced it refuses where others have changed the files since.
func (s Store) Undo(number int, paths []string, force bool) (*Outcome, error) {
	release, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.recover(); err != nil {
		return nil, err
	}
	r, j, err := s.choose(number)
	if err != nil {
		return nil, err
	}
	v := &visit{}
	defer v.leave()
	now, err := survey(j, v)
	if err != nil {
		return nil, err
	}
	p := planFor(j, now, paths)
	lost := slices.DeleteFunc(slices.Clone(p.conflicts), func(c Conflict) bool { return !c.Lost })
	switch {
	case j.ended == nil && !force:
		return nil, &Refusal{Run: r.Number, Killed: true}
	case len(p.conflicts) > 0 && !force:
		return nil, &Refusal{Run: r.Number, Conflicts: p.conflicts}
	case p.empty() && len(paths) > 0:
		return nil, fmt.Errorf("run %d has changed nothing there, or it was undone", r.Number)
	case p.empty():
		return nil, fmt.Errorf("run %d has changed nothing", r.Number)
	}
	k, err := s.begin(header{Tool: j.Tool, Places: j.Places, Undoes: r.Number, Paths: p.paths()}, 0)
	if err != nil {
		return nil, err
	}
	if err := s.carry(r, j, p, k, v); err != nil {
		return nil, err
	}
	changes, err := k.End()
	if err != nil {
		return nil, fmt.Errorf("run %d was undone, but not noted how that left its files: %w", r.Number, err)
	}
	return &Outcome{Run: k.Number(), Of: r.Number, Changes: changes, Lost: lost}, nil
}

// carry carries a plan out, or takes it back.
func (s Store) carry(r Run, j *journal, p *plan, k *Keeper, v *visit) error {
	store, err := r.open()
	if err != nil {
		return err
	}
	defer unix.Close(store)
	k.visit = v
	u := &undoing{plan: p, journal: j, store: store, keeper: k, visit: v}
	err = u.apply()
	if err == nil {
		err = k.write(record{Done: true})
	}
	if err != nil {
		k.Close()
		if back := k.run.takeBack(); back != nil {
			return fmt.Errorf("%w; what it had done could not be taken back: %w; accessc undo tries that again", err,
				back)
		}
		return fmt.Errorf("%w; nothing was changed", err)
	}
	// What was kept as a further name has its own name again: through it the kept file would change.
	for _, f := range j.files {
		if f.Linked && (p.whole || p.gone[f.ID]) {
			_ = unix.Unlinkat(store, f.Blob, 0)
		}
	}
	return k.write(u.again()...)
}

// again says of each original what stands for it now.
func (u *undoing) again() (out []record) {
	add := func(p string, then print) {
		if now, fd, err := u.visit.open(p); err == nil && now != nil {
			_ = unix.Close(fd)
			out = append(out, record{Again: &again{then, *now}})
		}
	}
	for _, f := range u.names {
		if f.want != nil {
			var then print
			if f.kept != nil {
				then = f.kept.then
			}
			if n := u.journal.names[f.path]; n != nil {
				then = n.then
			}
			add(f.path, then)
		}
	}
	for _, at := range u.back {
		add(at, u.journal.names[at].then)
	}
	for _, f := range u.files {
		add(f.path, f.kept.then)
	}
	return out
}

func (p *plan) empty() bool { return len(p.names)+len(p.links)+len(p.files) == 0 }

// paths are the paths that a plan takes back, none for all.
func (p *plan) paths() (out []name) {
	if p.whole {
		return nil
	}
	for _, f := range p.parks {
		out = append(out, name(f.path))
	}
	for _, f := range p.names {
		out = append(out, name(f.path))
	}
	for _, f := range p.files {
		out = append(out, name(f.path))
	}
	return out
}

// takeBack takes back an undo that was not finished, and forgets what it has kept.
func (r Run) takeBack() error {
	j, err := r.journal()
	if err != nil {
		return err
	}
	k, err := r.resume()
	if err != nil {
		return err
	}
	defer k.Close()
	v := &visit{}
	defer v.leave()
	now, err := survey(j, v)
	if err != nil {
		return err
	}
	k.visit = v
	u := &undoing{plan: planFor(j, now, nil), journal: j, store: k.dir, keeper: k, visit: v}
	if err := u.apply(); err != nil {
		return err
	}
	list, err := entries(k.dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e != journalName {
			_ = unix.Unlinkat(k.dir, e, 0)
		}
	}
	// Only what stands for what stays: otherwise the next undo would take the changes of these times for others'.
	return k.write(append(u.again(), record{Back: true})...)
}

// recover takes back the undos that were killed. The caller holds the lock, so none goes on.
func (s Store) recover() error {
	runs, err := s.Runs()
	if err != nil {
		return err
	}
	for _, r := range runs {
		j, err := r.journal()
		if err != nil || j.Undoes == 0 || j.done || j.back {
			continue
		}
		if err := r.takeBack(); err != nil {
			return fmt.Errorf("an undo of run %d was stopped, and cannot be taken back: %w", j.Undoes, err)
		}
	}
	return nil
}

// loaded is a run with its journal, or why there is none.
type loaded struct {
	Run
	*journal
	err error
}

// load reads all runs, the latest first.
func (s Store) load() ([]loaded, error) {
	runs, err := s.Runs()
	if err != nil {
		return nil, err
	}
	var out []loaded
	for _, r := range runs {
		l := loaded{Run: r}
		l.journal, l.err = r.journal()
		out = append(out, l)
	}
	return out, nil
}

// undoneBy are the later runs that have taken back this run, or some of its paths.
func (l *loaded) undoneBy(all []loaded) (by []loaded) {
	for _, u := range all {
		if u.err == nil && u.done && u.Undoes == l.Number {
			by = append(by, u)
		}
	}
	return by
}

// whole reports whether one of these has taken back everything.
func whole(by []loaded) bool {
	return slices.ContainsFunc(by, func(u loaded) bool { return len(u.Paths) == 0 })
}

// find finds a run by its number, or for 0 the latest of a tool of which, for an undo, not all has been taken back.
func find(all []loaded, number int, undone bool) (*loaded, error) {
	for i := range all {
		l := &all[i]
		if l.err == nil && l.back {
			continue
		}
		if number == l.Number || number == 0 && l.err == nil && l.Undoes == 0 && (undone || !whole(l.undoneBy(all))) {
			return l, l.err
		}
	}
	if number != 0 {
		return nil, fmt.Errorf("no run %d is kept; accessc changes --runs lists those that are", number)
	}
	return nil, ErrNone
}

// choose finds a run to be taken back, and what of it has not been taken back.
func (s Store) choose(number int) (Run, *journal, error) {
	all, err := s.load()
	if err != nil {
		return Run{}, nil, err
	}
	l, err := find(all, number, false)
	if err != nil {
		return Run{}, nil, err
	}
	by := l.undoneBy(all)
	switch {
	case whole(by):
		return l.Run, nil, fmt.Errorf("run %d was undone by run %d", l.Number, by[0].Number)
	case l.running():
		return l.Run, nil, fmt.Errorf("run %d goes on", l.Number)
	}
	for _, u := range by {
		l.without(u.Paths)
	}
	var since []again
	for _, u := range slices.Backward(all) {
		if u.err == nil && u.Number > l.Number {
			since = append(since, u.again...)
		}
	}
	l.accept(since)
	return l.Run, l.journal, nil
}

// without leaves out what has been taken back. Directories stay: their times change with other names in them.
func (j *journal) without(paths []name) {
	if j.undone == nil {
		j.undone = map[string]bool{}
	}
	for _, p := range paths {
		j.undone[string(p)] = true
		delete(j.names, string(p))
		delete(j.left, string(p))
	}
	for id, k := range j.files {
		if j.undone[string(k.Path)] && !k.dir() {
			delete(j.files, id)
		}
	}
}
