package mount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/text/oserr"
)

// guarded are the directories that nothing is mounted in: they contain configuration or a
// repository of their own, which a link would change.
var guarded = []string{".jp", ".accessc", ".git"}

// tree is the open workspace.
type tree struct {
	root *os.Root
	// abs is its canonical path, slash-separated.
	abs string
	// guarded are the guarded directories that are there, by whatever name a file system
	// finds them.
	guarded []fs.FileInfo
}

func openTree(abs string) (*tree, error) {
	root, err := os.OpenRoot(filepath.FromSlash(abs))
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, abs: abs}
	for _, name := range guarded {
		if info, err := root.Stat(name); err == nil {
			t.guarded = append(t.guarded, info)
		}
	}
	return t, nil
}

// place is the place of an existing or planned link.
type place struct {
	// name is the path of the link in the workspace, which is the path of the rule.
	name string
	// open are the directories on the way that are there, outermost first, and missing
	// the names of the directories that are not.
	open    []*os.Root
	missing []string
	base    string
	// info is nil if there is no such file, and link the target of a symlink as read from it.
	info fs.FileInfo
	link string
}

// parent is the innermost directory that is there.
func (p *place) parent() *os.Root { return p.open[len(p.open)-1] }

// close closes the directories of the place, except the workspace itself.
func (p *place) close() {
	for _, r := range p.open[1:] {
		r.Close()
	}
}

// ruleName turns a name, relative to a directory of the workspace, into the path of a
// rule. Nothing is looked up.
func ruleName(dir, name string) (string, error) {
	slash := filepath.ToSlash(name)
	if _, err := resolve.Lexical(slash); errors.Is(err, resolve.ErrAbsolute) || filepath.IsAbs(name) {
		return "", fmt.Errorf("%s: found an absolute path, expected a name relative to the current directory", name)
	}
	clean := path.Join(dir, slash)
	if err := resolve.CheckText(clean); err != nil {
		return "", fmt.Errorf("%q: %w", name, err)
	}
	switch {
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", fmt.Errorf("%s: leaves the workspace", name)
	case clean == "." || clean == "":
		return "", fmt.Errorf("%s: is the workspace itself", name)
	case clean[0] == '~' || clean[0] == '$':
		return "", fmt.Errorf("%s: no rule's path begins with %q", name, clean[:1])
	case !filepath.IsLocal(filepath.FromSlash(clean)):
		return "", fmt.Errorf("%s: is no name on this system", name)
	}
	for part := range strings.SplitSeq(clean, "/") {
		for _, g := range guarded {
			if strings.EqualFold(part, g) {
				return "", fmt.Errorf("%s: lies in %s, where nothing is mounted", name, part)
			}
		}
	}
	return clean, nil
}

// locate opens the directories that lead to a rule's path. None of them may be a symlink: it
// would lead new files to another place.
// See decision D26.
func (t *tree) locate(name string) (*place, error) {
	p := &place{name: name, open: []*os.Root{t.root}}
	dir, base := path.Split(name)
	p.base = base
	var parts []string
	if dir != "" {
		parts = strings.Split(strings.TrimSuffix(dir, "/"), "/")
	}
	for i, part := range parts {
		next, err := t.enter(p.parent(), part)
		if errors.Is(err, fs.ErrNotExist) {
			p.missing = parts[i:]
			return p, nil
		}
		if err != nil {
			p.close()
			return nil, fmt.Errorf("%s: %w", path.Join(parts[:i+1]...), err)
		}
		p.open = append(p.open, next)
	}
	if err := p.look(); err != nil {
		p.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// look reads the file at the place.
func (p *place) look() error {
	p.info, p.link = nil, ""
	info, err := p.parent().Lstat(p.base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return oserr.Reason(err)
	}
	p.info = info
	if isLink(info) {
		p.link, err = p.parent().Readlink(p.base)
		if err != nil && info.Mode()&fs.ModeSymlink != 0 {
			return oserr.Reason(err)
		}
	}
	return nil
}

// isLink reports whether a file may lead elsewhere. A junction has no mode of its own
// (os.Lstat of Go 1.23 and later).
func isLink(info fs.FileInfo) bool { return info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// ErrChanged says that the state that a plan was made for is gone. A new plan may succeed.
var ErrChanged = layerfile.ErrChanged

// errGuarded is the error of entering a guarded directory.
var errGuarded = errors.New("is a directory where nothing is mounted")

// enter opens a directory of a directory, without following a symlink.
func (t *tree) enter(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case isLink(info):
		return nil, errors.New("is a symlink; name the directory that it leads to")
	case !info.IsDir():
		return nil, errors.New("is not a directory")
	}
	for _, g := range t.guarded {
		if os.SameFile(g, info) {
			return nil, errGuarded
		}
	}
	return layerfile.OpenSame(dir, name, info)
}
