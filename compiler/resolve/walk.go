package resolve

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
)

// ErrLoop is a symlink loop: more hops than Linux follows (path_resolution(7)).
var ErrLoop = errors.New("found a symlink loop")

const maxHops = 40

// FileSystem is the disk that paths are looked up on. Its paths are in the form of the system, and its errors those of
// package os.
type FileSystem interface {
	// Lstat returns the type of a name, as of lstat(2).
	Lstat(path string) (fs.FileMode, error)
	// Readlink returns the target of a symlink.
	Readlink(path string) (string, error)
	// Stat returns type and permissions of the file that a path leads to.
	Stat(path string) (fs.FileMode, error)
}

// Nowhere is a disk without files.
type Nowhere struct{}

// Lstat implements FileSystem.
func (Nowhere) Lstat(string) (fs.FileMode, error) { return 0, fs.ErrNotExist }

// Readlink implements FileSystem.
func (Nowhere) Readlink(string) (string, error) { return "", fs.ErrNotExist }

// Stat implements FileSystem.
func (Nowhere) Stat(string) (fs.FileMode, error) { return 0, fs.ErrNotExist }

// Disk looks up absolute paths and remembers the answers for as long as one compilation lasts.
// It is safe for concurrent use.
type Disk struct {
	host  FileSystem
	mu    sync.Mutex
	nodes map[string]node
	// tree, unless nil, replaces the disk below root, a path that ends in a slash.
	tree fs.ReadLinkFS
	root string
}

// Through returns a Disk of a host that has looked at nothing yet.
func Through(host FileSystem) *Disk { return &Disk{host: host, nodes: make(map[string]node)} }

// node is the result of lstat(2) and readlink(2) on a path.
type node struct {
	kind ir.NodeKind
	link string
	err  error
}

func (d *Disk) look(abs string) node {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.nodes[abs]
	if !ok {
		if name, below := strings.CutPrefix(abs, d.root); below && d.tree != nil {
			n = lstatIn(d.tree, name)
		} else {
			n = lstat(d.host, abs)
		}
		d.nodes[abs] = n
	}
	return n
}

// lstatIn looks in a tree that does not change.
func lstatIn(tree fs.ReadLinkFS, name string) node {
	info, err := tree.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return node{kind: ir.Absent}
	case err != nil:
		return node{err: err}
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := tree.ReadLink(name)
		return node{kind: ir.File, link: target, err: err}
	case info.IsDir():
		return node{kind: ir.Dir}
	default:
		return node{kind: ir.File}
	}
}

// lstat looks again when a link is no more by the time that it is read: another process
// may replace it at any moment.
func lstat(host FileSystem, abs string) node {
	const tries = 100
	var n node
	for range tries {
		if n = lstatOnce(host, filepath.FromSlash(abs)); !errors.Is(n.err, errReplaced) {
			break
		}
	}
	return n
}

var errReplaced = errors.New("it keeps being replaced")

func lstatOnce(host FileSystem, name string) node {
	mode, err := host.Lstat(name)
	switch {
	case oserr.Absent(err):
		return node{kind: ir.Absent}
	case err != nil:
		return node{err: err}
	case mode&fs.ModeSymlink != 0:
		target, err := host.Readlink(name)
		if oserr.NoLink(err) {
			err = errReplaced
		}
		return node{kind: ir.File, link: filepath.ToSlash(target), err: err}
	case mode&fs.ModeIrregular != 0:
		return junction(host, name)
	case mode.IsDir():
		return node{kind: ir.Dir}
	default:
		return node{kind: ir.File}
	}
}

// junction looks at a file of no common kind. On Windows os.Lstat reports a junction as such,
// which leads elsewhere as a symlink does; a volume that is mounted on a directory is one too
// and stays where it is.
func junction(host FileSystem, name string) node {
	target, err := host.Readlink(name)
	if target = filepath.ToSlash(target); err == nil && hasDrive(target) {
		return node{kind: ir.File, link: target}
	}
	if mode, err := host.Stat(name); err == nil && mode.IsDir() {
		return node{kind: ir.Dir}
	}
	return node{kind: ir.File}
}

// Pretend makes the disk answer as if a symlink stood at an absolute path, and
// directories on the way to it. Nothing is changed on the disk itself.
func (d *Disk) Pretend(abs, target string) {
	for dir, _ := cutLast(abs); d.look(dir).kind == ir.Absent; dir, _ = cutLast(dir) {
		d.set(dir, node{kind: ir.Dir})
	}
	d.set(abs, node{kind: ir.File, link: target})
}

func (d *Disk) set(abs string, n node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nodes[abs] = n
}

// Found is the result of resolving a path.
type Found struct {
	// Abs is the canonical absolute path, slash-separated.
	Abs string
	// Kind is the kind of node there, Absent if there is none.
	Kind ir.NodeKind
	// Dangling is true when a symlink on the way leads to something absent.
	Dangling bool
	// Links are the symlinks that the path leads over, by the canonical directories that
	// they are in.
	Links []string
}

