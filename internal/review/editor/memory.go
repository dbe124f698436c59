package editor

import (
	"bytes"
	"io"
	"io/fs"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
)

// memory is the disk as it was when it was first asked, for compilations while somebody types.
type memory struct {
	host  compiler.Host
	types map[string]answer[fs.FileMode]
	perms map[string]answer[fs.FileMode]
	links map[string]answer[string]
	reals map[string]answer[string]
	lists map[string]answer[[]fs.DirEntry]
	files map[string]answer[kept]
	trees map[string]answer[*tree]
}

type answer[T any] struct {
	is  T
	err error
}

func newMemory(host compiler.Host) *memory {
	return &memory{host: host, types: map[string]answer[fs.FileMode]{}, perms: map[string]answer[fs.FileMode]{},
		links: map[string]answer[string]{}, reals: map[string]answer[string]{},
		lists: map[string]answer[[]fs.DirEntry]{}, files: map[string]answer[kept]{}, trees: map[string]answer[*tree]{}}
}

// ask returns the answer that is remembered, or asks.
func ask[T any](in map[string]answer[T], name string, host func(string) (T, error)) (T, error) {
	a, known := in[name]
	if !known {
		a.is, a.err = host(name)
		in[name] = a
	}
	return a.is, a.err
}

// Lstat and the others implement compiler.Host.
func (m *memory) Lstat(path string) (fs.FileMode, error) { return ask(m.types, path, m.host.Lstat) }

func (m *memory) Stat(path string) (fs.FileMode, error) { return ask(m.perms, path, m.host.Stat) }

func (m *memory) Readlink(path string) (string, error) { return ask(m.links, path, m.host.Readlink) }

func (m *memory) EvalSymlinks(path string) (string, error) {
	return ask(m.reals, path, m.host.EvalSymlinks)
}

func (m *memory) ReadDir(path string) ([]fs.DirEntry, error) {
	return ask(m.lists, path, m.host.ReadDir)
}

func (m *memory) Open(path string) (fs.File, error) {
	k, err := ask(m.files, path, func(path string) (kept, error) { return keep(m.host.Open(path)) })
	if err != nil {
		return nil, err
	}
	return k.open(), nil
}

// Root returns a tree that stays open until the memory is forgotten.
func (m *memory) Root(dir string) (fs.ReadLinkFS, func(), error) {
	t, err := ask(m.trees, dir, func(dir string) (*tree, error) {
		disk, closed, err := m.host.Root(dir)
		if err != nil {
			return nil, err
		}
		return &tree{disk, closed, map[string]answer[fs.FileInfo]{}, map[string]answer[string]{},
			map[string]answer[[]fs.DirEntry]{}, map[string]answer[kept]{}}, nil
	})
	if err != nil {
		return nil, func() {}, err
	}
	return t, func() {}, nil
}

func (m *memory) Below(dir string) fs.ReadDirFS { return m.host.Below(dir) }

// forget closes what is open. The memory is of no use then.
func (m *memory) forget() {
	for _, t := range m.trees {
		if t.is != nil {
			t.is.closed()
		}
	}
}

// tree is what is remembered of a directory whose names lead nowhere else.
type tree struct {
	disk   fs.ReadLinkFS
	closed func()
	infos  map[string]answer[fs.FileInfo]
	links  map[string]answer[string]
	lists  map[string]answer[[]fs.DirEntry]
	files  map[string]answer[kept]
}

// Lstat and the others implement interfaces of package fs.
func (t *tree) Lstat(name string) (fs.FileInfo, error) { return ask(t.infos, name, t.disk.Lstat) }

func (t *tree) ReadLink(name string) (string, error) { return ask(t.links, name, t.disk.ReadLink) }

func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	return ask(t.lists, name, func(name string) ([]fs.DirEntry, error) { return fs.ReadDir(t.disk, name) })
}

func (t *tree) Open(name string) (fs.File, error) {
	k, err := ask(t.files, name, func(name string) (kept, error) { return keep(t.disk.Open(name)) })
	if err != nil {
		return nil, err
	}
	return k.open(), nil
}

// kept is a file that was read.
type kept struct {
	info fs.FileInfo
	data []byte
}

// keep reads a file as far as a layer is read, and one byte more, by which a reader sees that it is too large.
func keep(f fs.File, err error) (kept, error) {
	if err != nil {
		return kept{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return kept{info: info}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, source.MaxSize+1))
	return kept{info, data}, err
}

func (k kept) open() fs.File { return &opened{k.info, bytes.NewReader(k.data)} }

type opened struct {
	info fs.FileInfo
	*bytes.Reader
}

func (o *opened) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *opened) Close() error               { return nil }
