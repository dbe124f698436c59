package start

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/internal/host/userdir"
)

// changes are those that a run makes on this system and takes back: its directories, and at tier 1 its AppContainer
// and the access lists of the policy's objects.
type changes struct {
	*run
	journals journals
	journal  *journal
	objects  []*object
	// home is held until the tool has ended.
	home *userdir.Hold
	// container is nil at tier 0.
	container *container
}

// prepare opens the journal, makes the directories and, at tier 1, changes the lists. From the
// first change on the journal says how to undo it.
func (c *changes) prepare() error {
	return c.journals.locked(func() error {
		if err := c.journals.sweep(c.id); err != nil {
			fmt.Fprintf(c.messages(), "accessc: cannot undo the changes of an earlier run: %v\n", err)
		}
		var err error
		if c.journal, err = c.journals.open(c.id); err != nil {
			return err
		}
		if err := c.directories(); err != nil {
			return err
		}
		c.journal.Directory = c.dir
		if c.tier > 0 {
			return c.contain()
		}
		return c.journal.write()
	})
}

// contain makes the AppContainer and gives its package the grants of the policy.
func (c *changes) contain() error {
	name, err := winjob.RunName(c.spec.Container.Security.AppContainerName, c.id)
	if err != nil {
		return failed("%w", err)
	}
	c.journal.Container, c.journal.Package = name, winjob.PackageSID(name)
	if err := c.hold(); err != nil {
		return err
	}
	others, err := c.journals.others(c.id)
	if err != nil {
		return failed("the journal: %w", err)
	}
	defer closeAll(others)
	for _, o := range c.objects {
		c.journal.Objects = append(c.journal.Objects, o.change(others))
	}
	if err := c.journal.write(); err != nil {
		return err
	}
	if c.container, err = newContainer(c.spec.Container, c.id); err != nil {
		return failed("the AppContainer: %w", err)
	}
	return c.grant()
}

// directories makes the private home, and the run's directory with the temporary
// directory and the Context in it.
func (c *changes) directories() error {
	if c.spec.Home != "" {
		var err error
		if c.home, err = userdir.HoldHome(c.spec.Home); err != nil {
			return failed("the private home: %w", err)
		}
	}
	for _, d := range []string{"", `AppData\Local`, `AppData\Roaming`} {
		if c.spec.Home == "" {
			break
		}
		if err := os.MkdirAll(filepath.Join(c.spec.Home, d), 0o700); err != nil {
			return failed("the private home: %w", err)
		}
	}
	base, err := RunsIn(c.launch.Workspace)
	if err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp(base, runPrefix+"*"); err != nil {
		return failed("the temporary directory: %w", err)
	}
	c.tmp = filepath.Join(c.dir, "tmp")
	local := c.tmp
	if c.spec.Home == "" {
		// The directory that LOCALAPPDATA then names.
		local = filepath.Join(c.tmp, `AppData\Local`)
	}
	if err := os.MkdirAll(local, 0o700); err != nil {
		return failed("the temporary directory: %w", err)
	}
	if err := os.WriteFile(c.context(), []byte(c.launch.Context), 0o600); err != nil {
		return failed("the Context: %w", err)
	}
	return nil
}

// wanted are the entries of a specification, those of names that are there, and those of the programs that it lists;
// directories before what is in them.
func (c *changes) wanted() ([]winjob.Entry, error) {
	found, err := c.spec.Files.Named(childrenOf)
	if err != nil {
		return nil, failed("%w", err)
	}
	out := slices.Concat(c.spec.Files.Entries, found)
	for _, p := range c.spec.Programs {
		if p.File == "" || len(p.Grants) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(e winjob.Entry) bool { return strings.EqualFold(e.Path, p.File) })
		if i < 0 {
			out = append(out, winjob.Entry{Path: p.File, DACL: winjob.DACLGrant, Grants: p.Grants, Absent: winjob.AbsentSkip})
			continue
		}
		for _, g := range p.Grants {
			if !slices.Contains(out[i].Grants, g) {
				out[i].Grants = append(slices.Clone(out[i].Grants), g)
			}
		}
	}
	for i := range out {
		if rest, ok := strings.CutPrefix(out[i].Path, "${tmp}"); ok {
			out[i].Path = c.tmp + rest
		}
	}
	return out, nil
}

// hold opens every object with an entry and refuses those that cannot carry one.
func (c *changes) hold() error {
	all, err := c.wanted()
	if err != nil {
		return err
	}
	for _, e := range all {
		o, err := c.open(e)
		switch {
		case errors.Is(err, errAbsent) && e.Absent == winjob.AbsentSkip:
			continue
		case errors.Is(err, errAbsent):
			return failed("%s does not exist, and a file that appears there would have the grants of the directory above: "+
				"make it, an empty file will do, or drop the rule %s", e.Path, e.Rule)
		case err != nil:
			return failed("%s: %w", e.Path, err)
		}
		c.objects = append(c.objects, o)
	}
	return nil
}

// open opens the object of an entry.
func (c *changes) open(e winjob.Entry) (*object, error) {
	if e.Absent == winjob.AbsentCreate {
		if err := os.MkdirAll(e.Path, 0o700); err != nil {
			return nil, err
		}
	}
	h, err := openHeld(e.Path, c.spec.Files.Hold)
	if err != nil {
		return nil, err
	}
	o := &object{entry: e, handle: h}
	if err := o.examine(); err != nil {
		_ = windows.CloseHandle(h)
		return nil, err
	}
	return o, nil
}

// grant changes the lists, the deepest first: a directory that is cut off from those above is
// cut off before anything is granted there. grant reads each list back, since some systems take
// a list and keep another.
func (c *changes) grant() error {
	for _, o := range slices.Backward(c.objects) {
		want, err := o.list.With(o.entry, c.spec.Files, o.dir, c.container.sid.String())
		if err != nil {
			return failed("%w", err)
		}
		if err := setList(o.handle, want); err != nil {
			return failed("%s: %w", o.entry.Path, err)
		}
		have, err := listOf(o.handle)
		if err != nil {
			return failed("%s: %w", o.entry.Path, err)
		}
		if !have.Holds(want, append([]string{c.container.sid.String()}, c.spec.Files.Strip...)...) {
			return failed("%s: the access list does not come back as it was set", o.entry.Path)
		}
	}
	return nil
}

// release closes the objects.
func (c *changes) release() {
	for _, o := range c.objects {
		_ = windows.CloseHandle(o.handle)
	}
	c.objects = nil
}

// undo takes every change back.
func (c *changes) undo() error {
	c.release()
	defer c.home.Release()
	if c.journal == nil {
		return nil
	}
	return c.journals.locked(func() error {
		others, err := c.journals.others(c.id)
		defer closeAll(others)
		return errors.Join(err, c.journal.undo(others))
	})
}