// Follow resolves an absolute slash-separated path the way the kernel does when it
// opens it, the last component included.
func (d *Disk) Follow(abs string) (Found, error) {
	w := walker{disk: d, at: volume(abs), rest: split(abs)}
	for len(w.rest) > 0 {
		if err := w.step(); err != nil {
			return Found{}, err
		}
	}
	kind := w.kind
	switch {
	case w.at == volume(abs):
		kind = ir.Dir
	case w.at == "/proc" && runtime.GOOS == "linux":
		w.at = "/" + ir.LinuxProc // the list of processes is part of it
	}
	return Found{Abs: w.at, Kind: kind, Dangling: w.links != nil && kind == ir.Absent, Links: w.links}, nil
}

// Name resolves the directory part of an absolute path and keeps the last
// component as it is: the place that unlink(2), rename(2) and mkdir(2) act on.
func (d *Disk) Name(abs string) (Found, error) {
	dir, base := cutLast(abs)
	if base == "" {
		return d.Follow(abs)
	}
	parent, err := d.Follow(dir)
	if err != nil {
		return Found{}, err
	}
	at := strings.TrimSuffix(parent.Abs, "/") + "/" + base
	n := d.look(at)
	return Found{Abs: at, Kind: n.kind}, n.err
}

// walker is a path on its way: at is resolved, rest is not yet.
type walker struct {
	disk  *Disk
	at    string
	rest  []string
	kind  ir.NodeKind
	links []string
}

func (w *walker) step() error {
	name := w.rest[0]
	w.rest = w.rest[1:]
	switch name {
	case "", ".":
		return nil
	case "..":
		w.at, _ = cutLast(w.at)
		w.kind = ir.Dir
		return nil
	}
	next := strings.TrimSuffix(w.at, "/") + "/" + name
	if w.kind == ir.Absent {
		// There are no files below a path that does not exist.
		w.at = next
		return nil
	}
	if ownProcess(next) {
		w.at, w.kind = "/"+ir.LinuxProc, ir.Dir
		return nil
	}
	if at, kind, ok := ownLink(next); ok {
		w.at, w.kind = at, kind
		return nil
	}
	n := w.disk.look(next)
	switch {
	case n.err != nil:
		return fmt.Errorf("cannot look at %s: %w", next, oserr.Reason(n.err))
	case n.link != "":
		w.links = append(w.links, next)
		return w.follow(n.link)
	}
	w.at, w.kind = next, n.kind
	return nil
}

func (w *walker) follow(link string) error {
	if len(w.links) > maxHops {
		return ErrLoop
	}
	if v := volume(link); v != "" {
		w.at, w.kind = v, ir.Dir
	}
	w.rest = append(split(link), w.rest...)
	return nil
}

// ownProcess reports whether a path is the directory of /proc that every process has of
// its own. Its number, to which the kernel's link leads, is the number of the process that asks.
func ownProcess(abs string) bool {
	return runtime.GOOS == "linux" && (abs == "/"+ir.LinuxProc || abs == "/proc/thread-self")
}

// ownLink returns the place where a link of a process to its own files leads for the tool, which
// has other files than this process: a standard descriptor to the place that rules are about, a further descriptor to
// nothing, the program to itself, which Asker.Program replaces.
func ownLink(abs string) (at string, kind ir.NodeKind, ok bool) {
	below, own := strings.CutPrefix(abs, "/"+ir.LinuxProc+"/")
	number, fd := strings.CutPrefix(below, "fd/")
	switch {
	case !own || runtime.GOOS != "linux":
		return "", ir.Unknown, false
	case fd && len(number) == 1 && number[0] <= '2':
		return "/" + ir.LinuxStandard + "/" + number, ir.File, true
	case fd:
		return abs, ir.Absent, true
	default:
		return abs, ir.File, abs == ownProgram
	}
}

// ownProgram is the link of a process to its program.
const ownProgram = "/" + ir.LinuxProc + "/exe"

// volume returns the root that an absolute slash-separated path starts at: "/", or
// "C:/" on Windows; empty for a relative path.
func volume(p string) string {
	if strings.HasPrefix(p, "/") {
		return "/"
	}
	if hasDrive(p) && len(p) > 2 {
		return p[:2] + "/"
	}
	return ""
}

func split(p string) []string {
	return strings.Split(strings.TrimPrefix(p, volume(p)), "/")
}

// cutLast splits the last component off an absolute path.
func cutLast(p string) (dir, base string) {
	v := volume(p)
	rest := strings.TrimPrefix(p, v)
	i := strings.LastIndexByte(rest, '/')
	if i < 0 {
		return v, rest
	}
	return v + rest[:i], rest[i+1:]
}
