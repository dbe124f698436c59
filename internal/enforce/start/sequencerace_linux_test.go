package start_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// In a race several threads of the tool open, start and make files, while names change: either
// by another thread of the tool, whose verdicts are exact as ever, or by another process. In
// the latter case a call that succeeded is identified by the file: at some moment between call
// and answer the file must have been where the policy grants the call.

// opsOfRace are the operations of the racing threads.
var opsOfRace = []string{"race read", "race read", "race write", "race both", "race start", "race create"}

const (
	racesOneIn  = 18
	raceThreads = 4
	raceEach    = 24
	// raceChanges is how many changes of names there are. Before each of them a share of the operations is done.
	raceChanges = 8
	raceShare   = raceThreads * raceEach / (raceChanges + 1)
)

// raced is the answer to one operation of a race: the inode of the file that was opened, or
// the status of the program that ran, and when it began and ended.
type raced struct {
	E        syscall.Errno
	Ino      uint64 `json:",omitempty"`
	Status   int    `json:",omitempty"`
	From, To int64
}

// now is the time that all processes have in common, in nanoseconds (CLOCK_MONOTONIC).
func now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// race makes the lists of a request, each on a thread, and its steps meanwhile.
func (w *sequenceWorker) race(q *request) reply {
	r := reply{Race: make([][]raced, len(q.Race))}
	var others sync.WaitGroup
	done := make(chan struct{}, raceThreads*raceEach)
	for i, list := range q.Race {
		r.Race[i] = make([]raced, len(list))
		others.Go(func() {
			runtime.LockOSThread()
			for n, q := range list {
				one := &r.Race[i][n]
				one.From = now()
				one.E = number(w.raced(q, one))
				one.To = now()
				done <- struct{}{}
			}
		})
	}
	share := func() {
		for range raceShare {
			<-done
		}
	}
	for range raceChanges {
		if q.Paced {
			share()
			_, _ = fmt.Fprintln(w.out)
		}
	}
	for i, q := range q.Steps {
		share()
		from := now()
		r.Answers = append(r.Answers, w.do(q))
		r.Times = append(r.Times, span{from, now()})
		if (r.Answers[i] == 0) != q.Done {
			break
		}
	}
	others.Wait()
	return r
}

