package editor

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/review/checked"
)

// root is a workspace whose configuration is shown.
type root struct {
	flags config.Flags
	// dirs are the spellings of its directory, the canonical one first.
	dirs []string
	// memory answers compilations while somebody types.
	memory *memory
	// typed are the findings of the last of these, and slow the findings of the last check that they lack.
	typed, slow found
	// res is the last check, nil before the first; it is of the texts as they were at the number of the server's
	// change, and running is true while one is made.
	res     *hostfacts.Result
	at      int
	running bool
	// named are the tools of the last program.
	named []string
	// dirty is true where texts are newer than typed.
	dirty bool
	// err is why nothing can be compiled.
	err error
}

// found are findings by the path of their file, with the texts that they are about.
type found struct {
	list  map[string]diag.List
	texts map[string][]byte
}

// checkedRoot is the result of a check.
type checkedRoot struct {
	root  *root
	at    int
	res   *hostfacts.Result
	found found
	err   error
}

func newRoot(flags config.Flags, dir string) *root {
	r := &root{flags: flags.In(dir), dirs: []string{dir}, dirty: true}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		r.dirs = []string{real, dir}
	}
	return r
}

// edited are the open texts by the paths by which the compiler may ask for them.
func (r *root) edited(docs map[string]*doc) map[string][]byte {
	out := map[string][]byte{}
	for _, d := range docs {
		for _, p := range []string{d.path, d.canonical, d.real} {
			out[p] = d.text.data
			for _, dir := range r.dirs {
				if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
					out[filepath.Join(r.dirs[0], rel)] = d.text.data
				}
			}
		}
	}
	return out
}

// compile compiles what somebody types.
func (r *root) compile(docs map[string]*doc) {
	r.dirty = false
	opts, err := r.flags.Options(false)
	if err != nil {
		r.err = err
		return
	}
	if r.memory == nil {
		var disk *hostview.View
		r.memory = newMemory(disk)
	}
	opts.Layers.Edited, opts.Host = r.edited(docs), r.memory
	res, err := compiler.Compile(opts.Options)
	if r.err = err; err == nil {
		r.typed = r.sort(res.Findings, res.Files)
	}
}

// check begins to check everything, and passes the result on.
func (r *root) check(docs map[string]*doc, at int, done chan<- checkedRoot) {
	flags := r.flags
	flags.Tested = true
	opts, err := flags.Options(false)
	opts.Layers.Edited = r.edited(docs)
	go func() {
		c := checkedRoot{root: r, at: at, err: err}
		if err == nil {
			var findings diag.List
			if c.res, findings, c.err = checked.Compile(opts); c.err == nil {
				c.found = r.sort(findings, c.res.Files)
			}
		}
		done <- c
	}()
}

// take keeps the result of a check of the texts as they are.
func (r *root) take(c checkedRoot) {
	r.res, r.at, r.err = c.res, c.at, c.err
	if c.err != nil {
		return
	}
	if c.res.Program != nil {
		r.named = nil
		for _, t := range c.res.Program.Tools {
			r.named = append(r.named, t.Name)
		}
	}
	r.slow = found{map[string]diag.List{}, c.found.texts}
	for path, list := range c.found.list {
		for _, d := range list {
			if !r.typed.has(path, d) {
				r.slow.list[path] = append(r.slow.list[path], d)
			}
		}
	}
	for path, list := range r.typed.list {
		if slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return !c.found.has(path, d) }) {
			r.forget() // the disk is another than it was
			r.typed, r.slow = c.found, found{}
			return
		}
	}
}

// forget has the next compilation ask the disk again.
func (r *root) forget() {
	if r.memory != nil {
		r.memory.forget()
		r.memory = nil
	}
	r.dirty = true
}

func (f found) has(path string, d diag.Diagnostic) bool {
	return slices.ContainsFunc(f.list[path], func(o diag.Diagnostic) bool {
		return o.Code == d.Code && o.At == d.At && o.Path == d.Path && o.Label == d.Label
	})
}

// sort puts findings to their files.
func (r *root) sort(findings diag.List, files source.Files) found {
	out := found{map[string]diag.List{}, map[string][]byte{}}
	for _, f := range files {
		if f.Path != "" {
			out.texts[f.Path] = f.Data
		}
	}
	for _, d := range findings {
		path := r.path(d.At.File, files)
		out.list[path] = append(out.list[path], d)
	}
	return out
}

// path is the file of a name in findings: of a file that was read, or could not be read. Findings of flags are shown at
// the workspace's own file.
func (r *root) path(name string, files source.Files) string {
	if f := files[name]; f != nil && f.Path != "" {
		return f.Path
	}
	opts, err := r.flags.Options(false)
	rest, below := strings.CutPrefix(name, "~/")
	switch {
	case name == "" || strings.HasPrefix(name, "--"):
		return filepath.Join(r.dirs[0], "accessc.toml")
	case below && err == nil && opts.Layers.Home != "":
		return filepath.Join(opts.Layers.Home, filepath.FromSlash(rest))
	case filepath.IsAbs(filepath.FromSlash(name)):
		return filepath.FromSlash(name)
	}
	return filepath.Join(r.dirs[0], filepath.FromSlash(name))
}

// paths are the files that have findings, or are layers.
func (r *root) paths() []string {
	all := map[string]bool{}
	for _, f := range []found{r.typed, r.slow} {
		for p := range f.list {
			all[p] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// shown are the findings of a file: those of the text as it is, and those of the last check that are about bytes which
// are still there.
func (r *root) shown(path string, now []byte) diag.List {
	out := slices.Clone(r.typed.list[path])
	was := r.slow.texts[path]
	for _, d := range r.slow.list[path] {
		if moved, ok := move(d, was, now); ok && !r.typed.has(path, moved) {
			out.Add(moved)
		}
	}
	return out
}

// move moves a finding with the text around it: over what is alike at the beginning and at the end of two texts.
func move(d diag.Diagnostic, was, now []byte) (diag.Diagnostic, bool) {
	if bytes.Equal(was, now) || d.At.Line == 0 {
		return d, true
	}
	same := 0
	for same < len(was) && same < len(now) && was[same] == now[same] {
		same++
	}
	tail := 0
	for tail < len(was)-same && tail < len(now)-same && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	d.Related = nil // they may be about other places
	start := lineAt(was, d.At.Line)
	end := len(was)
	if n := bytes.IndexByte(was[start:], '\n'); n >= 0 {
		end = start + n
	}
	switch {
	case end < same:
		return d, true
	case start >= len(was)-tail && (start == 0 || start > len(was)-tail):
		d.At.Line += bytes.Count(now, []byte("\n")) - bytes.Count(was, []byte("\n"))
		return d, d.At.Line > 0
	}
	return d, false
}

// lineAt is where a line starts, counted from 1.
func lineAt(text []byte, line int) int {
	at := 0
	for range line - 1 {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n + 1
	}
	return at
}
