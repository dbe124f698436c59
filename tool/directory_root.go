package tool

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/accessc/accessc/ir"
)

// rootHolder uses os.Root, for systems without openat2(2). os.Root follows symlinks that stay
// inside of it, which may lead to a path that a rule denies; so each component is checked,
// opened by itself, and must be the very directory that was checked.
// See decision D86.
type rootHolder struct {
	bindings *ir.Bindings
	// bound are the directories of the roots as they were when the Context was loaded.
	bound map[ir.Root]fs.FileInfo
}

func newRootHolder(b *ir.Bindings) (holder, error) {
	h := &rootHolder{bindings: b, bound: map[ir.Root]fs.FileInfo{}}
	for _, r := range b.Roots() {
		abs, _ := b.Path(ir.Location{Root: r})
		info, err := os.Lstat(filepath.FromSlash(abs))
		switch {
		case err == nil:
			h.bound[r] = info
		case r.Kind == ir.Workspace:
			return nil, err
		}
	}
	return h, nil
}

func (h *rootHolder) directory(at ir.Location) (directory, error) {
	abs, ok := h.bindings.Path(ir.Location{Root: at.Root})
	want := h.bound[at.Root]
	if !ok || want == nil {
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(filepath.FromSlash(abs))
	if err != nil {
		return nil, err
	}
	if err := identical(root, want); err != nil || at.Path == "" {
		return opened(root, err)
	}
	for name := range strings.SplitSeq(at.Path, "/") {
		next, err := step(root, name)
		_ = root.Close()
		if err != nil {
			return nil, err
		}
		root = next
	}
	return rootDirectory{root}, nil
}

func opened(root *os.Root, err error) (directory, error) {
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return rootDirectory{root}, nil
}

// step opens a directory in root, and no symlink.
func step(root *os.Root, name string) (*os.Root, error) {
	want, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !want.IsDir() {
		return nil, &swappedError{syscall.ENOTDIR}
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, unless(root, name, want, err)
	}
	if err := identical(next, want); err != nil {
		_ = next.Close()
		return nil, err
	}
	return next, nil
}

// unless returns why a name could not be opened, unless it was replaced meanwhile.
func unless(root *os.Root, name string, want fs.FileInfo, err error) error {
	if now, gone := root.Lstat(name); gone != nil || !os.SameFile(now, want) {
		return &swappedError{ErrChanged}
	}
	return err
}

// identical refuses a directory that is not the directory that was looked at.
func identical(root *os.Root, want fs.FileInfo) error {
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(now, want) {
		err = &swappedError{ErrChanged}
	}
	return err
}

// rootDirectory is a directory as an os.Root.
type rootDirectory struct{ root *os.Root }

func (d rootDirectory) close() { _ = d.root.Close() }

// open makes a file only where nothing is, which follows nothing; another file must be the file that was looked at. A
// pipe that was put there meanwhile is not waited for.
func (d rootDirectory) open(name, _ string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&os.O_EXCL != 0 {
		return d.root.OpenFile(name, flag, perm)
	}
	want, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if want.Mode()&fs.ModeSymlink != 0 {
		return nil, &swappedError{syscall.ELOOP}
	}
	f, err := d.root.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unless(d.root, name, want, err)
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(now, want) {
		err = &swappedError{ErrChanged}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (d rootDirectory) mkdir(name string, perm fs.FileMode) error { return d.root.Mkdir(name, perm) }

// remove relies on os.Root.Remove, which removes a symlink itself.
func (d rootDirectory) remove(name string, dir bool) error {
	want, err := d.root.Lstat(name)
	if err == nil && want.IsDir() != dir {
		err = &swappedError{ErrChanged}
	}
	if err != nil {
		return err
	}
	return d.root.Remove(name)
}
