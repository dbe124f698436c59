package supervisor

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/undo"
	"github.com/accessc/accessc/ir"
)

// Every change that the supervisor makes to files passes through change. Where the run is kept, the originals
// of what a call is about to change are kept there first. Writes and ftruncate(2) need a descriptor that was
// opened for that, so an open for writing counts as the change.

// alters is what a call is about to change.
type alters struct {
	// names are to be made, removed or given to another file. makes is set where the names are new and so are their
	// files.
	names []*node
	makes bool
	// lost is a file that loses a name, held a file whose contents change, meta a file of which the rest does; -1 for
	// none.
	lost, held, meta int
}

// naming alters names, and nothing of a file.
func namings(n ...*node) alters { return alters{names: n, lost: -1, held: -1, meta: -1} }

// change has the originals kept, and makes the change.
func (c *call) change(a alters, act func() error) error {
	if c.keeper == nil {
		return c.do(act)
	}
	loses, err := c.keep(a)
	if loses {
		defer c.keeper.Stayed(a.lost)
	}
	if err != nil {
		return c.unkept(err)
	}
	err = c.do(act)
	if err == nil && a.makes {
		for _, n := range a.names {
			c.keeper.Made(n.dir, n.name)
		}
	}
	return err
}

// unkept is the refusal of a change whose original cannot be kept.
func (c *call) unkept(err error) error {
	c.deny("its original cannot be kept for accessc undo: " + err.Error())
	if errors.Is(err, undo.ErrFull) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return unix.EDQUOT
	}
	return unix.EPERM
}

// keep has the originals kept. loses is set where a file is now taken to lose a name.
func (c *call) keep(a alters) (loses bool, err error) {
	for _, n := range a.names {
		if at := where(n.dir); c.keptAt(at) {
			if err := c.keeper.Name(n.dir, at, n.name); err != nil {
				return false, err
			}
		}
	}
	for _, f := range []struct {
		fd   int
		keep func(fd int, at string) error
	}{{a.lost, c.keeper.Lost}, {a.held, c.keeper.Contents}, {a.meta, c.keeper.Metadata}} {
		if f.fd < 0 {
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstat(f.fd, &st); err != nil {
			return loses, err
		}
		at := where(f.fd)
		switch {
		case at == "" || st.Nlink == 0:
		case c.keptAt(at):
			loses = loses || f.fd == a.lost
			if err := f.keep(f.fd, at); err != nil {
				return loses, err
			}
		case st.Nlink > 1 && st.Mode&unix.S_IFMT == unix.S_IFREG && f.fd != a.lost && !c.keeper.Knows(f.fd):
			return loses, errElsewhere
		}
	}
	return loses, nil
}

var errElsewhere = errors.New("it has further names, and may have one of them in the workspace")

// keptAt reports whether the files at a path are brought back: in the workspace and in the targets of
// external rules, not in the directories that are the tool's own.
func (c *call) keptAt(path string) bool {
	kind := c.box.at(path).At.Root.Kind
	return kind == ir.Workspace || kind == ir.External
}

// carriesOff reports whether a file is to get a name where undo does not look, by a move or a link: programs copy it
// then. A directory does not come from there either, as undo would have to know what is in it.
func (c *call) carriesOff(src, dst *node, exchange bool) bool {
	if c.keeper == nil {
		return false
	}
	from, to := c.keptAt(where(src.dir)), c.keptAt(where(dst.dir))
	return from != to && (from || exchange || src.kind() == unix.S_IFDIR)
}

// followsMove notes a move.
func (c *call) followsMove(src, dst *node, exchange bool) {
	if c.keeper == nil {
		return
	}
	from, to := below(where(src.dir), src.name), below(where(dst.dir), dst.name)
	switch {
	case !c.keptAt(from):
		c.keeper.Made(dst.dir, dst.name)
	case src.kind() == unix.S_IFDIR || exchange && dst.kind() == unix.S_IFDIR:
		c.keeper.Moved(from, to, exchange)
	}
}

// linksOff reports whether a link is to give a file a name where undo does not look, and the file has one where it
// does. A file that has all its names in the tool's own directories keeps them there.
func (c *call) linksOff(old, n *node) bool {
	if c.keeper == nil {
		return false
	}
	from, to := c.keptAt(where(old.object)), c.keptAt(where(n.dir))
	if !from && old.st.Nlink <= 1 {
		c.keeper.Made(old.object, "")
	}
	return from && !to || !from && old.st.Nlink > 1 && !c.keeper.Knows(old.object)
}
