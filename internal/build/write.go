package build

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
)

// Write gives dir exactly the content of the tree. Files that no manifest lists stay. When it
// fails, dir is unchanged.
func (t *Tree) Write(dir string) ([]Change, error) {
	made := false
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		made = true
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	changes, err := t.diff(root)
	if err == nil && len(changes) > 0 {
		s := stage{root: root, dir: staging + "/" + rand.Text()}
		err = s.apply(changes)
	}
	if err != nil && made {
		// Only an empty directory goes.
		_ = os.Remove(dir)
	}
	return changes, err
}

// staging is the directory of stages. Below a workspace's access it is a protected path: a tool
// that could open or link a staged file would hold the manifest that it becomes.
const staging = ".accessc"

// stage is the directory in which new files wait and replaced files are kept until
// all are in place.
type stage struct {
	root *os.Root
	dir  string
	// undo takes back the moves made so far, the last one first.
	undo []func() error
}

func (s *stage) apply(changes []Change) (err error) {
	if err := s.root.Mkdir(staging, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := s.root.Lstat(staging); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: staging, Err: fs.ErrExist}
	}
	if err := s.root.Mkdir(s.dir, 0o755); err != nil {
		return err
	}
	defer func() {
		_ = s.root.RemoveAll(s.dir)
		// Only an empty directory goes, so that other builds keep theirs.
		_ = s.root.Remove(staging)
	}()
	for i, c := range changes {
		if c.New != nil {
			if err := s.write(s.name("new", i), c.New); err != nil {
				return err
			}
		}
	}
	// The manifest comes after the files that it lists: it sorts among the tools, so it is
	// moved behind them.
	order := manifestLast(changes)
	for _, i := range order {
		if err := s.move(i, changes[i]); err != nil {
			return errors.Join(err, s.rollBack())
		}
	}
	for _, c := range changes {
		if c.New == nil {
			// A tool's directory is removed with its last file, unless it contains other files.
			_ = s.root.Remove(path.Dir(c.Path))
		}
	}
	return nil
}

func (s *stage) name(kind string, i int) string { return s.dir + "/" + kind + strconv.Itoa(i) }

func manifestLast(changes []Change) []int {
	var order []int
	last := -1
	for i, c := range changes {
		if c.Path == ManifestFile {
			last = i
			continue
		}
		order = append(order, i)
	}
	if last >= 0 {
		order = append(order, last)
	}
	return order
}

// write stages one file and brings it to the disk, so that a full disk shows
// before anything is replaced.
func (s *stage) write(name string, data []byte) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// move puts one change into place and remembers how to take it back.
func (s *stage) move(i int, c Change) error {
	if dir := path.Dir(c.Path); dir != "." {
		if err := s.root.Mkdir(dir, 0o755); err == nil {
			s.undo = append(s.undo, func() error { return s.root.Remove(dir) })
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if c.Old != nil {
		kept := s.name("old", i)
		if err := s.root.Rename(c.Path, kept); err != nil {
			return err
		}
		s.undo = append(s.undo, func() error { return s.root.Rename(kept, c.Path) })
	}
	if c.New != nil {
		if err := s.root.Rename(s.name("new", i), c.Path); err != nil {
			return err
		}
		s.undo = append(s.undo, func() error { return s.root.Remove(c.Path) })
	}
	return nil
}

func (s *stage) rollBack() error {
	var err error
	for i := len(s.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, s.undo[i]())
	}
	return err
}
