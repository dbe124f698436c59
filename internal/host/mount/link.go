package mount

import (
	"errors"
	"io/fs"
	"os"

	"github.com/accessc/accessc/internal/host/layerfile"
)

// makeDirs makes the missing directories of a place and opens them.
func (t *tree) makeDirs(j *journal, p *place) error {
	for len(p.missing) > 0 {
		dir, name := p.parent(), p.missing[0]
		if err := t.makeDir(j, dir, name, 0o777); err != nil && !errors.Is(err, ErrChanged) {
			return in(p.name, err)
		}
		next, err := t.enter(dir, name)
		if err != nil {
			return in(p.name, err)
		}
		p.open, p.missing = append(p.open, next), p.missing[1:]
	}
	return nil
}

// makeDir makes a directory. Taking it back removes that very directory if nothing was
// put into it.
func (t *tree) makeDir(j *journal, dir *os.Root, name string, mode fs.FileMode) error {
	var made fs.FileInfo
	return j.step(func() (err error) {
		if err = unlessThere(dir.Mkdir(name, mode)); err != nil {
			return err
		}
		made, err = dir.Lstat(name)
		return err
	}, func() error {
		if now, err := dir.Lstat(name); err != nil || !os.SameFile(made, now) {
			return nil // it has been removed
		}
		return dir.Remove(name)
	})
}

// unlessThere returns ErrChanged if the path exists: it did not when the plan was made.
func unlessThere(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return ErrChanged
	}
	return err
}

// makeLink makes the link of a place.
func makeLink(j *journal, p *place, target string) error {
	return j.step(func() error { return p.make(target) }, p.unmake)
}

func (p *place) make(target string) error {
	if err := unlessThere(symlink(p.parent(), target, p.base)); err != nil {
		return in(p.name, err)
	}
	if err := p.look(); err != nil {
		return errors.Join(in(p.name, err), p.parent().Remove(p.base))
	}
	return nil
}

// unmake removes the link, if it is the link that was seen last.
func (p *place) unmake() error {
	now, err := p.parent().Lstat(p.base)
	if err != nil || p.info == nil || !os.SameFile(p.info, now) || !isLink(now) {
		return nil
	}
	return p.parent().Remove(p.base)
}

// removeLink removes the link of a place.
func removeLink(j *journal, p *place) error {
	was := p.link
	return j.step(func() error {
		now, err := p.parent().Lstat(p.base)
		if err != nil || !os.SameFile(p.info, now) || !isLink(now) {
			return in(p.name, layerfile.ErrSwapped)
		}
		if err := p.parent().Remove(p.base); err != nil {
			return in(p.name, err)
		}
		return nil
	}, func() error { return p.make(was) })
}

// verify makes sure that the new link can be found by its name: that no directory on the way
// was moved or replaced.
func (t *tree) verify(p *place) error {
	now, err := t.locate(p.name)
	if err != nil {
		return err
	}
	defer now.close()
	if now.info == nil || !os.SameFile(now.info, p.info) || now.link != p.link {
		return in(p.name, layerfile.ErrSwapped)
	}
	return nil
}
