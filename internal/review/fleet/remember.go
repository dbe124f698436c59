package fleet

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// Remember sets the file of the record, unless that lies in a directory that is searched: the files there are not the
// user's. It returns that directory.
// See decision D223.
func (req *Request) Remember() (shared string) {
	state, err := userdir.Root()
	if err != nil {
		return ""
	}
	var dirs []string
	for _, dir := range req.Dirs {
		if dir, err = filepath.Abs(dir); err != nil {
			return ""
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "" // the search says why
		}
		if lies(state, real) {
			return dir
		}
		dirs = append(dirs, real)
	}
	req.Record, err = userdir.Fleet(dirs)
	if err == nil {
		req.Program, err = build.Program()
	}
	if err != nil {
		req.Record = ""
	}
	return ""
}

// lies reports whether a place, or the nearest directory around it that exists, lies in a directory.
func lies(name, dir string) bool {
	for {
		real, err := filepath.EvalSymlinks(name)
		if err == nil {
			return ir.Within(filepath.ToSlash(real), filepath.ToSlash(dir))
		}
		if up := filepath.Dir(name); errors.Is(err, fs.ErrNotExist) && up != name {
			name = up
			continue
		}
		return true
	}
}

// FromHere names files from the current directory; one elsewhere is no place in a log.
func FromHere(name string) (string, bool) {
	if filepath.IsAbs(name) {
		here, err := filepath.Abs(".")
		if err == nil {
			name, err = filepath.Rel(here, name)
		}
		if err != nil {
			return "", false
		}
	}
	name = filepath.ToSlash(name)
	return name, name != ".." && !strings.HasPrefix(name, "../")
}
