package revision

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Tree is a directory of a revision. Names are slash-separated and relative to it, as in
// package fs. Symlinks are not followed: Open fails for a symlink, and ReadLink returns its
// target. It is safe for concurrent use.
type Tree struct {
	// Commit is the id of the revision.
	Commit string

	objects *objects
	root    string
	// top is the root of the commit, at the prefix of which the directory is; nil for that root itself.
	top    *Tree
	prefix string

	mu   sync.Mutex
	dirs map[string][]entry
}

var (
	_ fs.ReadDirFS  = (*Tree)(nil)
	_ fs.ReadLinkFS = (*Tree)(nil)
)

// Open returns the directory that the repository was found for as it is in a revision,
// which may be written in all ways that git rev-parse understands. Close the tree when
// done.
func (r *Repository) Open(revision string) (*Tree, error) {
	git, err := r.program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	commit, err := r.commit(ctx, git, revision)
	if err != nil {
		return nil, err
	}
	store, err := r.ask(ctx, git, "rev-parse", "--git-path", "objects")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(store) {
		store = filepath.Join(r.root, store)
	}
	objects, err := openObjects(git, store, len(commit) > 40)
	if err != nil {
		return nil, err
	}
	t := &Tree{Commit: commit, objects: objects, dirs: map[string][]entry{}}
	if err := t.enter(commit, r); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// commit turns a name into the id of a commit.
func (r *Repository) commit(ctx context.Context, git, revision string) (string, error) {
	if strings.ContainsAny(revision, "\x00\n\r") {
		return "", ErrUnknown
	}
	id, err := r.ask(ctx, git, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	var status *exec.ExitError
	switch {
	case err == nil && isID(id):
		return id, nil
	case err == nil || errors.As(err, &status):
		if shallow, _ := r.ask(ctx, git, "rev-parse", "--is-shallow-repository"); shallow == "true" {
			return "", errors.New("git knows no such commit, and this clone is shallow: " +
				"run git fetch --unshallow, or check out with fetch-depth: 0")
		}
		return "", ErrUnknown
	default:
		return "", err
	}
}

func isID(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && (len(raw) == 20 || len(raw) == 32)
}

// enter finds the directory's own tree in the tree of a commit.
func (t *Tree) enter(commit string, r *Repository) error {
	data, err := t.objects.read(commit, "commit")
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	id, ok := strings.CutPrefix(line, "tree ")
	if !ok || !isID(id) {
		return fmt.Errorf("the commit %s names no tree", commit)
	}
	prefix, err := r.prefix()
	if err != nil {
		return err
	}
	t.root = id
	e, err := t.find(prefix)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (e.id == "" || !e.IsDir()):
		return errors.New("the workspace is not in that revision")
	case err != nil:
		return err
	}
	t.top, t.prefix = &Tree{Commit: t.Commit, objects: t.objects, root: id, dirs: t.dirs}, prefix
	t.root, t.dirs = e.id, map[string][]entry{}
	return nil
}

// Whole returns all files of the commit, and the path of the directory among them.
func (t *Tree) Whole() (fs.FS, string) { return t.top, t.prefix }

// Submodule returns the submodule that a name is or lies in. Its files are in no tree of the repository.
func (t *Tree) Submodule(name string) (string, bool) {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		e, err := t.find(at)
		if err != nil {
			return "", false
		}
		if e.IsDir() && e.id == "" {
			return at, true
		}
	}
	return "", false
}

// Sub returns a directory of the tree, which the other tree closes.
func (t *Tree) Sub(dir string) (*Tree, error) {
	e, err := t.at("sub", dir)
	if err == nil && (e.id == "" || !e.IsDir()) {
		err = &fs.PathError{Op: "sub", Path: dir, Err: errors.New("not a directory")}
	}
	if err != nil {
		return nil, err
	}
	return &Tree{
		Commit: t.Commit, objects: t.objects, root: e.id, top: t.top, prefix: path.Join(t.prefix, dir),
		dirs: map[string][]entry{},
	}, nil
}

// Close ends git and removes its temporary directory.
func (t *Tree) Close() { t.objects.close() }

// list reads a directory, once.
func (t *Tree) list(id string) ([]entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if entries, ok := t.dirs[id]; ok {
		return entries, nil
	}
	data, err := t.objects.read(id, "tree")
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(data, len(id)/2)
	if err != nil {
		return nil, fmt.Errorf("the tree %s: %w", id, err)
	}
	t.dirs[id] = entries
	return entries, nil
}

