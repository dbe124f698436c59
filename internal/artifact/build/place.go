package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	places "github.com/accessc/accessc/internal/host/workspace"
)

// place is an output directory that is open.
type place struct {
	root *os.Root
	// made are the directories around it, and itself, that were not there, from the inside out, by their names in
	// top; nil for the disk.
	made []string
	top  *os.Root
}

// openPlace opens an output directory. In a workspace it is reached step by step, over no symlink; without create, a
// directory that is not there is nil.
func openPlace(dir, root string, create bool) (*place, error) {
	real, err := dir, error(nil)
	if root != "" {
		real, err = places.Direct(root, dir)
	}
	if err != nil {
		return nil, err
	}
	if root != "" && places.Within(real, root) {
		return openBelow(root, real, create)
	}
	p := &place{}
	if create {
		p.made = missingDirs(real)
		if err := os.MkdirAll(real, 0o755); err != nil {
			return nil, err
		}
	}
	p.root, err = os.OpenRoot(real)
	if !create && errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	return p, err
}

// openBelow opens a directory of a workspace.
func openBelow(root, dir string, create bool) (*place, error) {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	p := &place{}
	if p.top, err = os.OpenRoot(root); err != nil {
		return nil, err
	}
	if p.root, err = os.OpenRoot(root); err != nil {
		p.close()
		return nil, err
	}
	at := ""
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		if part == "." {
			continue
		}
		at = filepath.Join(at, part)
		err := p.step(part, at, create)
		if !create && errors.Is(err, fs.ErrNotExist) {
			p.close()
			return &place{}, nil
		}
		if err != nil {
			p.undo()
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// step goes on to a directory of the directory that is open.
func (p *place) step(part, at string, create bool) error {
	info, err := p.root.Lstat(part)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = p.root.Mkdir(part, 0o755); err == nil {
			p.made = append([]string{at}, p.made...)
		}
		if err == nil || errors.Is(err, fs.ErrExist) { // another build may have made it
			info, err = p.root.Lstat(part)
		}
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is in the way: not a directory", at)
	}
	next, err := p.root.OpenRoot(part)
	if err != nil {
		return err
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(info, is) {
		next.Close()
		return fmt.Errorf("%s was changed meanwhile", at)
	}
	p.root.Close()
	p.root = next
	return nil
}

// undo removes the directories that were made and are empty.
func (p *place) undo() {
	for _, d := range p.made {
		if p.top != nil {
			_ = p.top.Remove(d)
		} else {
			_ = os.Remove(d)
		}
	}
}

func (p *place) close() {
	for _, r := range []*os.Root{p.root, p.top} {
		if r != nil {
			_ = r.Close()
		}
	}
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
