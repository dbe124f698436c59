package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
)

// Bounds of a run over all layers. Real configurations are smaller by orders of magnitude. None is a time: a result is the
// same on every machine.
const (
	maxLayers   = 1000
	maxDepth    = 32       // files that extend each other in a chain
	maxText     = 64 << 20 // bytes of all layers
	maxNames    = 100_000  // names that are looked at for globs
	maxWork     = 1 << 32  // comparisons of bytes, at most, of patterns with names: seconds
	maxEntry    = 1 << 16  // bytes of an entry
	maxPatterns = 256      // that the braces of an entry stand for
)

// Preset begins the entries of extends that name no file but a preset, for the tools of the file.
// A file whose name begins so is written with "./" before it.
const Preset = "preset:"

// reads counts against the bounds.
type reads struct {
	layers, names, bytes, work int
}

// exceeded names the bound that is reached, empty if none is.
func (r *reads) exceeded() string {
	switch {
	case r.layers > maxLayers:
		return fmt.Sprintf("found more than %d files", maxLayers)
	case r.bytes > maxText:
		return fmt.Sprintf("found more than %d bytes in all layers", maxText)
	case r.names > maxNames:
		return fmt.Sprintf("the patterns lead to more than %d names", maxNames)
	case r.work > maxWork:
		return fmt.Sprintf("comparing names with the patterns takes more than %d steps", maxWork)
	default:
		return ""
	}
}

// tooMany counts a file that is about to be read, and reports a bound that is reached:
// once, since everything after it would say the same.
func (l *loader) tooMany(from ir.Pos) bool {
	l.reads.layers++
	why := l.reads.exceeded()
	if why == "" && len(l.stack) >= maxDepth {
		why = fmt.Sprintf("found a chain of more than %d files", maxDepth)
	}
	if why == "" {
		return false
	}
	if !slices.ContainsFunc(l.diags, func(d diag.Diagnostic) bool { return d.Code == diag.ExtendsTooMuch }) {
		d := diag.New(diag.ExtendsTooMuch, from, 1)
		d.Path, d.Label = "extends", why
		l.diags.Add(d)
	}
	return true
}

