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
	"sync"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler/diag"
)

// Change is a difference between a build and a directory.
type Change struct {
	Path string
	// Old and New are the contents; nil where there is none.
	Old, New []byte
}

// maxOld bounds the files of an earlier build that are read back.
const maxOld = 256 << 20

// Diff compares a build with the content of dir, in path order, and writes nothing. A directory
// that does not exist is empty.
func Diff(req Request, dir string) ([]Change, diag.List, error) {
	at, err := openPlace(dir, req.Workspace, false)
	if err != nil {
		return nil, nil, err
	}
	defer at.close()
	var mu sync.Mutex
	var out []Change
	o := newOutput(at.root, func(path string, old, new []byte) error {
		mu.Lock()
		defer mu.Unlock()
		out = append(out, Change{path, old, new})
		return nil
	})
	x, findings, err := o.build(req)
	if x == nil || err != nil {
		return nil, findings, err
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out, findings, err
}

// output compares a build with a directory, file by file.
type output struct {
	root *os.Root // nil for a directory that does not exist
	// change is told of every file that differs. Several goroutines call it at a time.
	change func(path string, old, new []byte) error

	memory *memory
	mu     sync.Mutex
	made   map[string]bool // by path
	differ bool            // a file does
	// texts has the files of the build by path where they are certified, nil otherwise.
	texts map[string][]byte
}

func newOutput(root *os.Root, change func(path string, old, new []byte) error) *output {
	return &output{root: root, change: change, made: map[string]bool{}}
}

// build compiles a request and compares it with the directory, the manifest last.
func (o *output) build(req Request) (*Index, diag.List, error) {
	if req.Certify {
		o.texts = map[string][]byte{}
	}
	x, findings, err := Build(req, func(tool string, files map[string][]byte) error {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := o.file(tool+"/"+name, files[name]); err != nil {
				return err
			}
		}
		return nil
	})
	if x == nil || err != nil {
		return nil, findings, err
	}
	old, err := readManifest(o.root, x.partial)
	if err != nil {
		return nil, nil, err
	}
	if err := o.remove(x, old); err != nil {
		return nil, nil, err
	}
	manifest, err := x.complete(old)
	if err != nil {
		return nil, nil, err
	}
	if err := o.file(ManifestFile, manifest); err != nil {
		return nil, nil, err
	}
	certificate, err := o.certificate(req, manifest)
	if err != nil {
		return nil, nil, err
	}
	return x, nil, o.attestation(req, x.statement(manifest, certificate))
}

// file compares a file.
func (o *output) file(path string, data []byte) error {
	o.mu.Lock()
	if o.made[path] = true; o.texts != nil {
		o.texts[path] = data
	}
	o.mu.Unlock()
	old, err := readIn(o.root, path)
	if err != nil || old != nil && bytes.Equal(old, data) {
		return err
	}
	return o.put(path, old, data)
}

// put tells of a file that differs.
func (o *output) put(path string, old, data []byte) error {
	o.mu.Lock()
	o.differ = true
	o.mu.Unlock()
	return o.change(path, old, data)
}

// remove finds the files of an earlier build that this build does not make.
func (o *output) remove(x *Index, old *Manifest) error {
	owned := map[string]bool{}
	for _, p := range x.parts {
		owned[p.entry.Name] = true
	}
	for _, p := range slices.Sorted(maps.Keys(old.hashes())) {
		if o.made[p] || x.partial && !owned[path.Dir(p)] {
			continue
		}
		data, err := readIn(o.root, p)
		if err == nil && data != nil {
			err = o.put(p, data, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readManifest reads the manifest of an earlier build: whole where other tools are to keep their
// entries, otherwise the names of tools and artifacts, also from an older version, as which
// files a build wrote is said alike in all of them. A manifest that cannot be read is an error,
// since only it says which files may be replaced; so is a manifest of an older version where it
// is needed whole.
func readManifest(root *os.Root, whole bool) (*Manifest, error) {
	data, err := readIn(root, ManifestFile)
	if err != nil || data == nil {
		return &Manifest{}, err
	}
	err = checkManifest(data)
	switch {
	case whole && err == nil:
		var m *Manifest
		if m, err = ParseManifest(data); err == nil {
			return m, nil
		}
	case whole && errors.Is(err, backends.ErrOlder):
		return nil, fmt.Errorf("%s: %w, for all tools", ManifestFile, err)
	case err == nil || errors.Is(err, backends.ErrOlder):
		var m *Manifest
		if m, err = namesIn(data); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s: %w; move it away to build afresh", ManifestFile, err)
}

// namesIn reads the names of tools and artifacts, and the hashes of these, from a manifest of any version.
func namesIn(data []byte) (*Manifest, error) {
	var d struct {
		Tools []Entry `json:"tools"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", errManifest, err)
	}
	return &Manifest{Tools: d.Tools}, nil
}

// hashes are the hashes of the artifacts that a manifest names, by path. Names that are no single
// path component are none of ours.
func (m *Manifest) hashes() map[string]string {
	out := map[string]string{}
	for _, e := range m.Tools {
		for file, hash := range e.Artifacts {
			if singleName(e.Name) && singleName(file) {
				out[e.Name+"/"+file] = hash
			}
		}
	}
	return out
}

// singleName reports whether a name is a single component of a path.
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
