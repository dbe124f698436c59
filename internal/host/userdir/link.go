package userdir

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// ErrOther is returned where something else has the name of a link.
var ErrOther = errors.New("something else is there")

// LinkHome makes a symlink in the private home of a tool, which may not exist yet: name, relative to the home and
// with slashes, leads to target. Links that the tool has made in its home lead the new link nowhere else.
func (d Dir) LinkHome(tool, name, target string) error {
	home := d.Home(tool)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	err = root.Symlink(target, name)
	if there, err := root.Readlink(name); err == nil && there == target {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return ErrOther
	}
	return err
}
