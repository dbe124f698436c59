package build

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/accessc/accessc/compiler/diag"
)

// Report counts the files that a build wrote.
type Report struct {
	Confined, Others int // tools
	Files            int // of the build, the manifest among them
	// Written and Removed are the paths of the files that differed from the build.
	Written, Removed []string
}

// Write gives dir exactly the content of a build. Files that no manifest lists stay. When it
// fails, or there are findings, dir is unchanged.
func Write(req Request, dir string) (*Report, diag.List, error) {
	missing := missingDirs(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	s := &stage{root: root, dir: staging + "/" + rand.Text()}
	o := newOutput(root, s.add)
	before := []byte(nil)
	if req.Memory != "" {
		o.memory, before = recollect(req.Memory)
		req.recall = o.recall
	}
	x, findings, err := o.build(req)
	if err == nil && x != nil {
		err = s.apply()
	}
	s.clear()
	if err != nil || x == nil {
		for _, d := range missing {
			_ = os.Remove(d) // only an empty directory goes
		}
		return nil, findings, err
	}
	if req.Memory != "" {
		o.memory.keep(req.Memory, x, before)
	}
	report := &Report{Files: len(o.made)}
	for _, p := range x.parts {
		if p.entry.Confined {
			report.Confined++
		} else {
			report.Others++
		}
	}
	for _, c := range s.changes {
		if c.staged == "" {
			report.Removed = append(report.Removed, c.path)
		} else {
			report.Written = append(report.Written, c.path)
		}
	}
	return report, nil, nil
}

// missingDirs lists dir and the directories around it that do not exist, from the inside out.
func missingDirs(dir string) []string {
	var out []string
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return out
		}
		out = append(out, dir)
		dir = filepath.Dir(dir)
	}
}

// staging is the directory of stages. Below a workspace's access it is a protected path: a tool
// that could open or link a staged file would hold the manifest that it becomes.
const staging = ".accessc"

// stage is the directory in which new files wait and replaced files are kept until
// all are in place.
type stage struct {
	root *os.Root
	dir  string
	// ready makes and opens the directory, for the first file.
	ready  sync.Once
	bad    error
	opened *os.Root

	mu      sync.Mutex
	changes []staged
	// undo takes back the moves made so far, the last one first.
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
	s.ready.Do(func() { s.bad = s.prepare() })
	if s.bad != nil {
		return s.bad
	}
	s.mu.Lock()
	c := staged{path: path, old: old != nil}
	name := "new" + strconv.Itoa(len(s.changes))
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

func (s *stage) prepare() error {
	if err := s.root.Mkdir(staging, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := s.root.Lstat(staging); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: staging, Err: fs.ErrExist}
	}
	err := s.root.Mkdir(s.dir, 0o755)
	if err == nil {
		s.opened, err = s.root.OpenRoot(s.dir)
	}
	if err != nil {
		_ = s.root.Remove(s.dir)
		_ = s.root.Remove(staging)
	}
	return err
}

// clear removes the stage, with all that still waits in it.
func (s *stage) clear() {
	if s.opened == nil {
		return
	}
	_ = s.opened.Close()
	_ = s.root.RemoveAll(s.dir)
	// Only an empty directory goes, so that other builds keep theirs.
	_ = s.root.Remove(staging)
}

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

// write stages one file and brings it to the disk, so that a full disk shows
// before anything is replaced.
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

// move puts one change into place and remembers how to take it back. Directories that are there
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
	if c.old {
		kept := s.dir + "/old" + strconv.Itoa(i)
		if err := s.root.Rename(c.path, kept); err != nil {
			return err
		}
		s.undo = append(s.undo, func() error { return s.root.Rename(kept, c.path) })
	}
	if c.staged != "" {
		if err := s.root.Rename(c.staged, c.path); err != nil {
			return err
		}
		s.undo = append(s.undo, func() error { return s.root.Remove(c.path) })
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
