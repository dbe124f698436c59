package build

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"
)

// stage is the directory in which new files wait and replaced files are kept until
// all are in place.
type stage struct {
	root *os.Root
	// ready claims the directory, for the first file.
	ready sync.Once
	bad   error
	claim

	mu      sync.Mutex
	changes []staged
	// undo takes back the moves made so far, the last first.
	undo []func() error
}

// staged is a change that waits.
type staged struct {
	path string
	// staged is the name of the new file, empty for a file that goes.
	staged string
	// old is true where a file is replaced or goes.
	old bool
}

// add stages a change. Several goroutines may call it at a time.
func (s *stage) add(path string, old, data []byte) error {
	s.ready.Do(func() { s.bad = s.take(s.root) })
	if s.bad != nil {
		return s.bad
	}
	s.mu.Lock()
	c := staged{path: path, old: old != nil}
	name := "new" + strconv.Itoa(len(s.changes))
	if path == ManifestFile {
		name = stagedManifest
	}
	if data != nil {
		c.staged = s.dir + "/" + name
	}
	s.changes = append(s.changes, c)
	s.mu.Unlock()
	if data == nil {
		return nil
	}
	return s.write(name, data)
}

// clear removes the stage, with all that still waits in it.
func (s *stage) clear() { s.free(s.root) }

// apply puts all changes into place, or none.
func (s *stage) apply() error {
	// The manifest comes after the files that it lists, and the attestation after the manifest.
	slices.SortFunc(s.changes, func(a, b staged) int {
		return cmp.Or(cmp.Compare(late(a.path), late(b.path)), cmp.Compare(a.path, b.path))
	})
	there := map[string]bool{".": true}
	for i, c := range s.changes {
		if err := s.move(i, c, there); err != nil {
			return errors.Join(err, s.rollBack())
		}
	}
	for _, c := range s.changes {
		if c.staged == "" {
			// A tool's directory is removed with its last file, unless it contains other files.
			_ = s.root.Remove(path.Dir(c.path))
		}
	}
	return nil
}

// late orders the files that are put into place after all others.
func late(path string) int { return slices.Index([]string{ManifestFile, AttestationFile}, path) }

// write stages a file and brings it to the disk, so that a full disk shows before anything is
// replaced.
func (s *stage) write(name string, data []byte) error {
	f, err := s.opened.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// move puts a change into place and remembers how to take it back. Directories that are there
// are not made again.
func (s *stage) move(i int, c staged, there map[string]bool) error {
	if dir := path.Dir(c.path); !there[dir] {
		if err := s.root.Mkdir(dir, 0o755); err == nil {
			s.undo = append(s.undo, func() error { return s.root.Remove(dir) })
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
		there[dir] = true
	}
	kept := s.dir + "/old" + strconv.Itoa(i)
	if c.staged == "" {
		if err := s.root.Rename(c.path, kept); err != nil {
			return err
		}
		s.undo = append(s.undo, func() error { return s.root.Rename(kept, c.path) })
		return nil
	}
	back := func() error { return s.root.Remove(c.path) }
	if c.old {
		if err := s.keep(c.path, path.Base(kept)); err != nil {
			return err
		}
		back = func() error { return s.root.Rename(kept, c.path) }
	}
	if err := s.root.Rename(c.staged, c.path); err != nil {
		return err
	}
	s.undo = append(s.undo, back)
	return nil
}

// keep has a file in the stage as well. It stays in its place, so that a build that is killed here leaves the
// earlier or the new file there, and never none. A file system without hard links gets a copy.
func (s *stage) keep(path, kept string) error {
	if s.root.Link(path, s.dir+"/"+kept) == nil {
		return nil
	}
	data, err := readIn(s.root, path)
	if err != nil {
		return err
	}
	return s.write(kept, data)
}

func (s *stage) rollBack() error {
	var err error
	for i := len(s.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, s.undo[i]())
	}
	return err
}