// raced makes one operation and returns the file that it was on.
func (w *sequenceWorker) raced(q step, one *raced) error {
	a, tmp, err := w.spelled(q.A)
	if tmp >= 0 {
		defer unix.Close(tmp)
	}
	if err != nil {
		return err
	}
	if q.Op == "race start" {
		one.Status, err = startAt(a, q)
		return err
	}
	flags := map[string]int{
		"race read": unix.O_RDONLY, "race write": unix.O_WRONLY, "race both": unix.O_RDWR,
		"race create": unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL,
	}[q.Op] | unix.O_CLOEXEC | unix.O_NONBLOCK
	var fd int
	if q.B.How != "" {
		fd, err = openFlipping(a.path, w.root+"/"+q.B.Rest, flags)
	} else {
		fd, err = unix.Openat(a.dir, a.path, flags, 0o755)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	one.Ino = st.Ino
	return err
}

// span is the time from the beginning to the end of an action.
type span struct{ From, To int64 }

// state is a tree, and the time in which it may have come to be: while changed.
type state struct {
	tree    *tree
	changed span
}

// races has a race between threads of the tool and changes of names.
func (s *sequence) races() error {
	if err := s.verify(s.tree.top, nil); err != nil {
		return err // which learns the numbers of files as well
	}
	if s.oneIn(2) {
		return s.flips()
	}
	s.threads++
	s.counts.races++
	byHost := s.oneIn(2)
	q := request{Thread: s.threads % 8, Paced: byHost}
	s.tree.watch()
	ahead := s.tree.clone()
	for range raceChanges {
		if !byHost {
			q.Steps = append(q.Steps, s.change(ahead))
		}
	}
	for i := range raceThreads {
		list := make([]step, raceEach)
		for n := range list {
			list[n] = s.racing(byHost, freshName(i, n))
		}
		q.Race = append(q.Race, list)
	}
	states := []state{{tree: s.tree.clone()}}
	var changes func() error
	if byHost {
		changes = func() error { return s.hostChanges(&states) }
	}
	r, err := s.exchangeWhile(q, changes)
	if err != nil {
		return err
	}
	for i, e := range r.Answers {
		if err := s.answered(q.Steps[i], e); err != nil {
			return err
		}
		states = append(states, state{s.tree.clone(), r.Times[i]})
	}
	return s.judgeRace(q, r, states)
}

// freshName is a name that no other operation of a race makes.
func freshName(thread, n int) string { return "n" + strconv.Itoa(thread) + "-" + strconv.Itoa(n) }

// judgeRace judges the operations of a race, and removes the files that they made.
func (s *sequence) judgeRace(q request, r *reply, states []state) error {
	for i, list := range r.Race {
		for n, one := range list {
			if err := s.raced(q.Race[i][n], one, states); err != nil {
				return err
			}
		}
	}
	if err := s.raceMade(q, r, states); err != nil {
		return err
	}
	s.tree.unwatch()
	return s.verify(s.tree.top, nil)
}

// change draws a change of names by the tool that makes and removes no file.
func (s *sequence) change(t *tree) step {
	for {
		q := s.step(t)
		o := t.judge(s.by, q)
		if !slices.Contains([]string{"rename", "noreplace", "exchange", "link", "linkfollow"}, q.Op) {
			continue
		}
		if q.Done = o.done(); q.Done {
			o.apply()
		}
		return q
	}
}

// racing draws an operation of a racing thread.
func (s *sequence) racing(byHost bool, fresh string) step {
	all := s.entries(s.tree, func(e *entry) bool { return e.up != s.tree.top })
	op := pick(s.Rand, opsOfRace)
	if op == "race create" && !byHost || len(all) == 0 {
		op = "race read" // a name more would keep the tool from removing a directory
	}
	if op == "race start" && !s.oneIn(4) {
		op = "race both"
	}
	if op == "race create" || len(all) == 0 {
		return step{Op: op, A: s.plainly(s.anyDir(s.tree), fresh)}
	}
	e := pick(s.Rand, all)
	return step{Op: op, A: s.plainly(e.up, e.name), Text: e.name}
}

// plainly spells a name without a slash behind it.
func (s *sequence) plainly(dir *entry, name string) spot {
	for {
		at := s.spell(s.tree, dir, name)
		if strings.HasSuffix(at.Rest, "/"+name) || at.Rest == name {
			return at
		}
	}
}

// hostChanges lets another process change names, and keeps the resulting trees.
func (s *sequence) hostChanges(states *[]state) error {
	for range raceChanges {
		if !s.tool.out.Scan() || len(s.tool.out.Bytes()) > 0 {
			return fmt.Errorf("no change in a race: %q", s.tool.out.Text())
		}
		q := s.host(s.tree)
		if q.Op == "host remove" || q.Op == "host renew" || !s.tree.byHost(q) {
			continue
		}
		s.counts.kinds[q.Op]++
		s.history = append(s.history, q)
		from := now()
		err := s.disk(q)
		*states = append(*states, state{nil, span{from, now()}})
		if err != nil {
			return err
		}
		if dir, name, e := s.tree.lookup(q.A.Rest); e != nil && e.file.ino == 0 {
			var st unix.Stat_t
			if err := unix.Lstat(s.dir+"/"+strings.TrimPrefix(dir.path()+"/"+name, "/"), &st); err != nil {
				return err
			}
			e.file.ino = st.Ino
		}
		(*states)[len(*states)-1].tree = s.tree.clone()
	}
	return nil
}

// possible calls for each state that a call may have found, by when it was made.
func possible(states []state, from, to int64, found func(*tree) bool) bool {
	for i, one := range states {
		last := i+1 == len(states)
		if one.changed.From <= to && (last || states[i+1].changed.To >= from) && found(one.tree) {
			return true
		}
	}
	return false
}

// raced judges one operation of a race that was done.
func (s *sequence) raced(q step, one raced, states []state) error {
	s.counts.add(q, one.E == 0)
	needs := map[string][]ir.Capability{
		"race read": {ir.Read}, "race write": {ir.Update}, "race both": {ir.Read, ir.Update}, "race start": {ir.Execute},
	}[q.Op]
	switch {
	case one.E == 255 || one.E == syscall.ENOSYS:
		return fmt.Errorf("%w: %+v came to %v", errOther, q, one.E)
	case one.E != 0 || needs == nil || q.Op == "race start" && one.Status == 0:
		return nil // a program without a number of its own
	}
	known, assumed := false, false
	granted := possible(states, one.From, one.To, func(t *tree) bool {
		for _, e := range append(t.top.all(), t.lost...) {
			if one.Ino != 0 && e.file.ino != one.Ino || one.Ino == 0 && e.file.holds != imageOf(one.Status) {
				continue
			}
			known = true
			o := outcome{}
			o.require(s.by, e, where(e), needs...)
			if q.Op == "race start" {
				o.denied = !s.by.starts(where(e), argv(q)) && !s.by.starts(where(e), []string{e.name})
			}
			if o.denied == (q.Op == s.flipped) {
				return true
			}
			assumed = assumed || s.assumed(q, &o, true)
		}
		return false
	})
	switch {
	case granted:
		return nil
	case !known:
		s.counts.unknown++
		return nil
	case assumed:
		s.counts.assumed++
		return nil
	}
	return fmt.Errorf("%w in a race: %+v came to %+v, at no moment granted", errLeak, q, one)
}

// raceMade judges the files that were made in a race, by the directories that they were made
// in, and removes them.
func (s *sequence) raceMade(q request, r *reply, states []state) error {
	made := map[string]raced{}
	for i, list := range q.Race {
		for n, one := range list {
			if one.Op == "race create" {
				made[filepath.Base(one.A.Rest)] = r.Race[i][n]
			}
		}
	}
	var wrong []error
	err := filepath.WalkDir(s.dir, func(p string, d fs.DirEntry, err error) error {
		one, ok := made[filepath.Base(p)]
		if err != nil || !ok {
			return err
		}
		var st unix.Stat_t
		if err := errors.Join(unix.Lstat(filepath.Dir(p), &st), unix.Unlink(p)); err != nil {
			return err
		}
		granted := possible(states, one.From, one.To, func(t *tree) bool {
			return slices.ContainsFunc(append(t.top.all(), t.lost...), func(e *entry) bool {
				o := outcome{needs: []need{{e: e, aspect: ir.AspectCreate}}}
				granted := s.by.makes(ir.Create, at(e, filepath.Base(p)), ir.NameFile)
				return e.file.ino == st.Ino && (granted != (s.flipped == "race create") || s.assumed(step{}, &o, true))
			})
		})
		if !granted {
			wrong = append(wrong, fmt.Errorf("%w in a race: %s was made", errLeak, p))
		}
		return nil
	})
	return errors.Join(append(wrong, err)...)
}

// watch keeps the entries that are dropped from now on, until unwatch.
func (t *tree) watch()   { t.lost = []*entry{} }
func (t *tree) unwatch() { t.lost = nil }
