package start_test

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// In a flip the tree stays as it is, and the target of a path changes as often as can be: a
// symlink that another process makes lead to one of two places, or the text of the path in the
// memory of the tool.

// flipLink is the symlink, in the top directory.
const flipLink = "flip"

// flips has a race for two places that the policy grants different things on.
func (s *sequence) flips() error {
	wantsDir := s.oneIn(3)
	var all []*entry
	for _, e := range s.tree.top.all() {
		if wantsDir && e.dir() && e.up != nil || !wantsDir && e.file.kind == unix.S_IFREG {
			all = append(all, e)
		}
	}
	if len(all) < 2 {
		return nil
	}
	a, b := pick(s.Rand, all), pick(s.Rand, all)
	caps := func(e *entry) ir.CapSet { return s.by.caps(where(e)) }
	for _, e := range all {
		if caps(a) == caps(b) {
			b = e
		}
	}
	if caps(a) == caps(b) {
		return nil
	}
	s.threads++
	s.counts.flips++
	q := request{Thread: s.threads % 8}
	for i := range raceThreads {
		list := make([]step, raceEach)
		for n := range list {
			list[n] = s.flipping(a, b, i%2 == 0, freshName(i, n))
		}
		q.Race = append(q.Race, list)
	}
	var stop atomic.Bool
	ended := make(chan error)
	go func() { ended <- s.flip(&stop, a, b) }()
	r, err := s.exchange(q)
	stop.Store(true)
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	return s.judgeRace(q, r, []state{{tree: s.tree.clone()}})
}

// flip makes the symlink lead to one place and the other, until it is to stop.
func (s *sequence) flip(stop *atomic.Bool, a, b *entry) error {
	next, link := s.dir+"/next", s.dir+"/"+flipLink
	for i := 0; ; i++ {
		e := a
		if i%2 == 1 {
			e = b
		}
		if err := errors.Join(os.Symlink(s.dir+"/"+e.path(), next), os.Rename(next, link)); err != nil {
			return err
		}
		if stop.Load() {
			return os.Remove(link)
		}
	}
}

// flipping draws an operation on the file at either of two places.
func (s *sequence) flipping(a, b *entry, byLink bool, fresh string) step {
	q := step{Op: pick(s.Rand, opsOfRace), Text: a.name}
	tail := ""
	switch {
	case a.dir():
		if q.Op = "race read"; byLink && !s.oneIn(3) {
			q.Op, tail = "race create", "/"+fresh // half a text and half of another is a third name
		}
	case q.Op == "race create", q.Op == "race start" && !byLink:
		q.Op = "race both"
	}
	if byLink {
		q.A = spot{How: pick(s.Rand, []string{"absolute", "symlink", "root", "dots"}), Rest: "../" + flipLink + tail}
		return q
	}
	ws := s.tree.top.kid(inWorkspace)
	q.A = spot{How: "absolute", Rest: relative(ws, a)}
	q.B = spot{How: "absolute", Rest: relative(ws, b)}
	return q
}

// openFlipping opens one of two paths, both of which are put into the memory of the call in
// turn.
func openFlipping(a, b string, flags int) (int, error) {
	var texts [2][]byte
	for i, p := range []string{a, b} {
		texts[i] = make([]byte, unix.PathMax)
		copy(texts[i], p)
	}
	path := slices.Clone(texts[0])
	var stop atomic.Bool
	ended := make(chan bool)
	long := max(len(a), len(b)) + 1
	go func() {
		for i := 0; !stop.Load(); i++ {
			copyRacing(path, texts[i%2], long)
		}
		close(ended)
	}()
	dir := unix.AT_FDCWD
	fd, _, e := syscall.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(flags), 0o755, 0, 0)
	stop.Store(true)
	<-ended
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// copyRacing writes to memory that the kernel reads meanwhile.
//
//go:norace
func copyRacing(to, from []byte, n int) { copy(to[:n], from[:n]) }
