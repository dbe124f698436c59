package hostview

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/accessc/accessc/internal/files/shebang"
)

// MaxText is the longest text that is read, in bytes. Of a longer file only the size is known.
const MaxText = 16 << 20

// from is where the names of questions count from: the disk, or a directory that they do not
// leave.
type from struct {
	dir string // empty for the disk
	// root is nil for the disk, and for a directory whose entries may be used and not listed.
	root *os.Root
}

func (f from) path(name string) string {
	if f.dir == "" {
		return name
	}
	return filepath.Join(f.dir, filepath.FromSlash(name))
}

func (f from) lstat(name string) (fs.FileMode, error) {
	if f.root == nil {
		return lstatMode(f.path(name))
	}
	info, err := f.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}

func (f from) readlink(name string) (string, error) {
	if f.root == nil {
		return os.Readlink(f.path(name))
	}
	return f.root.Readlink(filepath.FromSlash(name))
}

func (f from) list(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	var err error
	if f.root == nil {
		all, err = os.ReadDir(f.path(name))
	} else {
		all, err = fs.ReadDir(f.root.FS(), name)
	}
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		all[i] = info{name: e.Name(), mode: e.Type()}
	}
	return all, nil
}

// open reads a file. Where there is no root, the opened file is compared with the path, so that a
// symlink that was made meanwhile leads nowhere; a directory that is exchanged and put back in
// between is not noticed, and leads such a process no further than it may go anyway.
func (f from) open(name string) (*file, error) {
	var opened *os.File
	var err error
	if f.root != nil {
		opened, err = f.root.OpenFile(filepath.FromSlash(name), openFlags, 0)
	} else {
		opened, err = os.OpenFile(f.path(name), openFlags, 0)
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	is, err := opened.Stat()
	if err == nil && f.dir != "" && f.root == nil {
		err = same(f.path(name), is)
	}
	if err != nil {
		return nil, err
	}
	out := &file{info: info{filepath.Base(name), is.Mode().Type(), is.Size()}}
	if !is.Mode().IsRegular() || is.Size() > MaxText {
		return out, nil
	}
	out.data, err = io.ReadAll(io.LimitReader(opened, MaxText+1))
	out.size = int64(len(out.data))
	out.text = *bytes.NewReader(out.data)
	return out, err
}

// errLeaves says that a path leads out of the directory that it counts from.
var errLeaves error = leaves{}

type leaves struct{}

// Error implements error.
func (leaves) Error() string { return "leads out of the workspace" }

// LeadsOut tells the error to package source, which knows this package as an interface.
func (leaves) LeadsOut() {}

func same(path string, is fs.FileInfo) error {
	there, err := os.Lstat(path)
	if err != nil {
		return err
	}
	real, _ := filepath.EvalSymlinks(path) // an empty path is another path
	if !os.SameFile(is, there) || real != path {
		return errLeaves
	}
	return nil
}

func lstatMode(path string) (fs.FileMode, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}

func statMode(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Mode() & (fs.ModeType | fs.ModePerm), nil
}

func readHead(path string) ([]byte, error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	data := make([]byte, shebang.Size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return data[:n], err
}

// Tree is a directory of the host as a file system.
type Tree struct {
	view *View
	from
}

// Root returns a directory whose names lead nowhere else, also by symlinks that are made
// meanwhile, until closed is called. One whose entries may be used and not listed is ByPath.
func (v *View) Root(dir string) (tree fs.ReadLinkFS, closed func(), err error) {
	f, err := rooted(dir)
	v.keep(opened, "", dir, func() string { return saidRoot(f, err) })
	if f.root == nil {
		return v.ByPath(dir), func() {}, err
	}
	return Tree{v, f}, func() { _ = f.root.Close() }, err
}

// ByPath returns a directory of which each path is compared with the opened file, for a process
// that may not list it, such as a process under a policy with exceptions.
func (v *View) ByPath(dir string) Tree { return Tree{v, from{dir: dir}} }

func rooted(dir string) (from, error) {
	r, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrPermission) {
		r, err = nil, nil
	}
	return from{dir, r}, err
}

func saidRoot(f from, err error) string {
	switch {
	case err != nil:
		return saidError(err)
	case f.root == nil:
		return "= by path"
	default:
		return "="
	}
}

// Below returns a directory whose names may lead anywhere.
func (v *View) Below(dir string) fs.ReadDirFS { return below{v, dir} }

// Open, Lstat, ReadLink and ReadDir implement interfaces of package fs. A file has no more
// properties than its type, and its size where it was opened.
func (t Tree) Open(name string) (fs.File, error)          { return t.view.open(t.from, name) }
func (t Tree) ReadLink(name string) (string, error)       { return t.view.readlink(t.from, name) }
func (t Tree) ReadDir(name string) ([]fs.DirEntry, error) { return t.view.list(t.from, name) }
func (t Tree) Lstat(name string) (fs.FileInfo, error) {
	mode, err := t.view.lstat(t.from, name)
	if err != nil {
		return nil, err
	}
	return info{name: filepath.Base(name), mode: mode}, nil
}

type below struct {
	view *View
	dir  string
}

func (b below) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b below) Open(name string) (fs.File, error)          { return b.view.Open(b.path(name)) }
func (b below) ReadDir(name string) ([]fs.DirEntry, error) { return b.view.ReadDir(b.path(name)) }

// info is all that is known of a file.
type info struct {
	name string
	mode fs.FileMode
	size int64
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) Mode() fs.FileMode          { return i.mode }
func (i info) Type() fs.FileMode          { return i.mode.Type() }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) IsDir() bool                { return i.mode.IsDir() }
func (i info) Sys() any                   { return nil }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

// file is a file that was read.
type file struct {
	info
	data []byte
	text bytes.Reader
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Read(p []byte) (int, error) { return f.text.Read(p) }
func (f *file) Close() error               { return nil }