// parseTree reads a tree object: per entry the mode in octal digits, a space, the name, a
// NUL, the id in bytes. Names that no file can have are errors, and modes that git does not write.
// See decision D360.
func parseTree(data []byte, idSize int) ([]entry, error) {
	var out []entry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		if !ok || !spaced || len(rest) < idSize {
			return nil, errors.New("it is cut off")
		}
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return nil, fmt.Errorf("it holds the name %q, which no file can have", name)
		}
		e := entry{name: name, id: hex.EncodeToString(rest[:idSize])}
		switch mode {
		case "40000", "040000":
			e.mode = fs.ModeDir | 0o755
		case "160000": // a submodule, of which a checkout makes an empty directory
			e.mode, e.id = fs.ModeDir|0o755, ""
		case "120000":
			e.mode = fs.ModeSymlink | 0o777
		case "100755":
			e.mode = 0o755
		case "100644", "100664": // of old versions of git
			e.mode = 0o644
		default: // git goes by some of the bits
			return nil, fmt.Errorf("it holds the name %q with the mode %q, which git does not write", name, mode)
		}
		out = append(out, e)
		data = rest[idSize:]
	}
	slices.SortStableFunc(out, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(out); i++ {
		if out[i].name == out[i-1].name {
			return nil, fmt.Errorf("it holds the name %q twice", out[i].name)
		}
	}
	return out, nil
}

// find walks to a name. No component of it but the last may be a symlink.
func (t *Tree) find(name string) (entry, error) {
	at := entry{name: ".", id: t.root, mode: fs.ModeDir | 0o755}
	if name == "." {
		return at, nil
	}
	for _, part := range strings.Split(name, "/") {
		if !at.IsDir() || at.id == "" {
			return at, fs.ErrNotExist
		}
		entries, err := t.list(at.id)
		if err != nil {
			return at, err
		}
		i, found := slices.BinarySearchFunc(entries, part, func(e entry, n string) int {
			return strings.Compare(e.name, n)
		})
		if !found {
			return at, fs.ErrNotExist
		}
		at = entries[i]
	}
	return at, nil
}

func (t *Tree) at(op, name string) (entry, error) {
	if !fs.ValidPath(name) {
		return entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e, err := t.find(name)
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return e, err
}

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	e, err := t.at("open", name)
	switch {
	case err != nil:
		return nil, err
	case !e.mode.IsRegular():
		return &file{entry: e, Reader: bytes.NewReader(nil)}, nil
	}
	data, err := t.objects.read(e.id, "blob")
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	e.size = int64(len(data))
	return &file{entry: e, Reader: bytes.NewReader(data)}, nil
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.at("readdir", name)
	switch {
	case err != nil:
		return nil, err
	case !e.IsDir():
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	case e.id == "":
		return nil, nil
	}
	entries, err := t.list(e.id)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	var out []fs.DirEntry
	for _, e := range entries {
		out = append(out, e)
	}
	return out, nil
}

// Lstat implements fs.ReadLinkFS. The size of a file is known once it is open.
func (t *Tree) Lstat(name string) (fs.FileInfo, error) { return t.at("lstat", name) }

// ReadLink implements fs.ReadLinkFS.
func (t *Tree) ReadLink(name string) (string, error) {
	e, err := t.at("readlink", name)
	if err != nil {
		return "", err
	}
	fail := func(why string) error {
		return &fs.PathError{Op: "readlink", Path: name, Err: errors.New(why)}
	}
	if e.mode&fs.ModeSymlink == 0 {
		return "", fail("not a symlink")
	}
	data, err := t.objects.read(e.id, "blob")
	switch {
	case err != nil:
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	case len(data) == 0 || len(data) > maxLink || bytes.IndexByte(data, 0) >= 0:
		return "", fail("a symlink that no system can have")
	}
	return string(data), nil
}

// entry is a name of a tree. It is its own fs.FileInfo and fs.DirEntry.
type entry struct {
	name string
	// id is the identifier of the object; empty for a submodule, whose objects are elsewhere.
	id   string
	mode fs.FileMode
	size int64
}

// Name, Size, Mode, ModTime, IsDir, Sys, Type and Info implement fs.FileInfo and
// fs.DirEntry.
func (e entry) Name() string               { return path.Base(e.name) }
func (e entry) Size() int64                { return e.size }
func (e entry) Mode() fs.FileMode          { return e.mode }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) IsDir() bool                { return e.mode.IsDir() }
func (e entry) Sys() any                   { return nil }
func (e entry) Type() fs.FileMode          { return e.mode.Type() }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }

// file is an open entry.
type file struct {
	entry
	*bytes.Reader
}

// Size implements fs.FileInfo, where bytes.Reader has a method of that name, too.
func (f *file) Size() int64 { return f.entry.size }

// Stat and Close implement fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return f.entry, nil }
func (f *file) Close() error               { return nil }
