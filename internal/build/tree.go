package build

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
)

// Tree is the files of a build, by slash-separated path below the output directory,
// and the manifest that describes them.
type Tree struct {
	Files    map[string][]byte
	Manifest *Manifest
	// partial is true for a build of some tools, which leaves the others alone.
	partial bool
}

// Change is one difference between a tree and a directory.
type Change struct {
	Path string
	// Old and New are the contents; nil where there is none.
	Old, New []byte
}

// maxOld bounds the files of an earlier build that are read back.
const maxOld = 256 << 20

// Diff compares the tree with the content of dir, in path order. A directory that does not
// exist is empty.
func (t *Tree) Diff(dir string) ([]Change, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return t.diff(nil)
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return t.diff(root)
}

// diff completes the manifest with the entries that a partial build leaves alone, and lists the
// necessary changes. A nil root is an empty directory.
func (t *Tree) diff(root *os.Root) ([]Change, error) {
	old, oldData, err := readManifest(root, t.partial)
	if err != nil {
		return nil, err
	}
	want := maps.Clone(t.Files)
	manifest, err := t.complete(old)
	if err != nil {
		return nil, err
	}
	want[ManifestFile] = manifest
	have := map[string][]byte{ManifestFile: oldData}
	for _, p := range slices.Concat(old.paths(), slices.Collect(maps.Keys(want))) {
		if have[p] == nil {
			if have[p], err = readIn(root, p); err != nil {
				return nil, err
			}
		}
	}
	var out []Change
	for p, data := range have {
		next, keep := want[p]
		if !keep && t.partial && !t.owns(p) {
			continue
		}
		if (data != nil || keep) && (!keep || data == nil || !bytes.Equal(data, next)) {
			out = append(out, Change{p, data, next})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// owns reports whether a path belongs to one of the tools that were built.
func (t *Tree) owns(p string) bool {
	return slices.ContainsFunc(t.Manifest.Tools, func(e Entry) bool { return e.Name == path.Dir(p) })
}

// complete returns the manifest's text. After a partial build the other tools and the rulesets
// keep the entries that they had.
func (t *Tree) complete(old *Manifest) ([]byte, error) {
	m := *t.Manifest
	if t.partial {
		m.Tools, m.Rulesets = slices.Clone(m.Tools), old.Rulesets
		for _, e := range old.Tools {
			if !slices.ContainsFunc(m.Tools, func(n Entry) bool { return n.Name == e.Name }) {
				m.Tools = append(m.Tools, e)
			}
		}
		slices.SortFunc(m.Tools, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
		m.seal()
	}
	return m.marshal()
}

// readManifest reads the manifest of an earlier build, whole also from an older version: which
// files a build wrote is said alike in all of them. A manifest that cannot be read is an error,
// since it alone says which files may be replaced; so is one of an older version where other
// tools are to keep their entries.
func readManifest(root *os.Root, keep bool) (*Manifest, []byte, error) {
	data, err := readIn(root, ManifestFile)
	if err != nil || data == nil {
		return &Manifest{}, nil, err
	}
	m, err := ParseManifest(data)
	switch {
	case err == nil:
		return m, data, nil
	case errors.Is(err, backends.ErrOlder) && keep:
		return nil, nil, fmt.Errorf("%s: %w, for all tools", ManifestFile, err)
	case errors.Is(err, backends.ErrOlder):
		var d Document
		if json.Unmarshal(data, &d) == nil {
			return d.manifest(), data, nil
		}
	}
	return nil, nil, fmt.Errorf("%s: %w; move it away to build afresh", ManifestFile, err)
}

// paths lists the artifacts that a manifest names. Names that are no single path
// component are none of ours.
func (m *Manifest) paths() []string {
	var out []string
	for _, e := range m.Tools {
		for file := range e.Artifacts {
			if singleName(e.Name) && singleName(file) {
				out = append(out, e.Name+"/"+file)
			}
		}
	}
	return out
}

// singleName reports whether a name is one component of a path.
func singleName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

func readIn(root *os.Root, p string) ([]byte, error) {
	if root == nil {
		return nil, nil
	}
	info, err := root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is in the way: not a regular file", p)
	case info.Size() > maxOld:
		return nil, fmt.Errorf("%s is in the way: larger than any artifact", p)
	}
	data, err := root.ReadFile(p)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}
