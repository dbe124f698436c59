package supervisor

import (
	"bytes"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// usual is the number of bytes that are read of a path first.
const usual = 256

// textual is the address of the path of a call that its text may answer: an open for reading, or the making of a
// directory.
func textual(n *notification) (addr uint64, ok bool) {
	switch n.nr {
	case unix.SYS_OPENAT:
		return n.args[1], n.args[2]&writing == 0
	case unix.SYS_MKDIRAT:
		return n.args[1], true
	case olderMkdir:
		return n.args[0], true
	}
	return 0, false
}

// read reads the path of a call that its text may answer, nil where the call is another or its path is not read at
// once.
func (w *worker) read(n *notification) []byte {
	addr, ok := textual(n)
	if !ok {
		return nil
	}
	text := w.path[:min(usual, pathMax-int(addr%pathMax))]
	got, err := memory(int(n.pid), addr, text)
	if err != nil {
		return nil
	}
	return text[:max(0, bytes.IndexByte(text[:got], 0))]
}

// often is after how many calls that are answered by their text a worker looks whether other calls wait.
// See decision D230.
const often = 8

// answers answers a call where the text of its path decides the answer. It reports whether it did.
func (w *worker) answers(n *notification, text []byte) bool {
	opens := n.nr == unix.SYS_OPENAT
	passes := opens && w.passes(n, text)
	if w.looks(passes) {
		w.look()
		defer w.seats.busy.Add(-1)
	}
	switch {
	case passes:
		w.listener.send(n.id, proceed)
		return true
	case opens:
		return w.opensDirectly(n, text)
	default:
		return w.existsDirectly(n, text)
	}
}

// looks reports whether to look for other calls at a call that is answered by its text. An answer costs little more
// than to look, and an answer that sends a call on costs less: then no other worker is called. Where several receive,
// they become fewer again.
func (w *worker) looks(passes bool) bool {
	if passes && w.seats.more.Load() == 0 {
		return false
	}
	w.since++
	return w.since%often == 0
}

// passes reports whether a call is an open for reading that goes on in the kernel by nothing but the text of its path.
// These are most calls of most tools. See decision D46.
func (w *worker) passes(n *notification, text []byte) bool {
	o := opening{OpenHow: unix.OpenHow{Flags: uint64(uint32(n.args[2]))}}
	return w.whole != 0 && !w.policy.decides(o.Flags) && w.plain(dirfd(n.args[0]), string(text), o)
}

// plain reports whether the text of a path is enough to continue the call in the kernel, which
// saves the commonest opens most of their cost: the class of the call is not judged, the
// workspace is granted it as a whole, with all places in it that have rules of their own, and the
// path neither climbs nor begins at a directory whose files differ from tool to tool. The ruleset refuses a path that
// leads there by a symlink. A call that the policy denies everywhere is judged, so that the denial is reported.
// See decision D46.
func (s *Supervisor) plain(dir int, path string, o opening) bool {
	if s.whole == 0 || o.hidden || s.policy.decides(o.Flags) || path == "" || strings.Contains(path, "..") {
		return false
	}
	reads := o.Flags&writing == 0
	wants := ir.Caps(ir.Read)
	switch {
	case !reads:
		if wants = ir.Caps(needs(o.Flags)...); o.makes() {
			wants = wants.With(ir.Create)
		}
		// The ruleset knows a directory with a rule of its own wherever it has been moved. That others move
		// such a directory is an assumption about reading; see decision D43.
		if s.crowded || len(s.placements) > 1 && !s.placed() || !s.undisturbed() {
			return false
		}
	case !s.undisturbed():
		return false
	case strings.HasPrefix(path, "/usr/"), strings.HasPrefix(path, "/lib"):
		return true
	}
	workspace := s.policy.roots.Workspace
	return s.whole.Contains(wants) && wants != 0 &&
		(path[0] != '/' && dir == unix.AT_FDCWD || len(workspace) > 1 && strings.HasPrefix(path, workspace+"/"))
}
