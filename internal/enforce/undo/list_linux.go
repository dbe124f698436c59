package undo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/accessc/accessc/internal/files/bounded"
)

// List lists the runs that are kept, the latest first.
func (s Store) List() (out []Summary, err error) {
	all, err := s.load()
	for i := range all {
		if all[i].err == nil && all[i].back {
			continue
		}
		out = append(out, all[i].summary(all))
	}
	return out, err
}

func (l *loaded) summary(all []loaded) Summary {
	out := Summary{Run: l.Number}
	if l.err != nil {
		out.State = l.err.Error()
		return out
	}
	out.Tool, out.Begun, out.Undoes = l.Tool, l.Begun, l.Undoes
	by := l.undoneBy(all)
	switch {
	case whole(by):
		out.State = fmt.Sprintf("undone by %d", by[0].Number)
	case len(by) > 0:
		out.State = fmt.Sprintf("undone in part by %d", by[0].Number)
	case l.ended != nil:
	case l.running():
		out.State = "goes on"
	default:
		out.State = "was killed"
	}
	return out
}

// Changed is a run and what it has changed.
type Changed struct {
	Summary
	run  Run
	List []Change
}

// Changes returns what a run has changed, below some absolute paths or anywhere. Number 0 is the latest run of a tool.
func (s Store) Changes(number int, paths []string) (*Changed, error) {
	all, err := s.load()
	if err != nil {
		return nil, err
	}
	l, err := find(all, number, true)
	if err != nil {
		return nil, err
	}
	out := &Changed{Summary: l.summary(all), run: l.Run}
	if l.ended == nil {
		v := &visit{}
		l.left, err = survey(l.journal, v)
		v.leave()
	}
	for _, c := range l.changes() {
		asked := func(p string) bool { return within(c.Path, p) || within(c.To, p) }
		if len(paths) == 0 || slices.ContainsFunc(paths, asked) {
			out.List = append(out.List, c)
		}
	}
	return out, err
}

// maxPatched is the largest file of which a patch shows the lines.
const maxPatched = 4 << 20

// Patch writes the changes as a patch, with paths from a directory. A file that others have changed since is not shown.
func (c *Changed) Patch(w io.Writer, root string) error {
	for _, x := range c.List {
		if err := c.patch(w, root, x); err != nil {
			return err
		}
	}
	return nil
}

func (c *Changed) patch(w io.Writer, root string, x Change) error {
	from, to := Relative(root, cmp.Or(x.Path, x.at)), Relative(root, cmp.Or(x.at, x.Path))
	say := func(what string) error {
		_, err := fmt.Fprintf(w, "# %s %s%s\n", x.Kind, from, what)
		return err
	}
	then, now, err := c.both(x)
	switch {
	case x.To != "" && !lines(x.now):
		return say(" to " + to)
	case x.Kind == mode:
		return say(": " + x.What)
	case x.was != nil && !lines(x.was), x.now != nil && !lines(x.now):
		return say("")
	case err != nil:
		return say(": " + err.Error())
	}
	oldName, newName := "a/"+from, "b/"+to
	head := fmt.Sprintf("diff --git %s %s\n", oldName, newName)
	switch {
	case x.was == nil:
		head += fmt.Sprintf("new file mode %06o\n", gitMode(x.now.Mode))
		oldName = "/dev/null"
	case x.now == nil:
		head += fmt.Sprintf("deleted file mode %06o\n", gitMode(x.was.Mode))
		newName = "/dev/null"
	case x.Kind == moved:
		head += "rename from " + from + "\nrename to " + to + "\n"
	}
	if bytes.Equal(then, now) {
		_, err = io.WriteString(w, head)
		return err
	}
	if bytes.IndexByte(then, 0) >= 0 || bytes.IndexByte(now, 0) >= 0 {
		_, err = fmt.Fprintf(w, "%sBinary files %s and %s differ\n", head, oldName, newName)
		return err
	}
	_, text, _ := bytes.Cut(diff.Diff(oldName, then, newName, now), []byte("\n"))
	_, err = w.Write(append([]byte(head), text...))
	return err
}

// gitMode is a mode as git has it.
func gitMode(mode uint32) uint32 {
	if mode&typeMask == typeFile {
		return typeFile | 0o644 | mode&0o111
	}
	return mode & typeMask
}

// lines reports whether a patch shows what a file holds.
func lines(p *print) bool { return p.Mode&typeMask == typeFile || p.Mode&typeMask == typeLink }

// both is what a file held before the run and holds after it.
func (c *Changed) both(x Change) (then, now []byte, err error) {
	if now, err = current(x.at, x.now); err != nil || x.was == nil {
		return nil, now, err
	}
	switch k := x.then; {
	case k != nil && k.Mode&typeMask == typeLink:
		then = []byte(k.Target)
	case k != nil && k.Blob != "":
		then, err = small(filepath.Join(c.run.dir, k.Blob))
	default:
		then = now // it has only moved
	}
	return then, now, err
}

// current is what a file holds, if it is as the run has left it.
func current(p string, want *print) ([]byte, error) {
	if want == nil {
		return nil, nil
	}
	v := &visit{}
	now, fd, err := v.open(p)
	if err != nil || now == nil {
		return nil, errors.New("it is not there any more")
	}
	defer func() { _ = os.NewFile(uintptr(fd), p).Close() }()
	if !now.same(want) {
		return nil, errors.New("others have changed it since")
	}
	if now.Mode&typeMask == typeLink {
		k, err := describe(fd)
		if err != nil {
			return nil, err
		}
		return []byte(k.Target), nil
	}
	if now.Mode&typeMask != typeFile {
		return nil, nil
	}
	return small(self(fd))
}

// small reads a file up to the bound.
func small(p string) ([]byte, error) {
	f, err := os.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded.Read(f, maxPatched)
}
