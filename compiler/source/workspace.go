package source

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// maxHops is the number of symlinks that Linux follows on one path (path_resolution(7)).
const maxHops = 40

const hintLeaves = "a file from elsewhere is named by --config, or extended by the user's own file"

var errLoop = errors.New("found a symlink loop")

// workspace reads files inside a workspace and refuses all others: every writer of the
// workspace chooses the files that a layer there names, and findings reach other readers.
type workspace struct {
	// root is canonical.
	root string
	// tree is read by names without symlinks. For the disk it is Host.Root, so that a symlink
	// that another process makes after the check does not lead out either.
	tree fs.ReadLinkFS
}

// onDisk is the workspace as it is on the disk. close frees it.
func onDisk(host Host, root string) (w workspace, closed func(), err error) {
	tree, closed, err := host.Root(filepath.FromSlash(root))
	if err != nil {
		return w, func() {}, err
	}
	return workspace{root, tree}, closed, nil
}

// holds returns the name of a path in the workspace.
func (w workspace) holds(abs string) (string, bool) {
	rel, err := filepath.Rel(filepath.FromSlash(w.root), abs)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// follow resolves every symlink of a path. The error is errLeaves, errLoop, or that of the
// tree; name is then the place of the error, and dangling is true if a symlink leads there.
func (w workspace) follow(abs string) (name string, dangling bool, err error) {
	name, ok := w.holds(abs)
	if !ok {
		return "", false, errLeaves
	}
	at, rest := ".", strings.Split(name, "/")
	written := len(rest) // how many of the last parts are the path's own
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		linked := len(rest) > written
		rest = rest[1:]
		written = min(written, len(rest))
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return at, linked, errLeaves
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := w.tree.Lstat(next)
		if err != nil {
			return next, linked, err
		}
		if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
			at = next
			continue
		}
		if hops++; hops > maxHops {
			return next, true, errLoop
		}
		target, err := w.link(next)
		if err != nil {
			return next, true, err
		}
		if target.absolute {
			at = "."
		}
		rest = append(target.parts, rest...)
	}
	return at, false, nil
}

type target struct {
	absolute bool
	parts    []string
}

// link reads a symlink. An absolute link may lead back into the workspace.
func (w workspace) link(name string) (target, error) {
	text, err := w.tree.ReadLink(name)
	if err != nil {
		return target{}, err
	}
	if !filepath.IsAbs(text) && !strings.HasPrefix(text, "/") {
		return target{false, strings.Split(filepath.ToSlash(text), "/")}, nil
	}
	rel, ok := w.holds(filepath.Clean(text))
	if !ok {
		return target{}, errLeaves
	}
	return target{true, strings.Split(rel, "/")}, nil
}

// open opens a regular file. The kind is checked before, since opening a device can have an
// effect, and once more by the reader.
func (w workspace) open(abs string) (fs.File, error) {
	name, _, err := w.follow(abs)
	if err != nil {
		return nil, err
	}
	info, err := w.tree.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, kindError{info.Mode()}
	}
	return w.tree.Open(name)
}

// kindError says that a layer is no regular file.
type kindError struct{ mode fs.FileMode }

// Error implements error.
func (e kindError) Error() string { return "found " + describe(e.mode) + ", expected a regular file" }
