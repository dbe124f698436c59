package kerneltest

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// stage is the directory in which a question is tried.
// See decision D170.
type stage struct {
	dir string
	// real are the roots of the policy, here those of the stage.
	real, here *ir.Bindings
	hops       int
}

// newStage makes the roots and copies the kinds of the real nodes at the paths of the tool's
// rules.
func newStage(dir string, t *ir.Tool, real *ir.Bindings) (*stage, error) {
	s := &stage{dir: dir, real: real, here: &ir.Bindings{Workspace: dir + "/ws", External: map[string]string{}}}
	if real.Home != "" {
		s.here.Home = dir + "/home"
	}
	for i, name := range slices.Sorted(maps.Keys(real.External)) {
		s.here.External[name] = dir + "/external" + strconv.Itoa(i)
	}
	if err := os.Mkdir(s.here.Workspace, 0o755); err != nil {
		return nil, err
	}
	for i := range t.FS {
		r := &t.FS[i]
		if err := s.mirrorRule(r); err != nil {
			return nil, err
		}
	}
	if t.Commands != nil {
		for _, r := range t.Commands.Rules {
			if err := s.mirror(r.Program); strings.Contains(r.Program, "/") && err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *stage) mirrorRule(r *ir.FSRule) error {
	if r.At.Root.Kind != ir.External {
		return s.mirror(r.At.Path)
	}
	target, bound := s.real.Path(r.At)
	if !bound {
		return nil
	}
	here, _ := s.here.Path(r.At)
	err := s.copyNode(target, here)
	if r.At.Root.Direct() {
		return err
	}
	return errors.Join(err, s.mirror(r.At.Root.Name))
}

// mirror gives a path of the workspace the kinds of its real nodes, as far as possible: its
// directories and symlinks, and a file or directory at the end.
func (s *stage) mirror(rel string) error {
	at := ""
	for rest := rel; rest != ""; {
		name, tail, _ := strings.Cut(rest, "/")
		at, rest = path.Join(at, name), tail
		from := path.Join(s.real.Workspace, at)
		info, err := os.Lstat(from)
		switch {
		case err != nil:
			return nil // nothing there, or nothing that can be seen
		case info.Mode()&fs.ModeSymlink != 0:
			return s.mirrorLink(from, at, rest)
		}
		if err := s.copyNode(from, path.Join(s.here.Workspace, at)); err != nil {
			return err
		}
	}
	return nil
}

// mirrorPath mirrors a path of the stage that lies in its workspace.
func (s *stage) mirrorPath(abs string) error {
	rel, ok := strings.CutPrefix(abs, s.here.Workspace+"/")
	if !ok {
		return nil
	}
	return s.mirror(rel)
}

// maxHops bounds how many symlinks are followed for one stage.
const maxHops = 400

func (s *stage) mirrorLink(from, at, rest string) error {
	if s.hops++; s.hops > maxHops {
		return nil
	}
	text, err := os.Readlink(from)
	if err != nil {
		return err
	}
	text = filepath.ToSlash(text)
	target := text
	if !path.IsAbs(target) {
		target = path.Join(path.Dir(from), target)
	}
	to := s.real.Locate(path.Clean(target))
	here, _ := s.here.Path(to)
	if to.Root.Kind == ir.Workspace && !path.IsAbs(text) {
		here = text
	}
	if err := os.Symlink(here, path.Join(s.here.Workspace, at)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if to.Root.Kind == ir.Workspace {
		return s.mirror(path.Join(to.Path, rest))
	}
	return nil
}

// copyNode makes a directory where there is one, and a file without its contents.
func (s *stage) copyNode(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		return os.MkdirAll(to, 0o755)
	}
	return s.file(to)
}

// text is the content of files of a stage: no program in any format.
const text = "accessc\n"

// file makes a file that is no program and that its owner may do everything with.
func (s *stage) file(at string) error {
	if err := os.MkdirAll(path.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, []byte(text), 0o755)
}

// path returns the path on the stage that an operand of a question names, and whether it lies
// there.
func (s *stage) path(operand string) (abs string, staged bool) {
	operand = filepath.ToSlash(operand)
	if _, abs, ok := resolve.Outside(operand, "", s.here); ok {
		return abs, true
	}
	if !path.IsAbs(operand) {
		if lexical, err := resolve.Lexical(operand); err == nil {
			return path.Join(s.here.Workspace, lexical), true
		}
		operand = path.Join(s.real.Workspace, operand)
	}
	at := s.real.Locate(path.Clean(operand))
	abs, _ = s.here.Path(at)
	return abs, at.Root.Kind != ir.System
}

// prepare makes the node that an operation needs at one of its paths, or removes it. Outside of
// the stage nothing is made.
func (s *stage) prepare(abs string, n need) error {
	step := resolve.Through(hostview.Now).Follow
	switch n {
	case either:
		return os.MkdirAll(path.Dir(abs), 0o755)
	case entry, noEntry:
		step = resolve.Through(hostview.Now).Name
	case file, none:
	}
	found, err := step(abs)
	if err != nil || !strings.HasPrefix(found.Abs, s.dir+"/") {
		return err
	}
	absent := n == none || n == noEntry
	switch {
	case absent && found.Kind != ir.Absent && path.Dir(found.Abs) != s.dir:
		return rmtree.Remove(found.Abs)
	case absent:
		return os.MkdirAll(path.Dir(found.Abs), 0o755)
	case found.Kind == ir.Absent:
		return s.file(found.Abs)
	default:
		return nil
	}
}
