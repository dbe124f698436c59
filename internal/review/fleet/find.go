package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/text/oserr"
)

// found is a file of a manifest's name below a directory, or a directory that cannot be listed.
type found struct {
	root *os.Root
	name string // below root
	path string // as shown
	bad  error
}

// maxDepth bounds how many directories lie in each other below a directory that is searched. Each is reached from the
// top, as no symlink may lead elsewhere, so the work grows with the square of it.
const maxDepth = 200

// errDeep is the reason why a directory is not listed.
var errDeep = fmt.Errorf("more than %d directories in each other", maxDepth)

// find lists all files of a manifest's name below a directory, in the order of their paths. Symlinks are not
// followed; git's own directories have no files of a work tree.
func find(root *os.Root, shown string) []found {
	var out []found
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		f := found{root: root, name: name, path: path.Join(shown, name), bad: err}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it has gone meanwhile
		case err != nil:
			out = append(out, f)
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() && strings.Count(name, "/") >= maxDepth:
			f.bad = errDeep
			out = append(out, f)
			return fs.SkipDir
		case !d.IsDir() && d.Name() == build.ManifestFile:
			out = append(out, f)
		}
		return nil
	})
	return out
}

// maxManifest bounds the size of a manifest, in bytes.
const maxManifest = 64 << 20

var errKind = errors.New("not a regular file")

// read returns the bytes of a manifest, in a buffer for as long as that is not used again. A file that is not regular
// is not waited for.
func (f *found) read(buf *bytes.Buffer) ([]byte, error) {
	if info, err := f.root.Lstat(f.name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errKind
	}
	// Another kind of file may have taken its place: a FIFO is not waited for, a symlink stays below the root.
	file, err := f.root.OpenFile(f.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errKind
	} else if info.Size() > maxManifest {
		return nil, bounded.TooLarge(maxManifest)
	}
	buf.Reset()
	if _, err := buf.ReadFrom(io.LimitReader(file, maxManifest+1)); err != nil {
		return nil, err
	}
	if buf.Len() > maxManifest {
		return nil, bounded.TooLarge(maxManifest)
	}
	return buf.Bytes(), nil
}

// buffers are the buffers that manifests are read into; a large buffer is not kept.
var buffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

func giveBack(buf *bytes.Buffer) {
	if buf.Cap() <= 4<<20 {
		buffers.Put(buf)
	}
}

// unreadable is the result of a file that cannot be read.
func (f *found) unreadable(class build.Class, err error) *Manifest {
	return &Manifest{Path: f.path, Tools: []Tool{},
		Problems: []Problem{{Class: class, Detail: oserr.Reason(err).Error()}}}
}