// expand returns the files that an entry of extends names, in name order. An
// entry without metacharacters names one file, which must exist.
func (l *loader) expand(kind ir.Layer, f *File, item *Value, at string) []string {
	report := func(code diag.Code, why string) []string {
		d := diag.New(code, item.At, item.Span)
		d.Path, d.Label = at, why
		if code == diag.LayerLeaves {
			d.Hint = hintLeaves
		}
		l.diags.Add(d)
		return nil
	}
	if len(item.Text) > maxEntry {
		return report(diag.ExtendsTooMuch, fmt.Sprintf("found an entry of more than %d bytes", maxEntry))
	}
	patterns, err := braces(filepath.ToSlash(item.Text))
	switch {
	case errors.Is(err, errBound):
		return report(diag.ExtendsTooMuch, fmt.Sprintf("found braces for more than %d patterns", maxPatterns))
	case err != nil:
		return report(diag.ExtendsNothing, err.Error())
	}
	var files []string
	for _, pattern := range patterns {
		found, err := l.match(kind, f, pattern)
		switch {
		case leads(err):
			return report(diag.LayerLeaves, errLeaves.Error())
		case errors.Is(err, errBound):
			return report(diag.ExtendsTooMuch, l.reads.exceeded())
		case err != nil:
			return report(diag.ExtendsNothing, oserr.Reason(err).Error())
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return report(diag.ExtendsNothing, "no file matches")
	}
	slices.Sort(files)
	return slices.Compact(files)
}

var (
	errBound   = errors.New("too much")
	errPattern = errors.New("found a pattern that is malformed")
	errParts   = errors.New("found a pattern of more than 62 parts")
)

// match returns the paths that a pattern without braces stands for. Errors of the walk are not
// hidden: a directory that cannot be read may contain a rule that takes something away.
func (l *loader) match(kind ir.Layer, f *File, pattern string) ([]string, error) {
	base := filepath.Dir(f.Path)
	if filepath.IsAbs(filepath.FromSlash(pattern)) {
		base = filepath.VolumeName(filepath.FromSlash(pattern)) + string(filepath.Separator)
		pattern = strings.TrimPrefix(filepath.ToSlash(pattern[len(filepath.VolumeName(pattern)):]), "/")
	}
	parts := strings.Split(pattern, "/")
	first := slices.IndexFunc(parts, func(p string) bool { return strings.ContainsAny(p, `*?[\`) })
	if first < 0 {
		first = len(parts)
	}
	base = filepath.Join(base, filepath.FromSlash(path.Join(parts[:first]...)))
	if _, ok := l.disk.holds(base); l.confined && !ok {
		return nil, errLeaves
	}
	if first == len(parts) {
		return []string{base}, nil
	}
	if l.confined {
		l.checkAlike(kind, base)
	}
	for _, p := range parts[first:] {
		if p == ".." || !doublestar.ValidatePattern(p) {
			return nil, errPattern
		}
	}
	if len(parts)-first > ir.MaxPatternParts {
		return nil, errParts
	}
	l.set.Listed = append(l.set.Listed, base)
	l.set.Patterns = append(l.set.Patterns, Pattern{base, parts[first:]})
	tree, at, err := l.directory(kind, base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, inSubmodule(tree, at)
	case err != nil:
		return nil, err
	}
	w := walk{tree: tree, reads: &l.reads, parts: parts[first:]}
	err = w.directory(at, "", w.closure([]int{0}))
	var out []string
	for _, name := range w.found {
		file := filepath.Join(base, filepath.FromSlash(name))
		if l.dangles(kind, file) {
			l.set.Dangling = append(l.set.Dangling, file)
			d := diag.New(diag.LayerDangles, ir.Pos{File: l.name(file)}, 0)
			d.Label = "nothing is where this symlink leads, so it is no layer"
			d.Hint = "remove it, or make the file"
			l.diags.Add(d)
			continue
		}
		out = append(out, file)
	}
	return out, err
}

// dangles reports whether a name that a pattern found is a symlink that leads to nothing. Such a name is none that
// anybody wrote down, and like the name of a file which is not there yet. A submodule, and a loop, is no nothing.
// See decision D358.
func (l *loader) dangles(kind ir.Layer, file string) bool {
	if _, edited := l.req.Edited[file]; edited {
		return false
	}
	if !l.confined {
		_, err := l.host.Stat(file)
		return oserr.Absent(err)
	}
	w := l.workspace(kind)
	at, dangling, err := w.follow(file)
	return dangling && oserr.Absent(err) && inSubmodule(w.tree, at) == nil
}

// directory returns where a directory is listed: in the workspace, or on the disk.
func (l *loader) directory(kind ir.Layer, base string) (tree fs.FS, at string, err error) {
	if l.confined {
		w := l.workspace(kind)
		at, _, err = w.follow(base)
		return w.tree, at, err
	}
	return l.host.Below(base), ".", nil
}

// Pattern is a pattern of extends in a directory.
type Pattern struct {
	Base  string   // absolute
	Parts []string // from the first part with a metacharacter on
}

// Inside returns the patterns of the files that a pattern may match in a directory at or below its base: what is left
// of it on the way there.
func (p Pattern) Inside(dir string) []string {
	rel, err := filepath.Rel(p.Base, dir)
	if err != nil || rel != "." && !filepath.IsLocal(rel) {
		return nil
	}
	w := walk{reads: &reads{}, parts: p.Parts}
	states := w.closure([]int{0})
	if rel != "." {
		for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
			states = w.step(name, states)
		}
	}
	var out []string
	for _, s := range states {
		if s < len(p.Parts) {
			out = append(out, strings.Join(p.Parts[s:], "/"))
		}
	}
	return out
}

// walk visits a directory once for all the ways in which a pattern may match: the states
// of a name are the parts of the pattern that may come next. It follows no symlink.
type walk struct {
	tree  fs.FS
	reads *reads
	parts []string
	found []string
}

// closure adds the states that "**" may be left out for.
func (w *walk) closure(states []int) []int {
	for i := 0; i < len(states); i++ {
		if s := states[i]; s < len(w.parts) && w.parts[s] == "**" {
			states = add(states, s+1)
		}
	}
	return states
}

func add(states []int, s int) []int {
	if slices.Contains(states, s) {
		return states
	}
	return append(states, s)
}

func (w *walk) directory(dir, name string, states []int) error {
	if err := inSubmodule(w.tree, dir); err != nil {
		return err
	}
	entries, err := fs.ReadDir(w.tree, dir)
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if w.reads.names++; w.reads.exceeded() != "" {
			return errBound
		}
		next := w.step(e.Name(), states)
		at := path.Join(name, e.Name())
		switch {
		case e.IsDir():
			if len(next) > 0 && !slices.Equal(next, []int{len(w.parts)}) {
				if err := w.directory(path.Join(dir, e.Name()), at, next); err != nil {
					return err
				}
			}
		case slices.Contains(next, len(w.parts)):
			w.found = append(w.found, at)
		}
	}
	return nil
}

// step returns the states after a name.
func (w *walk) step(name string, states []int) []int {
	var next []int
	for _, s := range states {
		switch {
		case s == len(w.parts):
		case w.parts[s] == "**":
			next = add(next, s)
		default:
			w.reads.work += len(w.parts[s]) * len(name) // the match returns to its last star for each byte of the name
			if doublestar.MatchUnvalidated(w.parts[s], name) {
				next = add(next, s+1)
			}
		}
	}
	return w.closure(next)
}

// braces writes a pattern out: "{a,b}" stands for both, also inside of each other.
func braces(pattern string) ([]string, error) {
	todo, out := []string{pattern}, []string(nil)
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open := strings.IndexByte(p, '{')
		if open < 0 {
			out = append(out, p)
		} else {
			shut, parts := group(p[open:])
			if shut < 0 {
				return nil, errPattern
			}
			for _, part := range parts {
				todo = append(todo, p[:open]+part+p[open+shut+1:])
			}
		}
		if len(todo)+len(out) > maxPatterns {
			return nil, errBound
		}
	}
	return out, nil
}

// group splits the alternatives of the brace that a text begins with. shut is the offset of the
// closing brace, negative if there is none.
func group(s string) (shut int, parts []string) {
	depth, from := 0, 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i, append(parts, s[from:i])
			}
		case ',':
			if depth == 1 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	return -1, nil
}
